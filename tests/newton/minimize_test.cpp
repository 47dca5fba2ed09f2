#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "newton/toy_objective.hpp"

namespace recoil::newton::testing {
namespace {

class Minimize : public ::testing::Test {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  Euclidean space;
  std::vector<IterationReport> reports;

  NewtonOptions options() {
    NewtonOptions result;
    result.on_iteration = [this](const IterationReport& report) { reports.push_back(report); };
    return result;
  }
};

ToyObjective rosenbrock() {
  ToyObjective toy;
  toy.f = [](const VectorXd& x) {
    double sum = 0;
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i)
      sum += 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1 - x[i], 2);
    return sum;
  };
  toy.df = [](const VectorXd& x) {
    VectorXd g = VectorXd::Zero(x.size());
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
      const double r = x[i + 1] - x[i] * x[i];
      g[i] += -400 * r * x[i] - 2 * (1 - x[i]);
      g[i + 1] += 200 * r;
    }
    return g;
  };
  toy.ddf = [](const VectorXd& x) {
    MatrixXd h = MatrixXd::Zero(x.size(), x.size());
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
      h(i, i) += -400 * (x[i + 1] - 3 * x[i] * x[i]) + 2;
      h(i, i + 1) -= 400 * x[i];
      h(i + 1, i) -= 400 * x[i];
      h(i + 1, i + 1) += 200;
    }
    return h;
  };
  return toy;
}

// The analytic centre of a simplex weighted by c: c . x - sum log x_i - log(1 - sum x).
ToyObjective log_barrier(const VectorXd& c) {
  ToyObjective toy;
  toy.f = [=](const VectorXd& x) {
    if (x.minCoeff() <= 0 || x.sum() >= 1) return infinity;
    return c.dot(x) - x.array().log().sum() - std::log(1 - x.sum());
  };
  toy.df = [=](const VectorXd& x) {
    return VectorXd(c - x.cwiseInverse() + VectorXd::Constant(x.size(), 1 / (1 - x.sum())));
  };
  toy.ddf = [](const VectorXd& x) {
    MatrixXd h = MatrixXd::Constant(x.size(), x.size(), std::pow(1 - x.sum(), -2));
    h += MatrixXd(x.cwiseInverse().cwiseAbs2().asDiagonal());
    return h;
  };
  return toy;
}

TEST_F(Minimize, QuadraticTakesOneIteration) {
  MatrixXd h(4, 4);
  h << 4, 1, 0, 0.5, 1, 3, 1, 0, 0, 1, 5, 1, 0.5, 0, 1, 2;
  const VectorXd centre = VectorXd::LinSpaced(4, -1, 2);
  ToyObjective toy = quadratic(h, centre);
  linalg::Vector x = distribute(comm, VectorXd::Constant(4, 7));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.smallest_step, 1);
  EXPECT_LT((gather(x) - centre).norm(), 1e-13);
  expect_current_ghosts(x, gather(x));
  EXPECT_EQ(toy.assemblies, std::vector{Projection::none});
  EXPECT_NEAR(result.first_gradient_norm, (h * (VectorXd::Constant(4, 7) - centre)).norm(), 1e-12);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].gradient_norm, result.gradient_norm);
  EXPECT_EQ(reports[0].value, result.value);
}

TEST_F(Minimize, StartAtTheMinimumTakesNone) {
  ToyObjective toy = quadratic(MatrixXd::Identity(3, 3), VectorXd::Ones(3));
  linalg::Vector x = distribute(comm, VectorXd::Constant(3, 1 + 1e-13));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(toy.solves, 0);
}

TEST_F(Minimize, StricterRuleBeforeTheFirstIteration) {
  ToyObjective toy = quadratic(MatrixXd::Identity(3, 3), VectorXd::Ones(3));
  linalg::Vector x = distribute(comm, VectorXd::Constant(3, 1 + 1e-11));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_LT(result.gradient_norm, 1e-14);
}

