#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "recoil/base/error.hpp"
#include "recoil/inverse/fit_statistics.hpp"
#include "recoil/inverse/profile.hpp"
#include "recoil/inverse/residual_factor.hpp"

namespace recoil::inverse {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A row of r and of its Jacobian at x.
struct Row {
  double residual;
  std::vector<double> derivatives;
};
using Rows = std::function<Row(std::size_t row, std::span<const double> x)>;

/// J = |r|^2, each row on another rank.
class Squares final : public DesignObjective {
public:
  Squares(const parallel::Communicator& comm, std::size_t count, Rows rows)
      : comm_(comm), count_(count), rows_(std::move(rows)) {}

  double value(std::span<const double> x) override {
    ++values;
    if (!is_solvable(x)) return infinite;
    double sum = 0;
    visit(x, [&](const Row& row) { sum += row.residual * row.residual; });
    return comm_.sum(sum);
  }
  std::vector<double> gradient(std::span<const double> x) override {
    std::vector<double> g(x.size(), 0.0);
    visit(x, [&](const Row& row) {
      for (std::size_t i = 0; i < g.size(); ++i) g[i] += 2 * row.residual * row.derivatives[i];
    });
    comm_.sum(g);
    return g;
  }
  HessianForm hessian_form() const override { return HessianForm::matrix; }
  MatrixXd residual_factor(std::span<const double> x) override {
    const Eigen::Index n = std::ssize(x);
    std::vector<double> rows((n + 1) * count_, 0.0);
    for (std::size_t row = comm_.rank(); row < count_; row += comm_.size()) {
      const Row own = rows_(row, x);
      std::ranges::copy(own.derivatives, rows.begin() + row * (n + 1));
      rows[row * (n + 1) + n] = own.residual;
    }
    comm_.sum(rows);
    return triangular_factor(Eigen::Map<const MatrixXd>(rows.data(), n + 1, count_).transpose());
  }
  std::vector<double> hessian(std::span<const double> x) {
    const std::size_t n = x.size();
    std::vector<double> H(n * n, 0.0);
    visit(x, [&](const Row& row) {
      for (std::size_t i = 0; i < H.size(); ++i) H[i] += 2 * row.derivatives[i % n] * row.derivatives[i / n];
    });
    comm_.sum(H);
    return H;
  }

  int values = 0;
  std::function<bool(std::span<const double>)> is_solvable = [](std::span<const double>) { return true; };

private:
  template <class Act>
  void visit(std::span<const double> x, Act act) {
    for (std::size_t row = comm_.rank(); row < count_; row += comm_.size()) act(rows_(row, x));
  }
  const parallel::Communicator& comm_;
  std::size_t count_;
  Rows rows_;
};

/// Noise of 5 % on 0.8 exp(-1.3 t) over a little more than its half-life: curved enough for intervals that
/// are not symmetric.
class Decay : public ::testing::Test {
protected:
  static constexpr std::size_t count = 9;
  static constexpr double sd = 0.05;

  Decay() {
    std::mt19937_64 random(11);
    for (std::size_t i = 0; i < count; ++i) {
      // Of the same numbers with every standard library.
      const double noise = (random() >> 11) * 0x1p-53 + (random() >> 11) * 0x1p-53 - 1;
      observed_.push_back(0.8 * std::exp(-1.3 * time(i)) + sd * noise);
    }
    variables_ = {{0.7, 1}, {-infinite, -infinite}, {infinite, infinite}, {1, 1}};
    variables_.start = optimize(comm_, squares_, variables_, linalg::DescentMethod::gauss_newton,
                                {50, 1e-12, 0}, [](const linalg::Iterate&) { return std::string(); })
                           .x;
  }

