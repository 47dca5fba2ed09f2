#include <algorithm>

#include <gtest/gtest.h>

#include "newton/toy_objective.hpp"

// Each fallback of the direction, and each way in which the functions of an objective can fail.
namespace recoil::newton::testing {
namespace {

class Directions : public ::testing::Test {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  Euclidean space;
  std::vector<Direction> used;

  NewtonOptions options() {
    NewtonOptions result;
    result.on_iteration = [this](const IterationReport& report) { used.push_back(report.direction); };
    return result;
  }
};

// x^4/4 - x^2/2 + y^2: a saddle at 0, minima at x = +-1.
ToyObjective double_well() {
  ToyObjective toy;
  toy.f = [](const VectorXd& x) { return std::pow(x[0], 4) / 4 - x[0] * x[0] / 2 + x[1] * x[1]; };
  toy.df = [](const VectorXd& x) { return VectorXd{{std::pow(x[0], 3) - x[0], 2 * x[1]}}; };
  toy.ddf = [](const VectorXd& x) { return MatrixXd{{3 * x[0] * x[0] - 1, 0}, {0, 2}}; };
  return toy;
}

// sum -cos x_i: concave around pi.
ToyObjective pendulums() {
  ToyObjective toy;
  toy.f = [](const VectorXd& x) { return -x.array().cos().sum(); };
  toy.df = [](const VectorXd& x) { return VectorXd(x.array().sin()); };
  toy.ddf = [](const VectorXd& x) { return MatrixXd(x.array().cos().matrix().asDiagonal()); };
  return toy;
}

TEST_F(Directions, ProjectionAtASaddleThenExactAgain) {
  ToyObjective toy = double_well();
  // Where the solver goes on through indefinite matrices, slope alone must tell.
  linalg::Vector x = distribute(comm, VectorXd{{0.1, 1}});
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << name(result.outcome);
  EXPECT_LT((gather(x) - VectorXd{{1, 0}}).norm(), 1e-9);
  ASSERT_GE(toy.assemblies.size(), 3u);
  EXPECT_EQ(toy.assemblies[0], Projection::none);
  EXPECT_EQ(toy.assemblies[1], Projection::per_element);
  EXPECT_EQ(toy.assemblies[2], Projection::none);
  EXPECT_EQ(used.back(), Direction::newton);
}

// Friction that holds: beyond the kink the exact Hessian knows nothing of it and full steps lead across,
// while that of a majorizer, here f'(x) / x, leads towards it.
TEST_F(Directions, ProjectedAfterAHalvedStep) {
  constexpr double width = 1e-4, pull = 0.5;
  const auto root = [](double x) { return std::hypot(x, width); };
  ToyObjective toy;
  toy.f = [=](const VectorXd& x) {
    return 0.05 * x.squaredNorm() + root(x[0]) + root(x[1]) - pull * x.sum();
  };
  toy.df = [=](const VectorXd& x) {
    return VectorXd{{0.1 * x[0] + x[0] / root(x[0]) - pull, 0.1 * x[1] + x[1] / root(x[1]) - pull}};
  };
  toy.ddf = [&](const VectorXd& x) {
    const bool majorizer = toy.assemblies.back() == Projection::per_element;
    VectorXd diagonal(2);
    for (Eigen::Index i = 0; i < 2; ++i)
      diagonal[i] = 0.1 + (majorizer ? 1 / root(x[i]) : width * width / std::pow(root(x[i]), 3));
    return MatrixXd(diagonal.asDiagonal());
  };
  std::vector<IterationReport> reports;
  NewtonOptions settings = options();
  settings.on_iteration = [&](const IterationReport& report) { reports.push_back(report); };
  linalg::Vector x = distribute(comm, VectorXd{{1, -0.3}});
  const NewtonResult result = minimize(toy, space, x, settings);
  EXPECT_TRUE(result.converged()) << name(result.outcome);
  EXPECT_LE(result.iterations, 30);
  int halved = 0;
  for (std::size_t k = 0; k + 1 < reports.size(); ++k) {
    if (reports[k].direction != Direction::newton || reports[k].backtracks == 0) continue;
    ++halved;
    EXPECT_EQ(reports[k + 1].direction, Direction::projected) << k;
  }
  EXPECT_GT(halved, 0);
}

// The projected Hessian is 1000 times stiffer than the way out of the saddle is soft: steps of full length
// would grow by a thousandth each.
TEST_F(Directions, LongerStepsLeaveASaddle) {
  ToyObjective toy = double_well();
  const auto exact = toy.ddf;
  int projected = 0;
  toy.ddf = [&](const VectorXd& x) {
    MatrixXd hessian = exact(x);
    if (!toy.assemblies.empty() && toy.assemblies.back() == Projection::per_element)
      hessian(0, 0) = 1000, ++projected;
    return hessian;
  };
  std::vector<double> steps;
  NewtonOptions settings = options();
  settings.on_iteration = [&](const IterationReport& report) { steps.push_back(report.step); };
  linalg::Vector x = distribute(comm, VectorXd{{1e-6, 1}});
  const NewtonResult result = minimize(toy, space, x, settings);
  EXPECT_TRUE(result.converged()) << name(result.outcome);
  EXPECT_LT((gather(x) - VectorXd{{1, 0}}).norm(), 1e-9);
  EXPECT_GT(projected, 0);
  EXPECT_LE(result.iterations, 20);
  EXPECT_GT(std::ranges::max(steps), 100);
}

// A longer step must not cross what limits it: here x_0 <= 0.3.
TEST_F(Directions, LongerStepsStayFeasible) {
  ToyObjective toy = double_well();
  const auto free = toy.f;
  double farthest = 0;
  toy.f = [&](const VectorXd& x) {
    farthest = std::max(farthest, x[0]);
    return free(x);
  };
  toy.limit = [](const VectorXd& x, const VectorXd& d) {
    return x[0] + d[0] <= 0.3 ? 1.0 : 0.9 * (0.3 - x[0]) / d[0];
  };
  linalg::Vector x = distribute(comm, VectorXd{{1e-6, 1}});
  NewtonOptions settings = options();
  settings.max_iterations = 60;
  minimize(toy, space, x, settings);
  EXPECT_LE(farthest, 0.3);
  EXPECT_GT(farthest, 0.29);
}

TEST_F(Directions, AscentDirectionsAreNotUsed) {
  ToyObjective toy = springs(VectorXd::Ones(4), 1);
  // The first solve gives a direction uphill, and calls it converged.
  toy.after_solve = [](int call, VectorXd& d) {
    if (call == 0) d = -d;
    return linalg::LinearResult{linalg::LinearOutcome::converged, 3};
  };
  linalg::Vector x = distribute(comm, at_rest(4));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.projected, 1);
  EXPECT_EQ(used.front(), Direction::projected);
  EXPECT_EQ(result.linear_iterations, 3 * toy.solves);
  EXPECT_EQ(result.linear_solves, toy.solves);
}

TEST_F(Directions, TruncatedSolvesAreUsed) {
  ToyObjective toy = springs(VectorXd::Ones(4), 1);
  toy.after_solve = [](int, VectorXd& d) {
    d *= 0.9;
    return linalg::LinearResult{linalg::LinearOutcome::not_converged, 1};
  };
  linalg::Vector x = distribute(comm, at_rest(4));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.projected, 0);
}