TEST_F(Minimize, AnInterruptionEndsItBeforeTheNextLinearSolve) {
  for (const int granted : {0, 1, 2, 3}) {
    ToyObjective toy = log_barrier(VectorXd::LinSpaced(4, 1, 50));
    linalg::Vector x = distribute(comm, VectorXd::Constant(4, 0.01));
    NewtonOptions limited = options();
    int asked = 0;
    // The signal reaches the last rank only.
    limited.interrupted = [&] { return comm.any(comm.rank() + 1 == comm.size() && asked++ >= granted); };
    const NewtonResult result = minimize(toy, space, x, limited);
    EXPECT_EQ(result.outcome, NewtonOutcome::interrupted) << name(result.outcome);
    EXPECT_FALSE(result.converged());
    EXPECT_EQ(toy.solves, std::max(0, granted - 1)) << "asked once at the start, then before every direction";
    EXPECT_EQ(result.iterations, toy.solves);
  }
}

TEST_F(Minimize, EmptyRanksTakePart) {
  ToyObjective toy = quadratic(MatrixXd::Constant(1, 1, 3), VectorXd::Constant(1, 2));
  linalg::Vector x = distribute(comm, VectorXd::Zero(1));
  EXPECT_EQ(minimize(toy, space, x, options()).outcome, NewtonOutcome::converged_gradient);
  EXPECT_NEAR(gather(x)[0], 2, 1e-14);
}

TEST_F(Minimize, Rosenbrock) {
  for (const int n : {2, 3}) { // with more unknowns there are local minima
    ToyObjective toy = rosenbrock();
    VectorXd start = VectorXd::Ones(n);
    start[0] = -1.2;
    linalg::Vector x = distribute(comm, start);
    const NewtonResult result = minimize(toy, space, x, options());
    EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << name(result.outcome);
    EXPECT_LT((gather(x) - VectorXd::Ones(n)).norm(), 1e-9);
    EXPECT_LT(result.iterations, 40);
    EXPECT_LT(result.smallest_step, 1);
  }
}

TEST_F(Minimize, LogBarrierStaysFeasible) {
  const VectorXd c = VectorXd::LinSpaced(5, 20, 60);
  const VectorXd start = VectorXd::Constant(5, 0.15);
  // A filter that knows the boundary, and none: then +infinity alone must turn steps down.
  for (const bool filtered : {true, false}) {
    ToyObjective toy = log_barrier(c);
    int infeasible = 0;
    toy.f = [&infeasible, inner = toy.f](const VectorXd& x) {
      const double value = inner(x);
      infeasible += std::isinf(value);
      return value;
    };
    if (filtered)
      toy.limit = [](const VectorXd& x, const VectorXd& d) {
        double limit = d.sum() > 0 ? (1 - x.sum()) / d.sum() : infinity;
        for (Eigen::Index i = 0; i < x.size(); ++i)
          if (d[i] < 0) limit = std::min(limit, -x[i] / d[i]);
        return limit > 1 ? 1 : 0.9 * limit;
      };
    reports.clear();
    linalg::Vector x = distribute(comm, start);
    const NewtonResult result = minimize(toy, space, x, options());
    EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << name(result.outcome);
    EXPECT_LT(toy.df(gather(x)).norm(), 1.01e-10 * result.first_gradient_norm);
    EXPECT_EQ(infeasible > 0, !filtered);
    double smallest = 1;
    for (const IterationReport& report : reports) {
      EXPECT_LE(report.step, report.max_step);
      smallest = std::min(smallest, report.max_step);
    }
    EXPECT_EQ(smallest < 1, filtered);
  }
}

TEST_F(Minimize, SafetyFactorOnlyWhereTheStepIsLimited) {
  ToyObjective toy = quadratic(MatrixXd::Identity(2, 2), VectorXd::Ones(2));
  toy.limit = [](const VectorXd& x, const VectorXd&) { return x.norm() < 0.1 ? 0.5 : 1; };
  linalg::Vector x = distribute(comm, VectorXd::Zero(2));
  NewtonOptions chosen = options();
  chosen.line_search.safety = 0.8;
  EXPECT_EQ(minimize(toy, space, x, chosen).iterations, 2);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_DOUBLE_EQ(reports[0].step, 0.4);
  EXPECT_EQ(reports[1].step, 1);
}

TEST_F(Minimize, InfeasibleStart) {
  ToyObjective toy = log_barrier(VectorXd::Ones(3));
  linalg::Vector x = distribute(comm, VectorXd::Constant(3, 0.5));
  EXPECT_EQ(minimize(toy, space, x, options()).outcome, NewtonOutcome::infeasible_start);
  EXPECT_EQ(gather(x), VectorXd::Constant(3, 0.5));
}

