#include "recoil/inverse/linear_model.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "recoil/base/error.hpp"
#include "recoil/inverse/residual_factor.hpp"

namespace recoil::inverse {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(int rows, int columns, int seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal;
  MatrixXd M(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) M(i, j) = normal(bits);
  return M;
}

TEST(LinearModel, RootIsOfTheCovariance) {
  const MatrixXd J = random_matrix(9, 3, 1);
  const FitSolution solution{triangular_factor(J).topRows(3), 0, 9, true, {false, true, false}};
  const MatrixXd W = covariance_root(solution, 0.25);
  MatrixXd free(9, 2);
  free << J.col(0), J.col(2);
  const MatrixXd C = 0.25 * (free.transpose() * free).inverse();
  EXPECT_EQ(W.row(1).norm(), 0);
  const MatrixXd found = W * W.transpose();
  EXPECT_NEAR(found(0, 0), C(0, 0), 1e-14);
  EXPECT_NEAR(found(0, 2), C(0, 1), 1e-14);
  EXPECT_NEAR(found(2, 2), C(1, 1), 1e-14);
  MatrixXd open = J;
  open.col(2) = 2 * open.col(0);
  EXPECT_THROW(covariance_root({triangular_factor(open).topRows(3), 0, 9, true, {false, false, false}}, 1),
               InputError);
}

/// Against fits that leave a part out.
TEST(LinearModel, PredictsPartsAsFitsWithoutThem) {
  constexpr int parts = 4, rows = 5, n = 3;
  const MatrixXd J = random_matrix(parts * rows, n, 2), noise = random_matrix(parts * rows, 1, 3);
  const VectorXd best = J.householderQr().solve(-noise.col(0)), r = noise + J * best;
  std::vector<MatrixXd> factors;
  for (int e = 0; e < parts; ++e) {
    MatrixXd own(rows, n + 1);
    own << J.middleRows(e * rows, rows), r.segment(e * rows, rows);
    factors.push_back(triangular_factor(own));
  }
  const auto found = leave_one_out(factors, MatrixXd(0, n + 1), {false, false, false});
  for (int e = 0; e < parts; ++e) {
    MatrixXd others = J;
    VectorXd of_others = noise;
    others.middleRows(e * rows, rows).setZero();
    of_others.segment(e * rows, rows).setZero();
    const VectorXd x = others.householderQr().solve(-of_others);
    const double predicted = (noise + J * x).middleRows(e * rows, rows).squaredNorm();
    EXPECT_NEAR(found[e].squares, r.segment(e * rows, rows).squaredNorm(), 1e-12);
    ASSERT_TRUE(found[e].predicted);
    EXPECT_NEAR(*found[e].predicted, predicted, 1e-11 * predicted);
    EXPECT_GT(predicted, found[e].squares);
  }
  // Alone, a part that has all of a variable leaves it open.
  for (int e = 1; e < parts; ++e) factors[e].col(1).setZero();
  EXPECT_FALSE(leave_one_out(factors, MatrixXd(0, n + 1), {false, false, false})[0].predicted);
  EXPECT_TRUE(leave_one_out(factors, MatrixXd(0, n + 1), {false, true, false})[0].predicted);
  MatrixXd prior = MatrixXd::Zero(1, n + 1);
  prior(0, 1) = 2;
  EXPECT_TRUE(leave_one_out(factors, prior, {false, false, false})[0].predicted);
}

/// m more data of a mean with m known ones: half of ln 2, and a deviation smaller by sqrt(2).
TEST(LinearModel, GainIsThatOfRepeatedMeasurements) {
  const MatrixXd known = MatrixXd::Constant(1, 1, 1000), more = MatrixXd::Constant(1, 1, 1000);
  const Gain gain = information_gain(known, more, std::vector{1.0}, {false}, 1);
  EXPECT_NEAR(gain.nats, 0.5 * std::log(2), 1e-6);
  EXPECT_NEAR(gain.deviations[0], 1e-3 / std::sqrt(2), 1e-15);
}

TEST(LinearModel, GainIsHalfTheLogOfDeterminants) {
  const MatrixXd J = 1e3 * random_matrix(6, 3, 4), more = 1e3 * random_matrix(4, 3, 5);
  const Gain gain =
      information_gain(triangular_factor(J).topRows(3), more, std::vector(3, 1e3), {false, false, false}, 4);
  const MatrixXd before = J.transpose() * J, after = before + more.transpose() * more;
  EXPECT_NEAR(gain.nats, 0.5 * std::log(after.determinant() / before.determinant()), 1e-9);
  const MatrixXd C = 4 * after.inverse();
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(gain.deviations[i] / std::sqrt(C(i, i)), 1, 1e-12);
}

/// What the fit leaves open counts by its range.
TEST(LinearModel, GainOfWhatWasOpenIsFinite) {
  MatrixXd known = MatrixXd::Zero(2, 2), more = MatrixXd::Zero(1, 2);
  known(0, 0) = 10;
  more(0, 1) = 10;
  const Gain gain = information_gain(known, more, std::vector{1.0, 2.0}, {false, false}, 1);
  EXPECT_NEAR(gain.nats, 0.5 * std::log(1 + 400), 1e-12);
  EXPECT_NEAR(gain.deviations[1], 0.1, 1e-15);
  EXPECT_TRUE(
      std::isnan(information_gain(known, known, std::vector{1.0, 2.0}, {false, false}, 1).deviations[0]));
}

TEST(LinearModel, NormalNumbersAreNormal) {
  const std::vector<double> z = standard_normal(20001, 7);
  double mean = 0, square = 0, fourth = 0;
  for (const double one : z) {
    mean += one / z.size();
    square += one * one / z.size();
    fourth += std::pow(one, 4) / z.size();
  }
  EXPECT_NEAR(mean, 0, 0.03);
  EXPECT_NEAR(square, 1, 0.04);
  EXPECT_NEAR(fourth, 3, 0.3);
  EXPECT_EQ(standard_normal(3, 7), std::vector<double>(z.begin(), z.begin() + 3));
}

} // namespace
} // namespace recoil::inverse