TEST_F(Directions, ShiftsWhereProjectionIsNotEnough) {
  ToyObjective toy = pendulums();
  // The projected Hessian vanishes here.
  linalg::Vector x = distribute(comm, VectorXd{{2.5, 3.0, -2.8}});
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << name(result.outcome);
  EXPECT_LT(toy.df(gather(x)).norm(), 1e-9);
  EXPECT_GT(result.shifted, 0);
  EXPECT_EQ(used.front(), Direction::shifted);
  EXPECT_GT(std::ranges::count(used, Direction::newton), 0);
  // Shifts of the exact Hessian come first; here they are too small.
  ASSERT_GT(toy.shifts.size(), 3u);
  EXPECT_DOUBLE_EQ(toy.shifts[0], 1e-3);
  EXPECT_DOUBLE_EQ(toy.shifts[3], 1e-4);
}

// Where assembly and set-up are dear, exact Hessians that fail are tried after 1, 2, 4, 4, .. projected ones.
TEST_F(Directions, ExactHessiansThatFailAreTriedLessOften) {
  ToyObjective toy = springs(VectorXd::Ones(4), 1);
  toy.most_projected_in_a_row = 4;
  toy.after_solve = [&](int, VectorXd& d) {
    d *= 1e-3; // the projected Hessian is far too stiff
    const bool exact = toy.assemblies.back() == Projection::none;
    return linalg::LinearResult{exact ? linalg::LinearOutcome::indefinite : linalg::LinearOutcome::converged,
                                1};
  };
  toy.limit = [](const VectorXd&, const VectorXd& d) { return std::min(1.0, 1e-3 / d.norm()); };
  NewtonOptions settings = options();
  settings.max_iterations = 18;
  linalg::Vector x = distribute(comm, at_rest(4));
  minimize(toy, space, x, settings);
  ASSERT_EQ(used.size(), 18u);
  std::vector<int> tried; // in which iterations
  int iteration = 0;
  for (const Projection projection : toy.assemblies) {
    if (projection == Projection::none) tried.push_back(iteration);
    iteration += projection == Projection::per_element;
  }
  EXPECT_EQ(tried, (std::vector<int>{0, 2, 5, 10, 15}));
}

