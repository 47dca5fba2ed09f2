#include "recoil/potentials/loads.hpp"

#include "potentials/potential_checks.hpp"
#include "recoil/base/error.hpp"

namespace recoil::potentials {
namespace {

/// Sum of the nodal forces, -sum of the gradient.
template <int dim>
Eigen::Matrix<double, dim, 1> resultant(const Body<dim>& body, const Potential<dim>& load,
                                        const linalg::Vector& u) {
  const linalg::Vector g = total_gradient(body, load, u);
  std::array<double, dim> sum{};
  for (std::size_t i = 0; i < g.owned().size(); ++i) sum[i % dim] -= g.owned()[i];
  body.comm.sum(sum);
  return Eigen::Map<Eigen::Matrix<double, dim, 1>>(sum.data());
}

TEST(BodyForce, AddsUpToTheWeight) {
  for (int order = 1; order <= 4; ++order) {
    const Body<3> body(2, order);
    // Density 2 + x over the unit cube about the origin has mass 2, acceleration (0, -9.81 f, 0).
    const auto load = make_body_force<3>(
        body.space, body.geometry, [](LocalIndex, const ExpressionPoint& p) { return 2 + p.x; },
        {[](LocalIndex, const ExpressionPoint&) { return Eigen::Vector3d(0, -9.81, 0); }, false});
    StepContext context;
    context.load_factor = 0.5;
    load->begin_step(context);
    const linalg::Vector u = body.field(0.1, 2);
    const Eigen::Vector3d sum = resultant<3>(body, *load, u);
    EXPECT_NEAR(sum[1], -0.5 * 2 * 9.81, 1e-12);
    EXPECT_NEAR(sum[0], 0, 1e-14);
    check_derivatives<3>(body, *load, u, 0.1);
  }
}

TEST(Traction, AddsUpToForceTimesArea) {
  for (int order = 1; order <= 4; ++order) {
    const Body<2> body(3, order);
    const auto load = make_traction<2>(
        body.space, {false, {3}},
        {[](const ExpressionPoint& p) { return Eigen::Vector2d(3 * p.t, 1 + 2 * p.y); }, true});
    StepContext context;
    context.time = 2;
    load->begin_step(context);
    const linalg::Vector u = body.field(0.1, 2);
    EXPECT_NEAR((resultant<2>(body, *load, u) - Eigen::Vector2d(6, 1)).norm(), 0, 1e-12);
    context.time = 1;
    load->begin_step(context);
    EXPECT_NEAR(resultant<2>(body, *load, u)[0], 3, 1e-12);
    check_derivatives<2>(body, *load, u, 0.1);
  }
}

TEST(NormalTraction, FollowsTheShapeAtTheStartOfTheStep) {
  const Body<3> body(2, 2);
  const auto load = make_normal_traction<3>(
      body.space, body.geometry, {false, {6}}, [](const ExpressionPoint&) { return 4.0; },
      LoadNormals::step_start);
  const linalg::Vector rest(body.space.layout());
  StepContext context;
  context.previous = rest.local();
  load->begin_step(context);
  EXPECT_NEAR((resultant<3>(body, *load, rest) - Eigen::Vector3d(0, 0, 4)).norm(), 0, 1e-12)
      << "outward is +z";
  const linalg::Vector moved = rigidly_moved(body, rest);
  context.previous = moved.local();
  load->begin_step(context);
  const Eigen::Vector3d expected =
      Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -1).normalized()) * Eigen::Vector3d(0, 0, 4);
  EXPECT_NEAR((resultant<3>(body, *load, rest) - expected).norm(), 0, 1e-12);
}

TEST(RestPressure, KeepsTheNormalsOfTheRestShape) {
  for (int order = 1; order <= 3; ++order) {
    const Body<3> body(2, order);
    const auto load = make_normal_traction<3>(
        body.space, body.geometry, {false, {6}}, [](const ExpressionPoint& p) { return 4 * p.t; },
        LoadNormals::rest);
    const linalg::Vector u = body.field(0.05, 2), moved = rigidly_moved(body, u);
    StepContext context;
    context.previous = moved.local();
    for (const double time : {0.5, 1.5}) {
      context.time = time;
      load->begin_step(context);
      EXPECT_NEAR((resultant<3>(body, *load, u) - Eigen::Vector3d(0, 0, 4 * time)).norm(), 0, 1e-12);
    }
    check_derivatives<3>(body, *load, u, 0.05);
  }
}

template <int dim>
void check_pressure(int order) {
  const Body<dim> body(2, order);
  const std::vector<char> free(static_cast<std::size_t>(body.space.num_nodes()) * dim, 0);
  FacetSelection all{true, {}};
  const auto load = make_pressure<dim>(
      body.space, body.geometry, all, [](double t) { return 2 * t; }, free, false, "p");
  StepContext context;
  context.time = 1.5;
  load->begin_step(context);
  const linalg::Vector rest(body.space.layout());
  EXPECT_NEAR(total_value(body, *load, rest), -3, 1e-13) << "-p V of the unit box";
  const linalg::Vector u = body.field(0.05, 6);
  check_derivatives<dim>(body, *load, u, 0.05);
  // A closed surface feels no net force, wherever it is.
  EXPECT_NEAR(resultant<dim>(body, *load, rigidly_moved(body, u)).norm(), 0, 1e-12);
  EXPECT_NEAR(total_value(body, *load, rigidly_moved(body, u)), total_value(body, *load, u), 1e-12);
}

