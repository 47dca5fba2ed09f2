#include "potentials/parameter_checks.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/laws/all.hpp"
#include "recoil/potentials/mean_dilatation.hpp"

namespace recoil::potentials {
namespace {

template <int dim>
using Derivatives = typename PointFunction<dim>::Derivatives;

/// |P|^4.
template <int dim>
struct FourthPower final : PointFunction<dim> {
  double value(const PointState<dim>& s) const override { return s.P.squaredNorm() * s.P.squaredNorm(); }
  Derivatives<dim> derivatives(const PointState<dim>& s) const override {
    Derivatives<dim> d;
    d.by_P = 4 * s.P.squaredNorm() * s.P;
    return d;
  }
};

/// |sigma|^2 of the Cauchy stress.
template <int dim>
struct CauchySquare final : PointFunction<dim> {
  static SquareMatrix<dim> cauchy(const PointState<dim>& s) {
    if (s.small_strain) return s.P;
    return s.P * s.F.transpose() / s.F.determinant();
  }
  double value(const PointState<dim>& s) const override { return cauchy(s).squaredNorm(); }
  Derivatives<dim> derivatives(const PointState<dim>& s) const override {
    const SquareMatrix<dim> sigma = cauchy(s);
    Derivatives<dim> d;
    if (s.small_strain) {
      d.by_P = 2 * sigma;
    } else {
      const double J = s.F.determinant();
      d.by_P = 2 / J * sigma * s.F;
      d.by_F = 2 / J * sigma.transpose() * s.P -
               2 * sigma.squaredNorm() * SquareMatrix<dim>(s.F.inverse()).transpose();
    }
    return d;
  }
};

/// The energy density.
template <int dim>
struct Energy final : PointFunction<dim> {
  double value(const PointState<dim>& s) const override { return s.energy_density; }
  Derivatives<dim> derivatives(const PointState<dim>&) const override {
    Derivatives<dim> d;
    d.by_W = 1;
    return d;
  }
};

/// Two thirds of the cells.
template <int dim>
std::vector<char> selection(const Body<dim>& body) {
  std::vector<char> selected;
  for (const GlobalIndex id : body.mesh.cell_ids) selected.push_back(id % 3 != 0);
  return selected;
}

template <int dim, class Law>
std::unique_ptr<ElasticPotential<dim>> make_law(const Body<dim>& body, double h = 0,
                                                bool mean_dilatation = false) {
  const int order = body.space.max_order();
  return (mean_dilatation ? make_mean_dilatation<dim>
                          : make_elastic<dim>)(*find_law(Law::name), body.space, body.geometry, order,
                                               body.space.cells_of_order(order),
                                               rough_constants<num_parameters<Law>>(body, order, h));
}

class PointFunctions : public ParameterProducts {
protected:
  template <int dim, class Law>
  void check(const PointFunction<dim>& j, int order, bool all, bool mean_dilatation = false) {
    const std::string what = std::string(Law::name) + ", order " + std::to_string(order);
    const Body<dim> body = distorted_body<dim>(order);
    const auto flags = [&](const Body<dim>& on) { return all ? std::vector<char>() : selection(on); };
    const auto integral = [&](const Body<dim>& on, const linalg::Vector& u, double h) {
      return on.comm.sum(make_law<dim, Law>(on, h, mean_dilatation)->integrate(u.local(), j, flags(on)));
    };
    const linalg::Vector u = StepFields<dim>(body).u, d = body.field(StepFields<dim>::amplitude(body), 31);
    const auto potential = make_law<dim, Law>(body, 0, mean_dilatation);
    linalg::Vector by_u(body.space.layout());
    potential->add_integral_gradient(u.local(), j, flags(body), 1.5, by_u.write_owned());
    potential->add_integral_gradient(u.local(), j, flags(body), -0.5, by_u.write_owned());
    expect_small(relative_error(by_u.dot(d),
                                [&](double h) {
                                  linalg::Vector moved = u;
                                  moved.add(h, d);
                                  return integral(body, moved, 0);
                                }),
                 what + " by displacement");
    parameters::PhysicalGradient<dim> g(body.space, potential->quantities());
    potential->add_integral_parameter_products(u.local(), j, flags(body), 1.5, g);
    potential->add_integral_parameter_products(u.local(), j, flags(body), -0.5, g);
    expect_small(
        relative_error(constants_change<Law>(body, g), [&](double h) { return integral(body, u, h); }),
        what + " by constants");
    expect_small(relative_error(vertex_change(body, g),
                                [&](double h) {
                                  const Body<dim> moved = distorted_body<dim>(order, h);
                                  return integral(moved, StepFields<dim>(moved).u, 0);
                                }),
                 what + " by vertices");
  }

  template <int dim>
  void check_laws(const PointFunction<dim>& j) {
    for (int order = 1; order <= 2; ++order) {
      bool all = true;
      for_each_law<dim>([&]<class Law>() { check<dim, Law>(j, order, all = !all); });
    }
  }
};

TEST_F(PointFunctions, FourthPowerOfStress) {
  check_laws<2>(FourthPower<2>());
  check_laws<3>(FourthPower<3>());
}

TEST_F(PointFunctions, CauchyStress) {
  check_laws<2>(CauchySquare<2>());
  check_laws<3>(CauchySquare<3>());
}

TEST_F(PointFunctions, EnergyDensity) {
  check_laws<2>(Energy<2>());
  check_laws<3>(Energy<3>());
}

TEST_F(PointFunctions, OfMeanDilatation) {
  check<2, NeoHookean<2>>(CauchySquare<2>(), 2, true, true);
  check<3, NeoHookean<3>>(CauchySquare<3>(), 2, false, true);
  check<2, LinearElasticity<2>>(FourthPower<2>(), 2, false, true);
  check<3, MooneyRivlin<3>>(Energy<3>(), 2, true, true);
}

TEST_F(PointFunctions, TheIntegralOfTheEnergyDensityIsTheEnergy) {
  const Body<3> body = distorted_body<3>(2);
  const StepFields<3> fields(body);
  const auto potential = make_law<3, NeoHookean<3>>(body);
  const double energy = total_value<3>(body, *potential, fields.u);
  EXPECT_NEAR(body.comm.sum(potential->integrate(fields.u.local(), Energy<3>(), {})), energy, 1e-13 * energy);
  linalg::Vector difference(body.space.layout());
  potential->add_integral_gradient(fields.u.local(), Energy<3>(), {}, 1, difference.write_owned());
  const linalg::Vector force = total_gradient<3>(body, *potential, fields.u);
  difference.add(-1, force);
  EXPECT_LT(difference.norm(), 1e-13 * force.norm());
}

} // namespace
} // namespace recoil::potentials