// Steps along exact directions that are cut short are followed by one projected step, and by as many as after
// a failure where the objective says that they are of no use.
TEST_F(Directions, ExactHessiansOfLittleUseAreTriedLessOften) {
  for (const double useful : {0.0, 0.1}) {
    ToyObjective toy = springs(VectorXd::Ones(4), 1);
    toy.most_projected_in_a_row = 4;
    toy.shortest_useful_step = useful;
    toy.after_solve = [&](int, VectorXd& d) {
      d *= toy.assemblies.back() == Projection::none ? 100 : 1e-3;
      return linalg::LinearResult{linalg::LinearOutcome::converged, 1};
    };
    NewtonOptions settings = options();
    settings.max_iterations = 14;
    used.clear();
    linalg::Vector x = distribute(comm, at_rest(4));
    minimize(toy, space, x, settings);
    ASSERT_EQ(used.size(), 14u);
    std::vector<int> exact; // iterations
    for (int k = 0; k < 14; ++k)
      if (used[k] == Direction::newton) exact.push_back(k);
    EXPECT_EQ(exact,
              useful > 0 ? (std::vector<int>{0, 3, 7, 13}) : (std::vector<int>{0, 2, 4, 6, 8, 10, 12}));
  }
}

TEST_F(Directions, ShiftsAddUpToPowers) {
  ToyObjective toy = springs(VectorXd::Ones(3), 1);
  toy.after_solve = [](int call, VectorXd&) {
    return linalg::LinearResult{
        call < 8 ? linalg::LinearOutcome::indefinite : linalg::LinearOutcome::converged, 1};
  };
  linalg::Vector x = distribute(comm, at_rest(3));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.shifted, 1);
  const std::vector<double> exact{1e-3, 1e-2, 1e-1}, projected{1e-4, 1e-3, 1e-2, 1e-1};
  ASSERT_EQ(toy.shifts.size(), exact.size() + projected.size());
  auto shift = toy.shifts.begin();
  for (const auto& expected : {exact, projected}) {
    double total = 0;
    for (const double sum : expected) EXPECT_NEAR(total += *shift++, sum, 1e-12);
  }
}

// Stiff across, softly unstable along the diagonal: what buckling looks like. A factor of a thousand lies
// between the two, and a small shift of the exact Hessian leaves both their ways.
TEST_F(Directions, ShiftedNewtonLeavesASaddle) {
  constexpr double soft = 1e-3;
  const auto along = [](const VectorXd& x) { return (x[0] + x[1]) / std::sqrt(2.0); };
  const VectorXd diagonal = VectorXd::Constant(2, std::sqrt(0.5)), across{{std::sqrt(0.5), -std::sqrt(0.5)}};
  ToyObjective toy;
  toy.f = [=](const VectorXd& x) {
    const double u = along(x), v = across.dot(x);
    return std::pow(u, 4) / 4 - soft * u * u / 2 + v * v / 2;
  };
  toy.df = [=](const VectorXd& x) {
    const double u = along(x);
    return VectorXd((u * u * u - soft * u) * diagonal + across.dot(x) * across);
  };
  toy.ddf = [=](const VectorXd& x) {
    const double u = along(x);
    return MatrixXd((3 * u * u - soft) * diagonal * diagonal.transpose() + across * across.transpose());
  };
  linalg::Vector x = distribute(comm, VectorXd{{0.1 + 1e-7, -0.1}});
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_TRUE(result.converged()) << name(result.outcome);
  EXPECT_NEAR(along(gather(x)), std::sqrt(soft), 1e-6);
  EXPECT_TRUE(std::ranges::count(used, Direction::shifted_newton));
  EXPECT_LE(result.iterations, 20);
}

TEST_F(Directions, SteepestDescentUntilTheSolverRecovers) {
  ToyObjective toy = springs(VectorXd::Constant(4, 2), 1);
  toy.after_solve = [](int call, VectorXd&) {
    return linalg::LinearResult{call < 25 ? linalg::LinearOutcome::failed : linalg::LinearOutcome::converged,
                                1};
  };
  linalg::Vector x = distribute(comm, at_rest(4));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.steepest, 2); // ten solves each: exact, projected, eight shifts
  EXPECT_EQ(used.front(), Direction::steepest_descent);
  EXPECT_EQ(used.back(), Direction::newton);
}