TEST(Pressure, IsMinusPTimesVolume) {
  for (int order = 1; order <= 4; ++order) {
    check_pressure<2>(order);
    check_pressure<3>(order);
  }
}

/// On an open surface with a free rim: at the shape of the start of the step the forces are those of p n,
/// which add up to p times the area vector, and the volume is swept from there.
template <int dim>
void check_open_pressure(int order) {
  const Body<dim> body(2, order);
  const std::vector<char> free(static_cast<std::size_t>(body.space.num_nodes()) * dim, 0);
  const FacetSelection top{false, {2 * dim}};
  const auto load = make_pressure<dim>(
      body.space, body.geometry, top, [](double t) { return 2 * t; }, free, true, "p");
  const auto dead = make_normal_traction<dim>(
      body.space, body.geometry, top, [](const ExpressionPoint& p) { return 2 * p.t; }, LoadNormals::rest);
  const linalg::Vector rest(body.space.layout());
  StepContext context;
  context.time = 1.5;
  context.previous = rest.local();
  load->begin_step(context);
  dead->begin_step(context);
  EXPECT_EQ(total_value(body, *load, rest), 0);
  linalg::Vector difference = total_gradient<dim>(body, *load, rest);
  const double force = difference.norm();
  difference.add(-1, total_gradient<dim>(body, *dead, rest));
  EXPECT_LT(difference.norm(), 1e-14 * force) << "at rest both are p n";
  // Moved up by h and stretched on the way, the unit facet sweeps h times its mean area.
  linalg::Vector moved(body.space.layout());
  const auto entries = moved.write_owned();
  for (LocalIndex node = 0; node < body.space.num_owned_nodes(); ++node) {
    fem::node_block<dim>(entries, node) = 0.2 * body.space.node_positions()[node];
    fem::node_block<dim>(entries, node)[dim - 1] = 0.1;
  }
  moved.update_ghosts();
  const double mean_area = dim == 2 ? 1.1 : (1 + 1.2 + 1.44) / 3;
  EXPECT_NEAR(total_value(body, *load, moved), -3 * 0.1 * mean_area, 1e-13);
  const linalg::Vector u = body.field(0.05, 6), before = rigidly_moved(body, body.field(0.05, 3));
  context.previous = before.local();
  load->begin_step(context);
  check_derivatives<dim>(body, *load, u, 0.05);
  // The volume does not depend on where both shapes are.
  const linalg::Vector u_moved = rigidly_moved(body, u), before_moved = rigidly_moved(body, before);
  const double value = total_value(body, *load, u);
  context.previous = before_moved.local();
  load->begin_step(context);
  EXPECT_NEAR(total_value(body, *load, u_moved), value, 1e-12 * std::abs(value));
}

TEST(Pressure, IsOfTheVolumeThatAnOpenSurfaceSweeps) {
  for (int order = 1; order <= 4; ++order) {
    check_open_pressure<2>(order);
    check_open_pressure<3>(order);
  }
}

TEST(Pressure, OfSteppingAndStaticScenesAgreeOnClosedSurfaces) {
  const Body<3> body(2, 2);
  const std::vector<char> free(static_cast<std::size_t>(body.space.num_nodes()) * 3, 0);
  const auto make = [&](bool has_steps) {
    return make_pressure<3>(
        body.space, body.geometry, {true, {}}, [](double) { return 2.0; }, free, has_steps, "p");
  };
  const linalg::Vector u = body.field(0.05, 6), before = body.field(0.05, 3);
  StepContext context;
  context.previous = before.local();
  const auto in_steps = make(true), in_statics = make(false);
  in_steps->begin_step(context);
  in_statics->begin_step({});
  EXPECT_EQ(total_value(body, *in_steps, u), total_value(body, *in_statics, u));
}

TEST(Pressure, NeedsAClosedSurfaceOrAHeldRim) {
  const Body<3> body(2, 2);
  std::vector<char> held(static_cast<std::size_t>(body.space.num_nodes()) * 3, 0);
  const FacetSelection top{false, {6}};
  const auto make = [&] {
    return make_pressure<3>(
        body.space, body.geometry, top, [](double) { return 1.0; }, held, false, "/pressure/0");
  };
  try {
    make();
    FAIL() << "an open surface with a free rim was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("/pressure/0"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("rim"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("<rest_pressure_boundary>"), std::string::npos);
  }
  for (LocalIndex node = 0; node < body.space.num_nodes(); ++node) {
    const auto& X = body.space.node_positions()[static_cast<std::size_t>(node)];
    if (X[2] > 0.5 - 1e-9 && std::max(std::abs(X[0]), std::abs(X[1])) > 0.5 - 1e-9)
      for (int i = 0; i < 3; ++i) held[static_cast<std::size_t>(3 * node + i)] = 1;
  }
  const auto load = make();
  load->begin_step({});
  // On inner nodes the force is p n A: two thirds of the nodal shares of a P2 face are its edge nodes.
  const linalg::Vector g = total_gradient<3>(body, *load, linalg::Vector(body.space.layout()));
  for (LocalIndex node = 0; node < body.space.num_owned_nodes(); ++node) {
    const auto& X = body.space.node_positions()[static_cast<std::size_t>(node)];
    if (X[2] < 0.5 - 1e-9 || held[static_cast<std::size_t>(3 * node)] != 0) continue;
    EXPECT_LE(g.owned()[static_cast<std::size_t>(3 * node + 2)], 1e-15) << "pulls outwards";
    EXPECT_NEAR(g.owned()[static_cast<std::size_t>(3 * node)], 0, 1e-15);
  }
}

} // namespace
} // namespace recoil::potentials