TEST_F(Minimize, SpringsConvergeQuadratically) {
  const VectorXd stiffness = (VectorXd(7) << 1, 5, 0.2, 3, 1, 8, 0.5).finished();
  ToyObjective toy = springs(stiffness, 2);
  linalg::Vector x = distribute(comm, at_rest(7));
  NewtonOptions tight = options();
  tight.relative_gradient_tolerance = 0;
  tight.gradient_tolerance = 1e-13;
  tight.most_chord_steps = 0;
  const NewtonResult result = minimize(toy, space, x, tight);
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_LT((gather(x) - springs_solution(stiffness, 2)).norm(), 1e-12);
  EXPECT_EQ(result.projected + result.shifted + result.steepest, 0);

  // The rate from gradient norms that are small, but not yet round-off.
  std::vector<double> norms{result.first_gradient_norm};
  for (const IterationReport& report : reports) norms.push_back(report.gradient_norm);
  double rate = 0;
  for (std::size_t k = 2; k < norms.size(); ++k)
    if (norms[k - 1] < 1e-1 && norms[k] > 1e-13)
      rate = std::log(norms[k] / norms[k - 1]) / std::log(norms[k - 1] / norms[k - 2]);
  EXPECT_GT(rate, 1.8);
  RecordProperty("rate", std::to_string(rate));
}

TEST_F(Minimize, RanksTakeTheStepsOfOneRank) {
  const VectorXd stiffness = VectorXd::LinSpaced(11, 0.1, 4);
  const parallel::Communicator self(MPI_COMM_SELF);
  ToyObjective together = springs(stiffness, -3), alone = springs(stiffness, -3);
  linalg::Vector x = distribute(comm, at_rest(11)), y = distribute(self, at_rest(11));
  const NewtonResult many = minimize(together, space, x, {}), one = minimize(alone, space, y, {});
  EXPECT_EQ(many.iterations, one.iterations);
  EXPECT_EQ(many.value_evaluations, one.value_evaluations);
  EXPECT_LT((gather(x) - gather(y)).norm(), 1e-13);
  const auto bits = std::bit_cast<GlobalIndex>(many.gradient_norm);
  for (const GlobalIndex other : comm.all_gather(bits)) EXPECT_EQ(other, bits);
}

TEST_F(Minimize, ChordStepsSaveHessians) {
  const VectorXd stiffness = (VectorXd(7) << 1, 5, 0.2, 3, 1, 8, 0.5).finished();
  NewtonOptions chosen = options();
  chosen.relative_gradient_tolerance = 0;
  chosen.gradient_tolerance = 1e-12;
  ToyObjective toy = springs(stiffness, 2), plain_toy = springs(stiffness, 2);
  linalg::Vector x = distribute(comm, at_rest(7)), y = x;
  const NewtonResult result = minimize(toy, space, x, chosen);
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_LT((gather(x) - springs_solution(stiffness, 2)).norm(), 1e-11);
  EXPECT_GT(result.chord_steps, 0);
  int reported = 0;
  for (const IterationReport& report : reports) reported += report.chord_steps;
  EXPECT_EQ(reported, result.chord_steps);
  EXPECT_EQ(result.linear_solves, toy.solves);
  EXPECT_EQ(toy.assemblies.size(), static_cast<std::size_t>(result.iterations));

  chosen.most_chord_steps = 0;
  const NewtonResult plain = minimize(plain_toy, space, y, chosen);
  EXPECT_EQ(plain.chord_steps, 0);
  EXPECT_LT(result.iterations, plain.iterations);
}

// A run that is continued repeats the step that a signal has dropped: one that is kept has the bits of a run
// without the signal.
TEST_F(Minimize, AnInterruptionAmongChordStepsKeepsNothing) {
  const VectorXd stiffness = (VectorXd(7) << 1, 5, 0.2, 3, 1, 8, 0.5).finished();
  const NewtonOptions chosen = options();
  ToyObjective toy = springs(stiffness, 2);
  linalg::Vector x = distribute(comm, at_rest(7));
  const NewtonResult whole = minimize(toy, space, x, chosen);
  ASSERT_GT(whole.chord_steps, 0);
  int interruptions = 0;
  for (bool is_whole = false; !is_whole; ++interruptions) {
    ToyObjective again = springs(stiffness, 2);
    linalg::Vector y = distribute(comm, at_rest(7));
    NewtonOptions limited = chosen;
    int asked = 0;
    limited.interrupted = [&] { return asked++ >= interruptions; };
    const NewtonResult result = minimize(again, space, y, limited);
    is_whole = result.converged();
    if (is_whole) {
      EXPECT_EQ(gather(y), gather(x)) << interruptions;
      EXPECT_EQ(result.chord_steps, whole.chord_steps);
    }
  }
  EXPECT_EQ(interruptions, 2 + whole.iterations + whole.chord_steps)
      << "asked at the start, before every direction and before every chord step";
}

