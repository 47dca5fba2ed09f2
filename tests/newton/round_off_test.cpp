#include <cstring>

#include <gtest/gtest.h>

#include "newton/toy_objective.hpp"

// What happens where double precision ends.
namespace recoil::newton::testing {
namespace {

class RoundOff : public ::testing::Test {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  Euclidean space;
  int by_gradient = 0;

  // Tolerances that nothing can meet.
  NewtonOptions impossible() {
    NewtonOptions result;
    result.gradient_tolerance = result.relative_gradient_tolerance = result.first_gradient_tolerance = 0;
    result.on_iteration = [this](const IterationReport& report) { by_gradient += report.by_gradient; };
    return result;
  }
};

// Noise of relative size `size` that depends on every bit of `x`.
VectorXd noise(const VectorXd& x, double size) {
  VectorXd result(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, &x[i], sizeof bits);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    result[i] = size * (static_cast<double>(bits >> 11) * 0x1p-52 - 1);
  }
  return result;
}

TEST_F(RoundOff, GradientDecidesWhereTheValueCannot) {
  const VectorXd stiffness = VectorXd::LinSpaced(6, 0.5, 3);
  // Differences of this value are multiples of 1.2e-4.
  ToyObjective toy = springs(stiffness, 1, 1e12);
  linalg::Vector x = distribute(comm, at_rest(6));
  NewtonOptions options = impossible();
  options.gradient_tolerance = 1e-13;
  const NewtonResult result = minimize(toy, space, x, options);
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << name(result.outcome);
  EXPECT_GT(by_gradient, 0);
  EXPECT_LT(result.iterations, 10);
  EXPECT_LT((gather(x) - springs_solution(stiffness, 1)).norm(), 1e-12);
}

TEST_F(RoundOff, UnderestimatedResolutionOfTheValue) {
  // The noise of the value is a thousand times what the objective says.
  const VectorXd stiffness = VectorXd::LinSpaced(6, 0.5, 3);
  ToyObjective toy = springs(stiffness, 1, 1);
  toy.f = [inner = toy.f](const VectorXd& x) { return inner(x) + noise(x, 1e-11)[0]; };
  linalg::Vector x = distribute(comm, at_rest(6) * 1.1);
  NewtonOptions options = impossible();
  options.gradient_tolerance = 1e-13;
  const NewtonResult result = minimize(toy, space, x, options);
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << name(result.outcome);
  EXPECT_LT(result.iterations, 12);
}

TEST_F(RoundOff, WellConditionedFloor) {
  const VectorXd stiffness = VectorXd::LinSpaced(9, 0.5, 3);
  ToyObjective toy = springs(stiffness, 1.3);
  linalg::Vector x = distribute(comm, at_rest(9));
  const NewtonResult result = minimize(toy, space, x, impossible());
  // The gradient may also happen to vanish to the last bit.
  EXPECT_TRUE(result.converged()) << name(result.outcome);
  EXPECT_LT(result.gradient_norm, 1e-13);
  EXPECT_LT(result.iterations, 25);
  EXPECT_LT((gather(x) - springs_solution(stiffness, 1.3)).norm(), 1e-13);
}

TEST_F(RoundOff, IllScaledFloor) {
  // Stiffnesses over ten decades, far from the origin: the gradient is stuck at 1e-16 * 1e7 * 1e3.
  VectorXd stiffness(8);
  stiffness << 1e7, 1e-3, 1e4, 1, 1e-2, 1e6, 1e3, 1e-1;
  ToyObjective toy = springs(stiffness, 1e-3);
  linalg::Vector x = distribute(comm, at_rest(8));
  const NewtonResult result = minimize(toy, space, x, impossible());
  EXPECT_EQ(result.outcome, NewtonOutcome::round_off) << name(result.outcome);
  EXPECT_LT(result.gradient_norm, 1e-7);
  EXPECT_LT(result.iterations, 40);
  EXPECT_DOUBLE_EQ(result.gradient_norm, toy.df(gather(x)).norm());
}

TEST_F(RoundOff, NoisyGradientFloor) {
  // Weak springs magnify the noise: Newton directions stay large compared with the round-off of x.
  const VectorXd stiffness = VectorXd::Constant(6, 1e-4);
  ToyObjective toy = springs(stiffness, 5e-5, 1);
  toy.df = [inner = toy.df](const VectorXd& x) { return VectorXd(inner(x) + noise(x, 1e-13)); };
  linalg::Vector x = distribute(comm, at_rest(6));
  const NewtonResult result = minimize(toy, space, x, impossible());
  EXPECT_EQ(result.outcome, NewtonOutcome::round_off) << name(result.outcome);
  EXPECT_LT(result.gradient_norm, 1e-12);
  EXPECT_LT(result.iterations, 20);
}

TEST_F(RoundOff, LengthScaleStandsInForX) {
  // Displacements near zero of a body of size 1: without its size 1e-14 is still a step.
  const MatrixXd h = MatrixXd::Identity(3, 3);
  for (const double size : {0.0, 1.0}) {
    ToyObjective toy = quadratic(h, VectorXd::Zero(3));
    toy.f = [inner = toy.f](const VectorXd& x) { return 1 + inner(x); };
    // A gradient that cannot be reduced, below the noise of positions.
    toy.df = [](const VectorXd& x) { return VectorXd(VectorXd::Constant(x.size(), 1e-14)); };
    linalg::Vector x = distribute(comm, VectorXd::Constant(3, 1e-15));
    NewtonOptions options = impossible();
    options.length_scale = size;
    options.shifts.max_count = 2;
    const NewtonOutcome outcome = minimize(toy, space, x, options).outcome;
    EXPECT_EQ(outcome, size > 0 ? NewtonOutcome::round_off : NewtonOutcome::line_search_failed)
        << name(outcome);
  }
}

TEST_F(RoundOff, OrdinaryToleranceAfterAFailedFirstStepIsConvergence) {
  // Between the strict rule of the start and the ordinary one; the gradient is all noise.
  ToyObjective toy = quadratic(MatrixXd::Identity(3, 3), VectorXd::Ones(3), 1);
  toy.df = [inner = toy.df](const VectorXd& x) { return VectorXd(inner(x) + noise(x, 1e-11)); };
  linalg::Vector x = distribute(comm, VectorXd::Ones(3));
  NewtonOptions options;
  options.gradient_tolerance = 1e-10;
  const NewtonResult result = minimize(toy, space, x, options);
  EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient) << name(result.outcome);
  EXPECT_LT(result.iterations, 5);
}

} // namespace
} // namespace recoil::newton::testing
