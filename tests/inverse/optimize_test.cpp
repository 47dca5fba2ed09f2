#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/inverse/optimize.hpp"

namespace recoil::inverse {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using linalg::DescentMethod;
using linalg::Iterate;

/// sum_i (i + 1) (x_i / unit_i - i - 1)^2 of n variables, each of which another rank looks at; infinite where
/// x_0 / unit_0 > 3.
class Paraboloid : public DesignObjective {
public:
  Paraboloid(const parallel::Communicator& comm, std::vector<double> unit)
      : comm_(comm), unit_(std::move(unit)) {}

  double value(std::span<const double> x) override {
    ++values;
    if (values == fails_at) throw FileError("a file is full");
    if (x[0] / unit_[0] > 3) return infinity;
    double sum = 0;
    for (std::size_t i = comm_.rank(); i < x.size(); i += comm_.size())
      sum += (i + 1.0) * std::pow(distance(x, i), 2);
    return comm_.sum(sum) - depth;
  }
  std::vector<double> gradient(std::span<const double> x) override {
    std::vector<double> g(x.size(), 0.0);
    for (std::size_t i = comm_.rank(); i < x.size(); i += comm_.size())
      g[i] = 2 * (i + 1.0) * distance(x, i) / unit_[i];
    comm_.sum(g);
    return g;
  }

  HessianForm hessian_form() const override { return form; }
  Eigen::MatrixXd residual_factor(std::span<const double> x) override {
    if (form != HessianForm::matrix) return DesignObjective::residual_factor(x);
    const Eigen::Index n = std::ssize(x);
    std::vector<double> R((n + 1) * (n + 1), 0.0);
    for (std::size_t i = comm_.rank(); i < x.size(); i += comm_.size()) {
      R[i * (n + 2)] = std::sqrt(i + 1.0) / unit_[i];
      R[n * (n + 1) + i] = std::sqrt(i + 1.0) * distance(x, i);
    }
    comm_.sum(R);
    return Eigen::Map<const Eigen::MatrixXd>(R.data(), n + 1, n + 1);
  }
  std::vector<double> hessian_product(std::span<const double> x, std::span<const double> d) override {
    ++products;
    if (products == fails_at_product) throw FileError("a file is full");
    std::vector<double> product(x.size(), 0.0);
    for (std::size_t i = comm_.rank(); i < x.size(); i += comm_.size())
      product[i] = 2 * (i + 1.0) / (unit_[i] * unit_[i]) * d[i];
    comm_.sum(product);
    return product;
  }

  bool has_preconditioner() const override { return is_preconditioned; }
  std::vector<double> precondition(std::span<const double> r) const override {
    std::vector<double> z(r.begin(), r.end());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= unit_[i] * unit_[i] / (2 * (i + 1.0));
    return z;
  }