// Whatever is wrong with chord steps, the iterations go on as if there were none.
TEST_F(Minimize, BadChordStepsAreLeftOut) {
  const VectorXd stiffness = (VectorXd(7) << 1, 5, 0.2, 3, 1, 8, 0.5).finished();
  NewtonOptions chosen = options();
  chosen.relative_gradient_tolerance = 0;
  chosen.gradient_tolerance = 1e-12;
  chosen.most_chord_steps = 0;
  ToyObjective plain_toy = springs(stiffness, 2);
  linalg::Vector y = distribute(comm, at_rest(7));
  const NewtonResult plain = minimize(plain_toy, space, y, chosen);
  chosen.most_chord_steps = 3;
  for (const double factor : {-1.0, 0.0, 1e-3, 3.0, 1e3}) {
    ToyObjective toy = springs(stiffness, 2);
    std::size_t assemblies = 0;
    toy.after_solve = [&](int, VectorXd& d) {
      if (toy.assemblies.size() == assemblies) d *= factor;
      assemblies = toy.assemblies.size();
      return linalg::LinearResult{linalg::LinearOutcome::converged, 1};
    };
    linalg::Vector x = distribute(comm, at_rest(7));
    const NewtonResult result = minimize(toy, space, x, chosen);
    EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << factor;
    EXPECT_EQ(result.chord_steps, 0) << factor;
    EXPECT_EQ(result.iterations, plain.iterations) << factor;
    EXPECT_LT((gather(x) - gather(y)).norm(), 1e-12) << factor;
  }
  ToyObjective blocked = springs(stiffness, 2);
  std::size_t assemblies = 0;
  blocked.limit = [&](const VectorXd&, const VectorXd&) {
    const bool again = blocked.assemblies.size() == assemblies;
    assemblies = blocked.assemblies.size();
    return again ? 0.9 : 1;
  };
  linalg::Vector x = distribute(comm, at_rest(7));
  EXPECT_EQ(minimize(blocked, space, x, chosen).chord_steps, 0);
  EXPECT_LT((gather(x) - gather(y)).norm(), 1e-12);
}

TEST_F(Minimize, StepRule) {
  const VectorXd stiffness = VectorXd::Constant(4, 2);
  ToyObjective toy = springs(stiffness, 3);
  toy.inexact = true;
  linalg::Vector x = distribute(comm, at_rest(4));
  NewtonOptions chosen = options();
  chosen.gradient_tolerance = 1e-13;
  chosen.relative_gradient_tolerance = 0;
  chosen.most_chord_steps = 0;
  chosen.step_rule = StepRule{.tolerance = 1e-2, .dt = 0.1, .length = 4};
  const NewtonResult result = minimize(toy, space, x, chosen);
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_step);
  EXPECT_TRUE(result.converged());
  EXPECT_GT(result.gradient_norm, 1e-13);
  EXPECT_LE(reports.back().direction_norm, 1e-2 * 0.1 * 4);
  EXPECT_EQ(toy.tolerances.back(), 1e-10);

  // A chord step ends the iterations, too, where its direction is accurate enough.
  ToyObjective rough = springs(stiffness, 3);
  rough.inexact = true;
  linalg::Vector z = distribute(comm, at_rest(4));
  NewtonOptions eager = chosen;
  eager.step_rule->accuracy = 1e-2;
  eager.most_chord_steps = 3;
  const NewtonResult sooner = minimize(rough, space, z, eager);
  EXPECT_EQ(sooner.outcome, NewtonOutcome::converged_step);
  EXPECT_LT(sooner.iterations, result.iterations);
  EXPECT_GT(std::ranges::min(rough.tolerances), 1e-6);
  EXPECT_LT((gather(z) - springs_solution(stiffness, 3)).lpNorm<Eigen::Infinity>(), 1e-2 * 0.1 * 4);

  ToyObjective again = springs(stiffness, 3);
  linalg::Vector y = distribute(comm, at_rest(4));
  chosen.step_rule.reset();
  EXPECT_GT(minimize(again, space, y, chosen).iterations, result.iterations);
}

