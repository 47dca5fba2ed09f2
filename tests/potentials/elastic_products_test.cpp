#include "potentials/parameter_checks.hpp"
#include "recoil/fem/reference/quadrature.hpp"
#include "recoil/potentials/damping.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/laws/all.hpp"
#include "recoil/potentials/mean_dilatation.hpp"

namespace recoil::potentials {
namespace {

template <int dim, class Law>
std::unique_ptr<ElasticPotential<dim>> make(const Body<dim>& body, int order, double h = 0,
                                            int points_per_cell = 1, bool mean_dilatation = false) {
  return (mean_dilatation
              ? make_mean_dilatation<dim>
              : make_elastic<dim>)(*find_law(Law::name), body.space, body.geometry, order,
                                   body.space.cells_of_order(order),
                                   rough_constants<num_parameters<Law>>(body, order, h, points_per_cell));
}

template <int dim>
std::unique_ptr<Potential<dim>> make_viscous(const Body<dim>& body, int order, DampingRate rate,
                                             double h = 0) {
  return make_damping<dim>(body.space, body.geometry, order, body.space.cells_of_order(order),
                           rough_constants<2>(body, order, h), rate);
}

class ElasticProducts : public ParameterProducts {
protected:
  template <int dim, class Law>
  void check_law(int order, int points_per_cell = 1, bool mean_dilatation = false) {
    check_constants<dim>(
        order,
        [&](const Body<dim>& body, double h) {
          return make<dim, Law>(body, order, h, points_per_cell, mean_dilatation);
        },
        [](const Body<dim>& body, const auto& g) { return constants_change<Law>(body, g); }, "constants");
    check_shape<dim>(order, [&](const Body<dim>& body) {
      return make<dim, Law>(body, order, 0, points_per_cell, mean_dilatation);
    });
  }

  template <int dim>
  void check_laws() {
    for (int order = 1; order <= 3; ++order)
      for_each_law<dim>([&]<class Law>() { check_law<dim, Law>(order); });
  }
};

TEST_F(ElasticProducts, EveryLaw2D) {
  check_laws<2>();
  check_law<2, NeoHookean<2>>(4);
}

TEST_F(ElasticProducts, EveryLaw3D) { check_laws<3>(); }

TEST_F(ElasticProducts, MeanDilatation) {
  for_each_law<2>([&]<class Law>() { check_law<2, Law>(2, 1, true); });
  for_each_law<3>([&]<class Law>() { check_law<3, Law>(2, 1, true); });
  check_law<2, NeoHookean<2>>(2, fem::simplex_quadrature<2>(fem::stiffness_degree(2)).size(), true);
}

TEST_F(ElasticProducts, ConstantsThatVaryInACell) {
  check_law<2, NeoHookean<2>>(2, fem::simplex_quadrature<2>(fem::stiffness_degree(2)).size());
  check_law<3, MooneyRivlin<3>>(2, fem::simplex_quadrature<3>(fem::stiffness_degree(2)).size());
}

TEST_F(ElasticProducts, QuadratureOfAnotherDegree) {
  stiffness_degree = 5;
  check_law<2, NeoHookean<2>>(2);
  check_law<3, NeoHookean<3>>(2);
  check_law<2, NeoHookean<2>>(1, fem::simplex_quadrature<2>(5).size());
  check_law<3, MooneyRivlin<3>>(2, fem::simplex_quadrature<3>(5).size());
}

TEST_F(ElasticProducts, WrongDerivativesAreSeen) {
  const Body<2> body = distorted_body<2>(2);
  const auto potential = make<2, NeoHookean<2>>(body, 2);
  auto g = products<2>(body, *potential);
  const StepFields<2> fields(body);
  std::swap(g.numbers("lambda"), g.numbers("mu"));
  EXPECT_GT(relative_error(
                constants_change<NeoHookean<2>>(body, g),
                [&](double h) { return virtual_work<2>(body, *make<2, NeoHookean<2>>(body, 2, h), fields); }),
            1e-3)
      << "lambda and mu exchanged";
  // One vertex off by a ten thousandth of the largest entry.
  double largest = 0;
  auto& by_vertex = *g.rest_positions();
  for (const auto& entry : by_vertex) largest = std::max(largest, entry.cwiseAbs().maxCoeff());
  if (!by_vertex.empty()) by_vertex.front()[0] += 1e-4 * largest;
  EXPECT_GT(relative_error(vertex_change(body, g),
                           [&](double h) {
                             const Body<2> moved = distorted_body<2>(2, h);
                             const StepFields<2> moved_fields(moved);
                             return virtual_work<2>(moved, *make<2, NeoHookean<2>>(moved, 2), moved_fields);
                           }),
            1e-6);
}

class DampingProducts : public ParameterProducts {
protected:
  template <int dim>
  void check(DampingRate rate) {
    for (int order = 1; order <= 3; ++order) {
      check_constants<dim>(
          order, [&](const Body<dim>& body, double h) { return make_viscous<dim>(body, order, rate, h); },
          [](const Body<dim>& body, const auto& g) { return viscosities_change(body, g); }, "viscosities");
      const auto make = [&](const Body<dim>& body) { return make_viscous<dim>(body, order, rate); };
      check_shape<dim>(order, make);
      check_previous<dim>(order, make);
    }
  }
};

TEST_F(DampingProducts, ViscositiesVerticesAndPreviousDisplacement2D) {
  check<2>(DampingRate::green_difference);
}
TEST_F(DampingProducts, ViscositiesVerticesAndPreviousDisplacement3D) {
  check<3>(DampingRate::green_difference);
}

TEST_F(DampingProducts, OfTheRateAtTheEnd2D) { check<2>(DampingRate::endpoint); }
TEST_F(DampingProducts, OfTheRateAtTheEnd3D) { check<3>(DampingRate::endpoint); }

TEST_F(DampingProducts, OfTheRateAtTheEndByAnotherQuadrature) {
  stiffness_degree = 5;
  check<2>(DampingRate::endpoint);
}

} // namespace
} // namespace recoil::potentials