  static double time(std::size_t row) { return 0.1 * row; }
  Row row(std::size_t i, std::span<const double> x) const {
    const double decay = std::exp(-x[1] * time(i)) / sd;
    return {x[0] * decay - observed_[i] / sd, {decay, -time(i) * x[0] * decay}};
  }
  double chi_squared(double a, double b) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::pow(row(i, std::vector{a, b}).residual, 2);
    return sum;
  }
  /// min over a, in which r is linear.
  double profile_of_rate(double b) const {
    double products = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double decay = std::exp(-b * time(i));
      products += decay * observed_[i];
      squares += decay * decay;
    }
    return chi_squared(products / squares, b);
  }
  /// min over b: of a parabola around the least of many values.
  double profile_of_amplitude(double a) const {
    double best = infinite, at = 0;
    for (double width = 4, centre = 2; width > 1e-9; width /= 10) {
      for (int k = -20; k <= 20; ++k)
        if (const double value = chi_squared(a, centre + width * k / 10); value < best) {
          best = value;
          at = centre + width * k / 10;
        }
      centre = at;
    }
    return best;
  }
  /// Where a profile comes to `most` between a value below and one above it.
  static double crossing(const std::function<double(double)>& profile, double most, double below,
                         double above) {
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (below + above);
      (profile(middle) < most ? below : above) = middle;
    }
    return below;
  }
  static double level() { return std::pow(normal_quantile(), 2); }
  double least() const { return chi_squared(variables_.start[0], variables_.start[1]); }
  /// Gauss-Newton's half interval.
  double gauss_newton(std::size_t which) {
    const std::vector<double> entries = squares_.hessian(variables_.start);
    const Eigen::Matrix2d H = Eigen::Map<const Eigen::Matrix2d>(entries.data());
    return normal_quantile() * std::sqrt(2 * H.inverse()(which, which));
  }
  Profile find(std::size_t which) { return find_profile(comm_, squares_, variables_, which, level()); }
  void expect_end(const ProfileEnd& end, std::size_t which, double exact) {
    ASSERT_TRUE(end.value);
    EXPECT_FALSE(end.at_bound);
    EXPECT_NEAR(*end.value, exact, 1e-3 * std::abs(exact - variables_.start[which]));
    EXPECT_EQ(*end.value, comm_.max(*end.value)) << "another value on another rank";
  }

  parallel::Communicator comm_{MPI_COMM_WORLD};
  std::vector<double> observed_;
  Squares squares_{comm_, count, [this](std::size_t i, std::span<const double> x) { return row(i, x); }};
  DesignVariables variables_;
};

TEST_F(Decay, HasTheIntervalsOfBruteForce) {
  const double most = least() + level();
  const auto of_rate = [&](double b) { return profile_of_rate(b); };
  const auto of_amplitude = [&](double a) { return profile_of_amplitude(a); };
  const double a = variables_.start[0], b = variables_.start[1];
  for (const std::size_t which : {0, 1}) {
    squares_.values = 0;
    const Profile found = find(which);
    EXPECT_LE(squares_.values, 30);
    const auto profile = which == 0 ? std::function<double(double)>(of_amplitude) : of_rate;
    const double fit = variables_.start[which];
    for (const int side : {0, 1})
      expect_end(found.ends[side], which, crossing(profile, most, fit, fit + (side == 0 ? -3 : 3)));
    EXPECT_TRUE(std::ranges::is_sorted(found.points, {}, &ProfilePoint::value));
    for (const ProfilePoint& point : found.points)
      EXPECT_NEAR(point.rise, profile(point.value) - least(), 2e-4 * level()) << which << " " << point.value;
  }
  // A model that was taken to be linear would not do.
  const Profile rate = find(1);
  const double below = b - *rate.ends[0].value, above = *rate.ends[1].value - b;
  EXPECT_GT(above / below, 1.02);
  EXPECT_GT(std::abs(above / gauss_newton(1) - 1), 0.01);
  EXPECT_GT(a, 0);
}

TEST_F(Decay, EndsOpenAtABound) {
  variables_.lower[1] = variables_.start[1] - 0.5 * gauss_newton(1);
  const Profile found = find(1);
  EXPECT_TRUE(found.ends[0].at_bound);
  EXPECT_FALSE(found.ends[0].value);
  EXPECT_TRUE(found.ends[1].value);
  EXPECT_EQ(found.points.front().value, variables_.lower[1]);
  EXPECT_LT(found.points.front().rise, level());
}

/// A bound that a secant would have passed, but that the interval does not reach.
TEST_F(Decay, FindsAnEndBeforeABound) {
  const double exact = crossing([&](double b) { return profile_of_rate(b); }, least() + level(),
                                variables_.start[1], variables_.start[1] + 3);
  variables_.upper[1] = exact + 1e-2 * (exact - variables_.start[1]);
  expect_end(find(1).ends[1], 1, exact);
}