TEST_F(Directions, SolverThatAlwaysFails) {
  ToyObjective toy = springs(VectorXd::Constant(4, 2), 1);
  toy.after_solve = [](int, VectorXd&) { return linalg::LinearResult{}; };
  linalg::Vector x = distribute(comm, at_rest(4));
  const double before = toy.f(gather(x));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::linear_solve_failed);
  EXPECT_FALSE(result.converged());
  EXPECT_EQ(result.iterations, 20);
  EXPECT_LT(result.value, before);
}

TEST_F(Directions, InfiniteDirectionsCountAsFailed) {
  for (const double entry : {nan, infinity}) {
    ToyObjective toy = springs(VectorXd::Ones(4), 1);
    toy.after_solve = [entry](int call, VectorXd& d) {
      if (call == 1) d[3] = entry;
      return linalg::LinearResult{linalg::LinearOutcome::converged, 1};
    };
    linalg::Vector x = distribute(comm, at_rest(4));
    const NewtonResult result = minimize(toy, space, x, options());
    EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
    EXPECT_EQ(result.projected, 1);
  }
}

TEST_F(Directions, WrongGradientFailsInTheLineSearch) {
  // With and without a value whose round-off leaves the judgement to the gradient.
  for (const double offset : {0.0, 1e18}) {
    ToyObjective toy = springs(VectorXd::Ones(4), 1, offset);
    toy.df = [inner = toy.df](const VectorXd& x) { return VectorXd(-inner(x)); };
    linalg::Vector x = distribute(comm, at_rest(4));
    NewtonOptions chosen = options();
    chosen.line_search.max_backtracks = 15;
    chosen.shifts.max_count = 2;
    const NewtonResult result = minimize(toy, space, x, chosen);
    EXPECT_EQ(result.outcome, NewtonOutcome::line_search_failed) << name(result.outcome);
    EXPECT_EQ(gather(x), at_rest(4));
  }
}

TEST_F(Directions, NoFeasibleStep) {
  ToyObjective toy = springs(VectorXd::Ones(4), 1);
  toy.limit = [](const VectorXd&, const VectorXd&) { return 0.0; };
  linalg::Vector x = distribute(comm, at_rest(4));
  EXPECT_EQ(minimize(toy, space, x, options()).outcome, NewtonOutcome::line_search_failed);
}

TEST_F(Directions, UndefinedNumbers) {
  const auto outcome = [&](auto&& spoil) {
    ToyObjective toy = springs(VectorXd::Ones(4), 1);
    spoil(toy);
    linalg::Vector x = distribute(comm, at_rest(4));
    const NewtonResult result = minimize(toy, space, x, options());
    EXPECT_TRUE(gather(x).allFinite());
    return result.outcome;
  };
  const auto moved = [](const VectorXd& x) { return (x - at_rest(4)).norm() > 0; };
  const auto spoil_value = [&](double entry, bool at_start) {
    return [=](ToyObjective& toy) {
      toy.f = [=, inner = toy.f](const VectorXd& x) { return at_start || moved(x) ? entry : inner(x); };
    };
  };
  const auto spoil_gradient = [&](double entry, Eigen::Index i, bool at_start) {
    return [=](ToyObjective& toy) {
      toy.df = [=, inner = toy.df](const VectorXd& x) {
        VectorXd g = inner(x);
        if (at_start || moved(x)) g[i] = entry;
        return g;
      };
    };
  };
  for (const bool at_start : {true, false}) {
    EXPECT_EQ(outcome(spoil_value(nan, at_start)), NewtonOutcome::not_finite);
    EXPECT_EQ(outcome(spoil_value(-infinity, at_start)), NewtonOutcome::not_finite);
    for (const Eigen::Index i : {0, 3}) {
      EXPECT_EQ(outcome(spoil_gradient(nan, i, at_start)), NewtonOutcome::not_finite);
      EXPECT_EQ(outcome(spoil_gradient(infinity, i, at_start)), NewtonOutcome::not_finite);
    }
  }
  EXPECT_EQ(outcome([](ToyObjective& toy) { toy.norm = [](const VectorXd&) { return nan; }; }),
            NewtonOutcome::not_finite);
  EXPECT_EQ(outcome([](ToyObjective& toy) { toy.limit = [](auto&&...) { return nan; }; }),
            NewtonOutcome::not_finite);
  // A NaN that the norm of the stopping rule does not see.
  EXPECT_EQ(outcome([&](ToyObjective& toy) {
              spoil_gradient(nan, 2, true)(toy);
              toy.norm = [](const VectorXd& g) { return std::abs(g[0]) + 1; };
            }),
            NewtonOutcome::not_finite);
}

} // namespace
} // namespace recoil::newton::testing
