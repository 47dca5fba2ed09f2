#include "verification/manufactured.hpp"

namespace recoil::verification {
namespace {

/// u(X, t) = g(t) S X with a homogeneous F, exact in space: what is left is the error of the time integrator.
struct Motion {
  static constexpr double amplitude = 0.2, frequency = 5;
  static double g(double t) { return amplitude * std::sin(frequency * t); }
  static double rate(double t) { return amplitude * frequency * std::cos(frequency * t); }
  static double acceleration(double t) {
    return -amplitude * frequency * frequency * std::sin(frequency * t);
  }
  static Matrix<2> shape() { return (Matrix<2>() << 1.0, 0.5, -0.3, 0.8).finished(); }
  static Matrix<2> deformation_gradient(double t) { return Matrix<2>::Identity() + g(t) * shape(); }
};

using Law = potentials::NeoHookean<2>;

solvers::ElastodynamicsProblem<2> moving_problem(const fem::FunctionSpace<2>& space) {
  solvers::ElastodynamicsProblem<2> problem;
  problem.space = &space;
  problem.geometry = std::make_shared<const fem::CellGeometry<2>>(space.mesh());
  const potentials::Density unit = [](LocalIndex, const ExpressionPoint&) { return 1.0; };
  problem.mass = std::make_unique<potentials::MassMatrix<2>>(space, *problem.geometry, unit,
                                                             potentials::MassLumping::consistent);
  parameters::CellField parameters;
  for (std::size_t k = 0; k < all_cells(space).size(); ++k) parameters.add(test_parameters<Law>());
  problem.add_elastic(potentials::make_elastic<2>(*potentials::find_law(Law::name), space, problem.geometry,
                                                  1, all_cells(space), parameters));
  problem.add_load(potentials::make_body_force<2>(space, problem.geometry, unit,
                                                  {[](LocalIndex, const ExpressionPoint& p) -> Point<2> {
                                                     return Motion::acceleration(p.t) * Motion::shape() *
                                                            position_of<2>(p);
                                                   },
                                                   true}));
  // Traction P N on the sides +x and +y; -x and -y are held.
  for (const int side : {3, 4})
    problem.add_load(potentials::make_traction<2>(
        space, {false, {side}},
        {[side](const ExpressionPoint& p) -> Point<2> {
           return Law::first_piola(Motion::deformation_gradient(p.t), test_parameters<Law>()).col(side - 3);
         },
         true}));
  fem::DirichletCondition held;
  held.ids = {1, 2};
  held.components = {true, true, false};
  held.value = [](int component, const ExpressionPoint& p) {
    return (Motion::g(p.t) * Motion::shape() * position_of<2>(p))[component];
  };
  problem.dirichlet = std::make_unique<fem::DirichletDofs<2>>(space, std::vector{held});
  return problem;
}

stepping::State exact_state(const fem::FunctionSpace<2>& space, GlobalIndex id, double t) {
  stepping::State state;
  state.id = id;
  state.u = linalg::Vector(space.layout());
  state.v = state.u;
  for (const auto& [vector, factor] :
       {std::pair{&state.u, Motion::g(t)}, std::pair{&state.v, Motion::rate(t)}}) {
    auto values = vector->write_local();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] =
          factor * (Motion::shape() * space.node_positions()[i / 2])[static_cast<Eigen::Index>(i % 2)];
  }
  return state;
}

/// Largest error of u over all nodes and steps up to t = 1.
double largest_error(int order, int steps, bool exact_start) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = shuffled_box<2>(comm, 3);
  const fem::FunctionSpace<2> space(mesh, {1});
  solvers::ElastodynamicsOptions options;
  options.dt = 1.0 / steps;
  options.bdf_order = order;
  options.newton.gradient_tolerance = 1e-15;
  options.newton.relative_gradient_tolerance = 1e-13;
  options.newton.first_gradient_tolerance = 0;
  options.newton.length_scale = 1;
  solvers::ElastodynamicsSolver<2> solver(moving_problem(space), options);
  std::vector<stepping::State> start;
  const int first = exact_start ? order - 1 : 0;
  for (int i = 0; i <= first; ++i) start.push_back(exact_state(space, i, i * options.dt));
  solver.start(first, std::move(start), {});
  double largest = 0;
  while (solver.step() < steps) {
    const auto report = solver.advance([](const auto&...) {});
    EXPECT_TRUE(report.accepted) << report.failure;
    if (!report.accepted) return 1;
    linalg::Vector error = exact_state(space, 0, solver.time()).u;
    error.add(-1, solver.history().newest().u);
    largest = std::max(largest, error.norm_infinity());
  }
  return largest;
}

void check_order(int order, int coarse, bool exact_start) {
  const double e_coarse = largest_error(order, coarse, exact_start),
               e_fine = largest_error(order, 2 * coarse, exact_start);
  const double measured = std::log2(e_coarse / e_fine);
  EXPECT_NEAR(measured, order, 0.1) << "BDF" << order << ": errors " << e_coarse << " and " << e_fine;
  const parallel::Communicator comm(MPI_COMM_WORLD);
  if (comm.rank() == 0)
    std::printf("BDF%d: error %.3e -> %.3e, order %.3f\n", order, e_coarse, e_fine, measured);
}

TEST(TimeOrders, Bdf1AsItStarts) { check_order(1, 640, false); }
TEST(TimeOrders, Bdf2AsItStarts) { check_order(2, 320, false); }
TEST(TimeOrders, Bdf3FromExactStates) { check_order(3, 160, true); }
TEST(TimeOrders, Bdf4FromExactStates) { check_order(4, 160, true); }
TEST(TimeOrders, Bdf5FromExactStates) { check_order(5, 80, true); }
TEST(TimeOrders, Bdf6FromExactStates) { check_order(6, 80, true); }

} // namespace
} // namespace recoil::verification