/// The other variable runs into a bound on the way: the interval becomes narrower.
TEST_F(Decay, KeepsTheOthersBetweenTheirBounds) {
  variables_.upper[0] = variables_.start[0] + 0.2 * gauss_newton(0);
  const double exact = crossing(
      [&](double b) {
        double products = 0, squares = 0;
        for (std::size_t i = 0; i < count; ++i) {
          products += std::exp(-b * time(i)) * observed_[i];
          squares += std::exp(-2 * b * time(i));
        }
        return chi_squared(std::min(products / squares, variables_.upper[0]), b);
      },
      least() + level(), variables_.start[1], variables_.start[1] + 3);
  expect_end(find(1).ends[1], 1, exact);
}

TEST_F(Decay, TakesFailedRunsForInfinite) {
  const double last = variables_.start[1] + 0.6 * gauss_newton(1);
  squares_.is_solvable = [&](std::span<const double> x) { return x[1] <= last; };
  const Profile found = find(1);
  expect_end(found.ends[1], 1, last);
  EXPECT_EQ(found.points.back().rise, infinite);
}

TEST_F(Decay, RefusesWhatIsNoMinimum) {
  variables_.start[0] += 0.3;
  EXPECT_THROW(find(1), Error);
}

/// r is linear in three variables, one of which has no effect: the interval is Gauss-Newton's.
TEST(Profile, IsGaussNewtonsWhereTheModelIsLinear) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  MatrixXd J(7, 3);
  for (int i = 0; i < 7; ++i) J.row(i) << 1, 30.0 * i, 0;
  const VectorXd y = VectorXd::LinSpaced(7, 0, 1).array().square();
  Squares squares(comm, 7, [&](std::size_t i, std::span<const double> x) {
    return Row{J.row(i).dot(Eigen::Map<const VectorXd>(x.data(), 3)) - y[i], {J(i, 0), J(i, 1), J(i, 2)}};
  });
  const VectorXd fit = J.completeOrthogonalDecomposition().solve(y);
  const DesignVariables variables{
      {fit[0], fit[1], 0}, {-infinite, -infinite, -5}, {infinite, infinite, infinite}, {1, 1, 1}};
  const Eigen::Matrix2d covariance = (J.leftCols(2).transpose() * J.leftCols(2)).inverse();
  const double level = 0.07;
  for (const std::size_t which : {0, 1}) {
    const Profile found = find_profile(comm, squares, variables, which, level);
    const double half = std::sqrt(level * covariance(which, which));
    EXPECT_NEAR((*found.ends[0].value - fit[which]) / half, -1, 1e-6);
    EXPECT_NEAR((*found.ends[1].value - fit[which]) / half, 1, 1e-6);
    EXPECT_EQ(found.points.size(), 3);
  }
  const Profile of_nothing = find_profile(comm, squares, variables, 2, level);
  EXPECT_FALSE(of_nothing.ends[0].value);
  EXPECT_TRUE(of_nothing.ends[0].at_bound);
  EXPECT_FALSE(of_nothing.ends[1].value);
  EXPECT_FALSE(of_nothing.ends[1].at_bound);
}

/// r = (exp(-z) - 1) / 0.7 of one variable comes to no more than 1 / 0.7 as z grows.
TEST(Profile, MayNeverReachTheLevel) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Squares squares(comm, 1, [](std::size_t, std::span<const double> x) {
    return Row{std::expm1(-x[0]) / 0.7, {-std::exp(-x[0]) / 0.7}};
  });
  const Profile found = find_profile(comm, squares, {{0}, {-infinite}, {infinite}, {1}}, 0, 3.84);
  ASSERT_TRUE(found.ends[0].value);
  EXPECT_NEAR(*found.ends[0].value, -std::log1p(0.7 * std::sqrt(3.84)), 1e-3);
  EXPECT_FALSE(found.ends[1].value);
  EXPECT_FALSE(found.ends[1].at_bound);
  EXPECT_NEAR(found.points.back().rise, 1 / 0.49, 1e-3);
}

} // namespace
} // namespace recoil::inverse