TEST_F(Minimize, GradientNormOfTheObjectiveDecides) {
  ToyObjective toy = springs(VectorXd::Ones(3), 1);
  toy.norm = [](const VectorXd& g) { return 1e-6 * g.norm(); };
  linalg::Vector x = distribute(comm, at_rest(3));
  NewtonOptions chosen = options();
  chosen.relative_gradient_tolerance = 0;
  const NewtonResult result = minimize(toy, space, x, chosen);
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_DOUBLE_EQ(result.gradient_norm, 1e-6 * toy.df(gather(x)).norm());
  // Weaker than the Euclidean norm: one iteration less than without.
  ToyObjective strict = springs(VectorXd::Ones(3), 1);
  linalg::Vector y = distribute(comm, at_rest(3));
  EXPECT_LT(result.iterations, minimize(strict, space, y, chosen).iterations);
}

TEST_F(Minimize, FunctionThatChangesWithItsIterates) {
  // A stiffness that doubles with each of the first three steps, as that of a barrier may.
  double stiffness = 1;
  ToyObjective toy;
  toy.f = [&](const VectorXd& x) { return 0.5 * stiffness * x.squaredNorm() - x.sum(); };
  toy.df = [&](const VectorXd& x) { return VectorXd(stiffness * x - VectorXd::Ones(x.size())); };
  toy.ddf = [&](const VectorXd& x) { return MatrixXd(stiffness * MatrixXd::Identity(x.size(), x.size())); };
  toy.on_accepted = [&](const VectorXd&) { return stiffness < 8 ? (stiffness *= 2, true) : false; };
  linalg::Vector x = distribute(comm, VectorXd::Zero(3));
  const NewtonResult result = minimize(toy, space, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_EQ(result.iterations, 4);
  EXPECT_LT((gather(x) - VectorXd::Constant(3, 0.125)).norm(), 1e-14);
  EXPECT_DOUBLE_EQ(result.value, toy.f(gather(x)));
}

TEST_F(Minimize, CapOnIterations) {
  ToyObjective toy = rosenbrock();
  linalg::Vector x = distribute(comm, (VectorXd(2) << -1.2, 1).finished());
  NewtonOptions chosen = options();
  chosen.max_iterations = 3;
  const NewtonResult result = minimize(toy, space, x, chosen);
  EXPECT_EQ(result.outcome, NewtonOutcome::max_iterations);
  EXPECT_FALSE(result.converged());
  EXPECT_EQ(result.iterations, 3);
  EXPECT_DOUBLE_EQ(toy.f(gather(x)), result.value);
}

TEST_F(Minimize, NoMinimum) {
  ToyObjective toy;
  toy.f = [](const VectorXd& x) { return -x.sum(); };
  toy.df = [](const VectorXd& x) { return VectorXd(-VectorXd::Ones(x.size())); };
  toy.ddf = [](const VectorXd& x) { return MatrixXd(1e-7 * MatrixXd::Identity(x.size(), x.size())); };
  linalg::Vector x = distribute(comm, VectorXd::Zero(2));
  NewtonOptions scaled = options();
  scaled.length_scale = 1;
  const NewtonResult result = minimize(toy, space, x, scaled);
  EXPECT_FALSE(result.converged());
  EXPECT_EQ(result.outcome, NewtonOutcome::unbounded);
  EXPECT_LT(result.iterations, 3);
  EXPECT_EQ(reports.size(), 1u);
  // Without a length there is nothing to judge by.
  scaled.length_scale = 0;
  scaled.max_iterations = 5;
  EXPECT_EQ(minimize(toy, space, x, scaled).outcome, NewtonOutcome::max_iterations);
}

// Points on circles: blocks (cos, sin), tangent vectors are angles.
class Circles final : public Manifold {
public:
  explicit Circles(std::shared_ptr<const linalg::VectorLayout> angles) : angles_(std::move(angles)) {}
  std::shared_ptr<const linalg::VectorLayout> tangent_layout(const linalg::Vector&) const override {
    return angles_;
  }
  void retract(const linalg::Vector& x, const linalg::Vector& d, double s,
               linalg::Vector& result) const override {
    const auto from = x.owned(), turn = d.owned();
    const auto to = result.write_owned();
    for (std::size_t i = 0; i < turn.size(); ++i) {
      const double c = std::cos(s * turn[i]), w = std::sin(s * turn[i]);
      to[2 * i] = c * from[2 * i] - w * from[2 * i + 1];
      to[2 * i + 1] = w * from[2 * i] + c * from[2 * i + 1];
    }
  }
  void difference(const linalg::Vector& x, const linalg::Vector& y, linalg::Vector& d) const override {
    const auto from = x.local(), to = y.local();
    const auto turn = d.write_local();
    for (std::size_t i = 0; i < turn.size(); ++i)
      turn[i] = std::atan2(from[2 * i] * to[2 * i + 1] - from[2 * i + 1] * to[2 * i],
                           from[2 * i] * to[2 * i] + from[2 * i + 1] * to[2 * i + 1]);
  }

private:
  std::shared_ptr<const linalg::VectorLayout> angles_;
};

// The defaults of a manifold follow from its retraction and difference.
TEST_F(Minimize, MeansAndMovesOfAManifold) {
  const int n = 4;
  const Circles circles(even_layout(comm, n));
  const auto at = [&](double first, double step) {
    linalg::Vector x(even_layout(comm, n, 2));
    VectorXd points(2 * n);
    for (int i = 0; i < n; ++i)
      points.segment<2>(2 * i) << std::cos(first + step * i), std::sin(first + step * i);
    scatter(points, x);
    return x;
  };
  const auto expect_same = [&](const linalg::Vector& x, const linalg::Vector& y) {
    EXPECT_LT((gather(x) - gather(y)).norm(), 1e-14);
  };
  const linalg::Vector x = at(0.2, 0.1), y = at(0.9, -0.2), z = at(0.3, 0.3);
  linalg::Vector d(even_layout(comm, n));
  circles.difference(x, y, d);
  linalg::Vector moved = x;
  circles.move(moved, 1, d);
  expect_same(moved, y);
  linalg::Vector mean(even_layout(comm, n, 2));
  circles.combine(std::array{0.5, 0.2, 0.3}, std::array{&x, &y, &z}, mean);
  expect_same(mean, at(0.5 * 0.2 + 0.2 * 0.9 + 0.3 * 0.3, 0.5 * 0.1 - 0.2 * 0.2 + 0.3 * 0.3));
}

TEST_F(Minimize, OnAManifoldWithAnotherTangentSpace) {
  const int n = 4;
  const auto angle = [](const VectorXd& x, Eigen::Index i) { return std::atan2(x[2 * i + 1], x[2 * i]); };
  const auto target = [](Eigen::Index i) { return 0.4 + 0.3 * static_cast<double>(i); };
  ToyObjective toy;
  toy.f = [&](const VectorXd& x) {
    double sum = 0;
    for (Eigen::Index i = 0; i < n; ++i) sum -= std::cos(angle(x, i) - target(i));
    return sum;
  };
  toy.df = [&](const VectorXd& x) {
    VectorXd g(n);
    for (Eigen::Index i = 0; i < n; ++i) g[i] = std::sin(angle(x, i) - target(i));
    return g;
  };
  toy.ddf = [&](const VectorXd& x) {
    VectorXd h(n);
    for (Eigen::Index i = 0; i < n; ++i) h[i] = std::cos(angle(x, i) - target(i));
    return MatrixXd(h.asDiagonal());
  };
  linalg::Vector x(even_layout(comm, n, 2));
  VectorXd start(2 * n);
  for (int i = 0; i < n; ++i) start.segment<2>(2 * i) << 1, 0;
  scatter(start, x);
  const Circles circles(even_layout(comm, n));
  const NewtonResult result = minimize(toy, circles, x, options());
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
  EXPECT_GT(result.chord_steps, 0) << "they move along the manifold too";
  const VectorXd end = gather(x);
  for (Eigen::Index i = 0; i < n; ++i) {
    EXPECT_NEAR(angle(end, i), target(i), 1e-12);
    EXPECT_NEAR(end.segment<2>(2 * i).norm(), 1, 1e-14);
  }
}

} // namespace
} // namespace recoil::newton::testing