  int values = 0, fails_at = -1, products = 0, fails_at_product = -1;
  HessianForm form = HessianForm::none;
  bool is_preconditioned = false;
  double depth = 0; ///< by which it is lower

private:
  double distance(std::span<const double> x, std::size_t i) const { return x[i] / unit_[i] - i - 1; }
  const parallel::Communicator& comm_;
  std::vector<double> unit_;
};

class Optimize : public ::testing::Test {
protected:
  static DesignVariables variables() {
    return {{0, 0, 0, 0},
            std::vector<double>(4, -infinity),
            {infinity, 1.5e6, infinity, infinity},
            {1, 1 << 20, 0.25, 1}};
  }
  parallel::Communicator comm_{MPI_COMM_WORLD};
  Paraboloid paraboloid_{comm_, {1, 1 << 20, 0.25, 1}};
};

TEST_F(Optimize, FindsTheMinimumBetweenBoundsOnEveryRank) {
  int shown = 0;
  const auto found =
      optimize(comm_, paraboloid_, variables(), DescentMethod::quasi_newton, {}, [&](const Iterate& at) {
        EXPECT_EQ(at.iteration, shown++);
        EXPECT_EQ(at.x.size(), 4);
        return std::string();
      });
  EXPECT_NEAR(found.x[0], 1, 1e-5);
  EXPECT_EQ(found.x[1], 1.5e6);
  EXPECT_NEAR(found.x[2], 0.75, 1e-5);
  EXPECT_NEAR(found.x[3], 4, 1e-5);
  EXPECT_NEAR(found.value, 2 * std::pow(2 - 1.5e6 / (1 << 20), 2), 1e-8);
  EXPECT_NE(found.reason.find("gradient"), std::string::npos) << found.reason;
  EXPECT_GT(shown, 2);
}

TEST_F(Optimize, StopsByEachOfItsRules) {
  const auto end = [&](StopRules rules) {
    const auto found = optimize(comm_, paraboloid_, variables(), DescentMethod::quasi_newton, rules,
                                [](const Iterate&) { return std::string(); });
    EXPECT_EQ(found.is_at_limit, found.reason.ends_with("iterations are done")) << found.reason;
    return found.reason;
  };
  EXPECT_EQ(end({2}), "2 iterations are done");
  EXPECT_EQ(end({0}), "0 iterations are done");
  EXPECT_EQ(end({100, 0, 0.1}), "the step is at most 0.1");
  EXPECT_EQ(end({100, 0, 0, 10}), "the objective is at most 10");
  EXPECT_EQ(end({100, 0.5}), "the gradient is at most 0.5 of that at the start");
}

TEST_F(Optimize, GoesOnBelowZero) {
  paraboloid_.depth = 1e4;
  const auto found = optimize(comm_, paraboloid_, variables(), DescentMethod::quasi_newton, {},
                              [](const Iterate&) { return std::string(); });
  EXPECT_NEAR(found.x[0], 1, 1e-4);
  EXPECT_NEAR(found.x[3], 4, 1e-4);
}

TEST_F(Optimize, StopsAtTheNoiseWhereItIsAskedTo) {
  StopRules rules;
  rules.data_count = 12;
  std::vector<double> values;
  const auto found =
      optimize(comm_, paraboloid_, variables(), DescentMethod::quasi_newton, rules, [&](const Iterate& at) {
        values.push_back(at.value);
        return std::string();
      });
  EXPECT_EQ(found.reason, "chi^2 is at most the number of data, 12: what remains is noise");
  EXPECT_LE(found.value, 12);
  EXPECT_GT(values[values.size() - 2], 12);
}

/// The paraboloid is its own model: the step to the bounds and the one along them.
TEST_F(Optimize, TakesGaussNewtonStepsOnEveryRank) {
  for (const HessianForm form : {HessianForm::matrix, HessianForm::products}) {
    Paraboloid paraboloid(comm_, {1, 1 << 20, 0.25, 1});
    paraboloid.form = form;
    int iterations = 0;
    const auto found =
        optimize(comm_, paraboloid, variables(), DescentMethod::gauss_newton, {}, [&](const Iterate& at) {
          iterations = at.iteration;
          return std::string();
        });
    EXPECT_NEAR(found.x[0], 1, 1e-6);
    EXPECT_EQ(found.x[1], 1.5e6);
    EXPECT_NEAR(found.x[2], 0.75, 1e-6);
    EXPECT_NEAR(found.x[3], 4, 1e-6);
    EXPECT_NE(found.reason.find("gradient"), std::string::npos) << found.reason;
    EXPECT_LE(iterations, 4);
    EXPECT_EQ(paraboloid.products > 0, form == HessianForm::products);
  }
}

/// r = (exp(10 x) - 1, 2) / 4, which is enormous away from x = 0, its minimum.
class Steep : public DesignObjective {
public:
  double value(std::span<const double> x) override { return (std::pow(r(x), 2) + 4) / 16; }
  std::vector<double> gradient(std::span<const double> x) override { return {2 * r(x) * slope(x) / 16}; }
  HessianForm hessian_form() const override { return HessianForm::matrix; }
  Eigen::MatrixXd residual_factor(std::span<const double> x) override {
    return Eigen::Matrix2d{{slope(x) / 4, r(x) / 4}, {0, 0.5}};
  }

private:
  static double r(std::span<const double> x) { return std::exp(10 * x[0]) - 1; }
  static double slope(std::span<const double> x) { return 10 * std::exp(10 * x[0]); }
};

/// At 2.3 the gradient is 1e-6 of that at 3.
TEST_F(Optimize, DoesNotMeasureTheEndByAnEnormousStart) {
  Steep steep;
  const DesignVariables one{{3}, {-infinity}, {infinity}, {1}};
  for (const bool ends_at_noise : {false, true}) {
    StopRules rules;
    rules.ends_at_noise = ends_at_noise;
    Iterate last;
    const auto found =
        optimize(comm_, steep, one, DescentMethod::gauss_newton, rules, [&](const Iterate& at) {
          last = at;
          return std::string();
        });
    EXPECT_NEAR(found.x[0], 0, 1e-5);
    EXPECT_TRUE(found.is_asked);
    EXPECT_LE(last.largest_cosine, 1e-3);
    EXPECT_LE(last.whole_step, 1e-4);
  }
}

/// With the inverse of the Hessian one conjugate gradient step is the solution.
TEST_F(Optimize, PreconditionsConjugateGradients) {
  DesignVariables free{std::vector<double>(20, 0.0),
                       std::vector<double>(20, -infinity),
                       std::vector<double>(20, infinity),
                       {}};
  for (int i = 0; i < 20; ++i) free.unit.push_back(std::exp2(i % 5 - 2));
  StopRules rules;
  rules.gradient_tolerance = 1e-8;
  std::vector<int> products;
  for (const bool is_preconditioned : {false, true}) {
    Paraboloid paraboloid(comm_, free.unit);
    paraboloid.form = HessianForm::products;
    paraboloid.is_preconditioned = is_preconditioned;
    free.start.assign(20, 0.0);
    for (int i = 0; i < 20; ++i) free.start[i] = (i - 0.5) * free.unit[i];
    const auto found = optimize(comm_, paraboloid, free, DescentMethod::gauss_newton, rules,
                                [](const Iterate&) { return std::string(); });
    for (int i = 0; i < 20; ++i) EXPECT_NEAR(found.x[i] / free.unit[i], i + 1, 1e-5);
    products.push_back(paraboloid.products);
  }
  EXPECT_EQ(products[1], 1);
  EXPECT_GT(products[0], 5);
}

TEST_F(Optimize, MakesErrorsOfTheModelThoseOfEveryRank) {
  const auto go = [&] {
    return optimize(comm_, paraboloid_, variables(), DescentMethod::gauss_newton, {},
                    [](const Iterate&) { return std::string(); });
  };
  EXPECT_THROW(go(), InputError); // there is none
  paraboloid_.form = HessianForm::products;
  paraboloid_.fails_at_product = 2;
  EXPECT_THROW(go(), FileError);
}

TEST_F(Optimize, EndsWhereItIsTold) {
  const auto found =
      optimize(comm_, paraboloid_, variables(), DescentMethod::conjugate_gradients, {},
               [](const Iterate& at) { return std::string(at.iteration == 1 ? "enough" : ""); });
  EXPECT_EQ(found.reason, "enough");
  EXPECT_TRUE(found.is_asked);
}

TEST_F(Optimize, MakesErrorsThoseOfEveryRank) {
  const auto go = [&](auto on_iterate) {
    return optimize(comm_, paraboloid_, variables(), DescentMethod::quasi_newton, {}, on_iterate);
  };
  const auto nothing = [](const Iterate&) { return std::string(); };
  paraboloid_.fails_at = 3;
  EXPECT_THROW(go(nothing), FileError);
  paraboloid_.fails_at = -1;
  EXPECT_THROW(go([](const Iterate& at) -> std::string {
                 if (at.iteration == 1) throw Error(ExitCode::interrupted, "stop");
                 return "";
               }),
               Error);
  // Only the first rank sees that there is no value to start from.
  DesignVariables outside = variables();
  outside.start[0] = 5;
  EXPECT_THROW(optimize(comm_, paraboloid_, outside, DescentMethod::quasi_newton, {}, nothing), InputError);
}

} // namespace
} // namespace recoil::inverse
