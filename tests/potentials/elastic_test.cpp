#include "recoil/potentials/elastic.hpp"

#include "potentials/potential_checks.hpp"
#include "recoil/potentials/damping.hpp"
#include "recoil/potentials/laws/all.hpp"
#include "recoil/potentials/mean_dilatation.hpp"

namespace recoil::potentials {
namespace {

template <int dim, class Law>
std::unique_ptr<ElasticPotential<dim>> make(const Body<dim>& body, int order, bool mean_dilatation = false) {
  const auto& cells = body.space.cells_of_order(order);
  parameters::CellField field;
  // Another value in every cell.
  for (const LocalIndex cell : cells) {
    typename Law::Parameters values;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 1 + 0.3 * std::sin(static_cast<double>(body.mesh.cell_ids[static_cast<std::size_t>(cell)] +
                                                         5 * static_cast<GlobalIndex>(i)));
    field.add(values);
  }
  return (mean_dilatation ? make_mean_dilatation<dim> : make_elastic<dim>)(*find_law(Law::name), body.space,
                                                                           body.geometry, order, cells,
                                                                           field);
}

template <int dim, class Law>
void check_law() {
  for (const auto& [order, mean_dilatation] : {std::pair{1, false}, {2, false}, {2, true}, {3, false}}) {
    const Body<dim> body(2, order);
    const auto potential = make<dim, Law>(body, order, mean_dilatation);
    const double size = 0.02 / (order * order);
    const linalg::Vector u = body.field(size, 1);
    check_derivatives<dim>(body, *potential, u, size);
    EXPECT_NEAR(total_value(body, *potential, linalg::Vector(body.space.layout())), 0, 1e-15);
    if (!Law::small_strain) {
      const double value = total_value(body, *potential, u);
      EXPECT_NEAR(total_value(body, *potential, rigidly_moved(body, u)), value, 1e-11 * value);
    }
  }
}

TEST(Elastic, Derivatives2D) {
  for_each_law<2>([]<class Law>() { check_law<2, Law>(); });
}

TEST(Elastic, Derivatives3D) {
  for_each_law<3>([]<class Law>() { check_law<3, Law>(); });
}

/// Where J is the same in a whole cell, its mean changes nothing.
template <int dim, class Law>
void check_affine_field() {
  const Body<dim> body(2, 2);
  linalg::Vector u(body.space.layout());
  auto values = u.write_local();
  for (LocalIndex node = 0; node < body.space.num_nodes(); ++node) {
    const auto& X = body.space.node_positions()[static_cast<std::size_t>(node)];
    for (int i = 0; i < dim; ++i)
      values[static_cast<std::size_t>(dim * node + i)] = 0.03 * (i + 1) * X[(i + 1) % dim] - 0.05 * X[i];
  }
  const auto plain = make<dim, Law>(body, 2), mean = make<dim, Law>(body, 2, true);
  const double value = total_value(body, *plain, u);
  EXPECT_NEAR(total_value(body, *mean, u), value, 1e-13 * value) << Law::name;
  linalg::Vector difference = total_gradient(body, *mean, u);
  const linalg::Vector g = total_gradient(body, *plain, u);
  difference.add(-1, g);
  EXPECT_LT(difference.norm(), 1e-12 * g.norm()) << Law::name;
}

TEST(MeanDilatation, AffineFieldsAreThoseOfTheLaw) {
  for_each_law<2>([]<class Law>() { check_affine_field<2, Law>(); });
  for_each_law<3>([]<class Law>() { check_affine_field<3, Law>(); });
}

/// A twentieth of the differences of pressure in a cell is left.
TEST(MeanDilatation, PressuresOfACellAreNearlyOne) {
  const Body<2> body(2, 2);
  const auto& cells = body.space.cells_of_order(2);
  parameters::CellField field;
  for (std::size_t k = 0; k < cells.size(); ++k) field.add(std::array{1e6, 1.0});
  const linalg::Vector u = body.field(0.002, 1);
  const auto spread = [&](const auto& make_potential) {
    const auto potential =
        make_potential(*find_law("NeoHookean"), body.space, body.geometry, 2, cells, field);
    double largest = 0;
    for (std::size_t k = 0; k < cells.size(); ++k)
      for (const auto& at : potential->stress(u.local(), k))
        largest = std::max(
            largest, std::abs(at.cauchy.trace() - potential->stress(u.local(), k).front().cauchy.trace()));
    return body.comm.max(largest);
  };
  const double plain = spread(make_elastic<2>), mean = spread(make_mean_dilatation<2>);
  EXPECT_GT(plain, 1e3);
  EXPECT_NEAR(mean / plain, 0.05, 0.005);
}

TEST(Elastic, EveryLawIsFoundByItsNames) {
  ASSERT_EQ(laws().size(), num_laws);
  for (const LawInfo& law : laws()) {
    EXPECT_EQ(find_law(law.name), &law);
    EXPECT_EQ(law.parameters.size(), static_cast<std::size_t>(count_parameters(law.constants)));
    EXPECT_EQ(law.lame, law.parameters[0].name == "lambda") << law.name;
    for (const LawParameter& parameter : law.parameters) {
      EXPECT_EQ(parameter.quantity.empty(), law.lame) << law.name << " " << parameter.name;
    }
  }
  EXPECT_EQ(find_law("HookeLinearElasticity"), find_law("LinearElasticity"));
  EXPECT_EQ(find_law("HookeLinear"), nullptr);
  EXPECT_EQ(find_law(""), nullptr);
}

TEST(Elastic, InvertedCellsAreInfeasible) {
  for (int order = 1; order <= 4; ++order) {
    const Body<2> body(2, order);
    const auto potential = make<2, SaintVenant<2>>(body, order);
    const linalg::Vector rest(body.space.layout());
    linalg::Vector u = rest; // folds the body over the line x = 0
    auto values = u.write_local();
    for (LocalIndex node = 0; node < body.space.num_nodes(); ++node) {
      const double x = body.space.node_positions()[static_cast<std::size_t>(node)][0];
      if (x > 0) values[static_cast<std::size_t>(2 * node)] = -1.5 * x;
    }
    EXPECT_EQ(total_value(body, *potential, u), std::numeric_limits<double>::infinity()) << "order " << order;
    if (order == 1) {
      const double step = body.comm.min(potential->max_step(rest.local(), u.local()));
      EXPECT_NEAR(step, 1 / 1.5, 1e-6);
    }
  }
}

/// d'Hd / d'd along a direction.
template <int dim>
double curvature(const Body<dim>& body, const Potential<dim>& potential, const linalg::Vector& u,
                 Projection projection, const linalg::Vector& d) {
  linalg::BlockMatrix matrix(body.space.layout(), body.space.graph());
  fem::ElementAssembler<dim> assembler(body.space, matrix);
  assembler.begin();
  potential.add_hessian(u.local(), 1, projection, {&assembler, nullptr});
  assembler.end();
  linalg::Vector Hd(body.space.layout());
  matrix.multiply(d, Hd);
  return d.dot(Hd) / d.dot(d);
}

TEST(Elastic, ProjectionRemovesNegativeCurvature) {
  const Body<2> body(3, 1);
  const auto potential = make<2, SaintVenant<2>>(body, 1);
  // Squeezed along x, the body gives way in shear across it.
  linalg::Vector u(body.space.layout()), shear(body.space.layout());
  auto values = u.write_local(), sheared = shear.write_local();
  for (LocalIndex node = 0; node < body.space.num_nodes(); ++node) {
    const double x = body.space.node_positions()[static_cast<std::size_t>(node)][0];
    values[static_cast<std::size_t>(2 * node)] = -0.6 * x;
    sheared[static_cast<std::size_t>(2 * node) + 1] = x;
  }
  EXPECT_LT(curvature(body, *potential, u, Projection::none, shear), -1e-3);
  for (int seed = 0; seed < 50; ++seed)
    EXPECT_GT(curvature(body, *potential, u, Projection::per_element, body.field(1, 31 * seed)), 0);
  EXPECT_GE(curvature(body, *potential, u, Projection::per_element, shear), -1e-14);
}

/// Total value at a field of order 3 of a body of Saint Venant's law, for which W is a polynomial of degree
/// 8, with the quadrature of a degree, or the usual one.
double energy_by_degree(std::optional<int> degree) {
  const Body<2> body(2, 3, {}, degree);
  const auto potential = make<2, SaintVenant<2>>(body, 3);
  return total_value(body, *potential, body.field(0.002, 1));
}

TEST(Elastic, QuadratureOfAnotherDegree) {
  const double exact = energy_by_degree(8);
  EXPECT_NEAR(energy_by_degree(12), exact, 1e-13 * exact);
  EXPECT_EQ(energy_by_degree({}), energy_by_degree(4));
  EXPECT_GT(std::abs(energy_by_degree(5) - energy_by_degree(4)), 1e-8 * exact);
  EXPECT_LT(std::abs(energy_by_degree(7) - exact), std::abs(energy_by_degree(4) - exact));
  for (const int order : {1, 2}) {
    const Body<3> body(2, order, {}, 5);
    const double size = 0.02 / (order * order);
    check_derivatives<3>(body, *make<3, NeoHookean<3>>(body, order), body.field(size, 1), size);
  }
}

TEST(Elastic, CellsOfOrderOneDoNotChangeWithTheQuadrature) {
  const Body<3> body(2, 1), other(2, 1, {}, 5);
  const linalg::Vector u = body.field(0.02, 1), v = other.field(0.02, 1);
  EXPECT_EQ(total_value(other, *make<3, NeoHookean<3>>(other, 1), v),
            total_value(body, *make<3, NeoHookean<3>>(body, 1), u));
}

void check_damping(DampingRate rate, bool rigid_motion_is_free) {
  for (int order = 1; order <= 2; ++order) {
    const Body<3> body(2, order);
    parameters::CellField viscosities;
    for (std::size_t k = 0; k < body.space.cells_of_order(order).size(); ++k)
      viscosities.add(std::array{0.7, 1.3});
    const auto damping = make_damping<3>(body.space, body.geometry, order, body.space.cells_of_order(order),
                                         viscosities, rate);
    const linalg::Vector previous = body.field(0.01, 4), u = body.field(0.01, 8);
    StepContext context;
    context.dt = 0.1;
    context.previous = previous.local();
    damping->begin_step(context);
    check_derivatives<3>(body, *damping, u, 0.01);
    EXPECT_NEAR(total_value(body, *damping, previous), 0, 1e-18);
    const double moved = total_value(body, *damping, rigidly_moved(body, previous));
    EXPECT_EQ(moved < 1e-12 * total_value(body, *damping, u), rigid_motion_is_free) << moved;
  }
}

TEST(Damping, Derivatives) { check_damping(DampingRate::green_difference, true); }

TEST(Damping, DerivativesOfTheRateAtTheEnd) { check_damping(DampingRate::endpoint, false); }

} // namespace
} // namespace recoil::potentials
