#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/linalg/minimize_bounded.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::linalg::gauss_newton_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// |r(x)|^2 as a BoundedFunction that counts what the optimiser asks for.
class Squares {
public:
  using Residual = std::function<VectorXd(const VectorXd&)>;
  using Jacobian = std::function<MatrixXd(const VectorXd&)>;

  Squares(std::size_t n, Residual residual, Jacobian jacobian)
      : residual_(std::move(residual)), jacobian_(std::move(jacobian)) {
    function.lower.assign(n, -infinity);
    function.upper.assign(n, infinity);
    function.value = [this](std::span<const double> x) {
      ++values;
      return residual_(map(x)).squaredNorm();
    };
    function.gradient = [this](std::span<const double> x, std::span<double> g) {
      ++gradients;
      asked_.assign(x.begin(), x.end());
      const VectorXd at = map(x);
      Eigen::Map<VectorXd>(g.data(), at.size()) = 2 * jacobian_(at).transpose() * residual_(at);
    };
    function.residual_factor = [this](std::span<const double> x) {
      expect_asked(x);
      const MatrixXd J = jacobian_(map(x));
      const Eigen::Index n = J.cols();
      MatrixXd rows(std::max(J.rows(), n + 1), n + 1);
      rows.setZero();
      rows.topRows(J.rows()) << J, residual_(map(x));
      const MatrixXd R =
          Eigen::HouseholderQR<MatrixXd>(rows).matrixQR().topRows(n + 1).triangularView<Eigen::Upper>();
      return std::vector<double>(R.data(), R.data() + R.size());
    };
  }
  Squares(const Squares&) = delete;

  void use_products() {
    function.residual_factor = nullptr;
    function.hessian_product = [this](std::span<const double> x, std::span<const double> d,
                                      std::span<double> product) {
      ++products;
      expect_asked(x);
      const MatrixXd J = jacobian_(map(x));
      Eigen::Map<VectorXd>(product.data(), std::ssize(product)) = 2 * J.transpose() * (J * map(d));
    };
  }

  BoundedFunction function;
  int values = 0, gradients = 0, products = 0;

private:
  static VectorXd map(std::span<const double> x) {
    return Eigen::Map<const VectorXd>(x.data(), std::ssize(x));
  }
  void expect_asked(std::span<const double> x) const { EXPECT_TRUE(std::ranges::equal(x, asked_)); }
  Residual residual_;
  Jacobian jacobian_;
  std::vector<double> asked_; ///< where the gradient was last asked for
};

/// 10 (x_1 - x_0^2), 1 - x_0.
VectorXd rosenbrock(const VectorXd& x) { return Eigen::Vector2d(10 * (x[1] - x[0] * x[0]), 1 - x[0]); }
MatrixXd rosenbrock_jacobian(const VectorXd& x) { return MatrixXd{{-20 * x[0], 10}, {-1, 0}}; }

/// a exp(-b t) + c at t = 0, 0.1, .. 4, without what it is for `truth`.
VectorXd decay(const VectorXd& x) {
  VectorXd r(41);
  for (int i = 0; i < 41; ++i) r[i] = x[0] * std::exp(-x[1] * 0.1 * i) + x[2];
  return r;
}
MatrixXd decay_jacobian(const VectorXd& x) {
  MatrixXd J(41, 3);
  for (int i = 0; i < 41; ++i) {
    const double e = std::exp(-x[1] * 0.1 * i);
    J.row(i) << e, -0.1 * i * x[0] * e, 1;
  }
  return J;
}
const Eigen::Vector3d truth{5, 1.5, 0.7};
VectorXd decay_misfit(const VectorXd& x) { return decay(x) - decay(truth); }

BoundedMinimum run(Squares& squares, const std::vector<double>& start, double tolerance,
                   DescentMethod method = DescentMethod::gauss_newton) {
  squares.values = squares.gradients = squares.products = 0;
  return minimize_bounded(squares.function, start, method, [&](const Iterate& at) {
    if (at.gradient_norm <= tolerance) return "gradient";
    return at.iteration >= 500 ? "iterations" : "";
  });
}

int evaluations(const Squares& squares) { return squares.values + squares.gradients; }

/// Evaluations of Gauss-Newton from all starts by those of quasi-Newton.
double share_of_quasi_newton(Squares& squares, const std::vector<std::vector<double>>& starts) {
  int ours = 0, of_quasi_newton = 0;
  for (const auto& start : starts) {
    EXPECT_EQ(run(squares, start, 1e-9, DescentMethod::quasi_newton).reason, "gradient");
    of_quasi_newton += evaluations(squares);
    EXPECT_EQ(run(squares, start, 1e-9).reason, "gradient");
    ours += evaluations(squares);
  }
  return static_cast<double>(ours) / of_quasi_newton;
}

TEST(GaussNewton, FindsTheMinimumOfRosenbrocksFunction) {
  Squares squares(2, rosenbrock, rosenbrock_jacobian);
  const BoundedMinimum found = run(squares, {-1.2, 1}, 1e-9);
  EXPECT_EQ(found.reason, "gradient");
  for (const double x : found.x) EXPECT_NEAR(x, 1, 1e-9);
  squares.use_products();
  for (const double x : run(squares, {-1.2, 1}, 1e-9).x) EXPECT_NEAR(x, 1, 1e-9);
}

TEST(GaussNewton, ConvergesQuadraticallyToAZeroResidual) {
  Squares squares(3, decay_misfit, decay_jacobian);
  std::vector<double> distances;
  minimize_bounded(squares.function, {1, 1, 0}, DescentMethod::gauss_newton, [&](const Iterate& at) {
    distances.push_back(std::hypot(at.x[0] - truth[0], at.x[1] - truth[1], at.x[2] - truth[2]));
    return std::string(at.gradient_norm <= 1e-9 ? "gradient" : "");
  });
  EXPECT_LT(distances.back(), 1e-10);
  int quadratic = 0;
  for (std::size_t i = 0; i + 1 < distances.size(); ++i)
    if (distances[i] < 1 && distances[i] > 1e-7) {
      EXPECT_LE(distances[i + 1], distances[i] * distances[i]);
      ++quadratic;
    }
  EXPECT_GE(quadratic, 2);
}

/// Three decays in a row, of six parameters.
VectorXd decays(const VectorXd& x) {
  VectorXd r = VectorXd::Zero(41);
  for (int k = 0; k < 6; k += 2)
    for (int i = 0; i < 41; ++i) r[i] += x[k] * std::exp(-x[k + 1] * 0.1 * i);
  return r;
}
MatrixXd decays_jacobian(const VectorXd& x) {
  MatrixXd J(41, 6);
  for (int k = 0; k < 6; k += 2)
    for (int i = 0; i < 41; ++i) {
      J(i, k) = std::exp(-x[k + 1] * 0.1 * i);
      J(i, k + 1) = -0.1 * i * x[k] * J(i, k);
    }
  return J;
}

/// The fewer variables there are, the sooner quasi-Newton knows the second derivatives, too.
TEST(GaussNewton, TakesFarFewerEvaluationsThanQuasiNewton) {
  Squares valley(2, rosenbrock, rosenbrock_jacobian);
  EXPECT_LE(share_of_quasi_newton(valley, {{-1.2, 1}}), 1.0 / 3);
  const VectorXd data = decays(VectorXd{{5, 0.3, 3, 1.5, 2, 6}});
  Squares three(
      6, [&](const VectorXd& x) -> VectorXd { return decays(x) - data; }, decays_jacobian);
  EXPECT_LE(share_of_quasi_newton(three, {{4, 0.2, 4, 1, 1, 4}, {6, 0.5, 2, 2, 3, 8}}), 1.0 / 3);
  Squares one(3, decay_misfit, decay_jacobian);
  EXPECT_LE(share_of_quasi_newton(one, {{1, 1, 0}, {1, 0.1, 0}, {1, 4, 0}, {10, 4, 3}, {0.1, 0.1, 3}}), 0.5);
}

/// With b at most 1 the rest is fitted as linear least squares are.
TEST(GaussNewton, FindsTheMinimumAtActiveBounds) {
  Squares squares(3, decay_misfit, decay_jacobian);
  squares.function.lower = {0, 0, 0};
  squares.function.upper = {10, 1, 10};
  const BoundedMinimum found = run(squares, {1, 0.3, 9}, 1e-8);
  EXPECT_EQ(found.reason, "gradient");
  EXPECT_EQ(found.x[1], 1);
  const MatrixXd J = decay_jacobian(Eigen::Vector3d(1, 1, 0))(Eigen::all, {0, 2});
  const VectorXd rest = J.householderQr().solve(decay(truth));
  EXPECT_NEAR(found.x[0], rest[0], 1e-8);
  EXPECT_NEAR(found.x[2], rest[1], 1e-8);
  EXPECT_LE(squares.values, 20);

  squares.function.lower = {6, 2, 3}; // a corner: no variable stays free
  const BoundedMinimum corner = [&] {
    squares.function.upper = {8, 4, 5};
    return run(squares, {7, 3, 4}, 1e-8);
  }();
  EXPECT_EQ(corner.reason, "gradient");
  EXPECT_EQ(corner.x[0], 6);
  EXPECT_EQ(corner.x[2], 3);
}

/// Simulations fail where the rate is above 1.6: infinite or no number at all.
TEST(GaussNewton, TakesShorterStepsWhereTheFunctionIsNotFinite) {
  for (const double failure : {infinity, std::nan("")}) {
    Squares squares(3, decay_misfit, decay_jacobian);
    int rejected = 0;
    squares.function.value = [&, value = squares.function.value](std::span<const double> x) {
      const double finite = value(x);
      rejected += x[1] > 1.6;
      return x[1] > 1.6 ? failure : finite;
    };
    squares.function.gradient = [gradient = squares.function.gradient](auto x, auto g) {
      EXPECT_LE(x[1], 1.6);
      gradient(x, g);
    };
    const BoundedMinimum found = run(squares, {1, 0.01, 0}, 1e-9);
    EXPECT_EQ(found.reason, "gradient");
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(found.x[i], truth[i], 1e-9);
    EXPECT_GT(rejected, 0);
    EXPECT_LT(squares.gradients, squares.values);
  }
}

TEST(GaussNewton, DoesNotMindTheUnitsOfTheVariables) {
  const Eigen::Vector3d unit{1e6, 1e-3, 1};
  const auto in_units = [&](const VectorXd& x) -> VectorXd { return x.cwiseQuotient(unit); };
  Squares squares(
      3, [&](const VectorXd& x) { return decay_misfit(in_units(x)); },
      [&](const VectorXd& x) -> MatrixXd {
        return decay_jacobian(in_units(x)) * unit.cwiseInverse().asDiagonal();
      });
  const BoundedMinimum found = run(squares, {1e6, 1e-3, 0}, 1e-8);
  EXPECT_EQ(found.reason, "gradient");
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(found.x[i] / unit[i], truth[i], 1e-7);
  EXPECT_LE(squares.values, 15);
}

/// A parameter that changes nothing, and two of which only the sum counts, stay what they are told to be.
TEST(GaussNewton, GetsOnWithUnidentifiableVariables) {
  const auto sum = [](const VectorXd& x) { return Eigen::Vector3d(x[0] + x[1], x[2], 0); };
  Squares squares(
      4, [&](const VectorXd& x) { return decay_misfit(sum(x) + Eigen::Vector3d(0, 0, 0.7)); },
      [&](const VectorXd& x) {
        const MatrixXd J = decay_jacobian(sum(x));
        MatrixXd whole = MatrixXd::Zero(J.rows(), 4);
        whole.col(0) = whole.col(1) = J.col(0);
        whole.col(2) = J.col(1);
        return whole;
      });
  const BoundedMinimum found = run(squares, {1, 0, 1, 8}, 1e-8);
  EXPECT_EQ(found.reason, "gradient");
  EXPECT_NEAR(found.x[0] + found.x[1], truth[0], 1e-7);
  EXPECT_NEAR(found.x[2], truth[1], 1e-7);
  EXPECT_EQ(found.x[3], 8);
}

/// r = D A x - b of 1000 variables with A = tridiag(-1, 3, -1) and the half of the variables at least 0.2.
TEST(GaussNewton, SolvesLargeLinearProblemsByProducts) {
  constexpr int n = 1000;
  const auto apply = [](std::span<const double> x, std::span<double> y) {
    for (int i = 0; i < n; ++i)
      y[i] = (3 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0)) * (1 + i % 3);
  };
  const auto transpose = [](std::span<const double> y, std::span<double> x) {
    for (int i = 0; i < n; ++i) {
      x[i] = 3 * y[i] * (1 + i % 3);
      if (i > 0) x[i] -= y[i - 1] * (1 + (i - 1) % 3);
      if (i + 1 < n) x[i] -= y[i + 1] * (1 + (i + 1) % 3);
    }
  };
  const auto residual = [&](std::span<const double> x) {
    std::vector<double> r(n);
    apply(x, r);
    for (int i = 0; i < n; ++i) r[i] -= std::sin(0.01 * i);
    return r;
  };
  int values = 0, products = 0;
  BoundedFunction function{std::vector<double>(n, -infinity), std::vector<double>(n, infinity),
                           [&](std::span<const double> x) {
                             ++values;
                             const auto r = residual(x);
                             return std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
                           },
                           [&](std::span<const double> x, std::span<double> g) {
                             transpose(residual(x), g);
                             for (double& entry : g) entry *= 2;
                           }};
  function.hessian_product = [&](std::span<const double>, std::span<const double> d, std::span<double> hd) {
    ++products;
    std::vector<double> Jd(n);
    apply(d, Jd);
    transpose(Jd, hd);
    for (double& entry : hd) entry *= 2;
  };
  for (int i = 0; i < n; i += 2) function.lower[i] = 0.2;
  std::vector<std::vector<double>> found;
  for (int repetition = 0; repetition < 2; ++repetition) {
    values = products = 0;
    const BoundedMinimum minimum = minimize_bounded(
        function, std::vector<double>(n, 1), DescentMethod::gauss_newton, [](const Iterate& at) {
          return std::string(at.gradient_norm < 1e-7 ? "gradient" : at.iteration > 100 ? "iterations" : "");
        });
    EXPECT_EQ(minimum.reason, "gradient");
    found.push_back(minimum.x);
    EXPECT_LE(values, 40);
    EXPECT_LE(products, 300);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_GT(std::ranges::count(found[0], 0.2), 50);
  // At the minimum no free variable has a gradient, and every other one points out: checked anew.
  std::vector<double> g(n);
  function.gradient(found[0], g);
  for (int i = 0; i < n; ++i) {
    if (found[0][i] == 0.2) {
      EXPECT_GE(g[i], 0);
    } else {
      EXPECT_NEAR(g[i], 0, 1e-7);
    }
  }
}

/// Treloar's rubber [1944], incompressible, in simple, planar and equibiaxial tension: lambda_3 =
/// lambda_1^third, nominal stresses [10 kPa] with deviations of 3.
struct Tension {
  double third;
  std::vector<double> stretches, stresses;
};
const std::vector<Tension> rubber{
    {-0.5,
     {1.01, 1.12, 1.24, 1.39, 1.61, 1.89, 2.17, 2.42, 3.01, 3.58, 4.03, 4.76,
      5.36, 5.76, 6.16, 6.4,  6.62, 6.87, 7.05, 7.16, 7.27, 7.43, 7.5,  7.61},
     {3,   14,  23,  32,  41,  50,  58,  67,  85,  104, 121, 158,
      194, 229, 267, 302, 339, 375, 412, 447, 485, 521, 557, 630}},
    {-1,
     {1.06, 1.14, 1.21, 1.32, 1.46, 1.87, 2.4, 2.98, 3.48, 3.96, 4.36, 4.69, 4.96},
     {7, 16, 24, 33, 42, 59, 76, 93, 111, 128, 146, 162, 179}},
    {-2,
     {1.04, 1.08, 1.12, 1.15, 1.21, 1.32, 1.43, 1.7, 1.95, 2.5, 3.04, 3.44, 3.76, 4.03, 4.26, 4.45},
     {9, 16, 24, 26, 33, 44, 51, 65, 77, 96, 124, 145, 172, 196, 222, 243}},
};

/// Three terms of Ogden, 2 mu / alpha (lambda_1^(alpha - 1) - lambda_3^alpha / lambda_1): residuals and their
/// derivatives by x, ln mu and alpha over its sizes.
MatrixXd ogden(const VectorXd& x, const VectorXd& size) {
  std::vector<VectorXd> rows;
  for (const Tension& test : rubber)
    for (std::size_t i = 0; i < test.stretches.size(); ++i) {
      VectorXd row = VectorXd::Zero(7);
      const double log = std::log(test.stretches[i]);
      row[6] = -test.stresses[i] / 3;
      for (int k = 0; k < 3; ++k) {
        const double mu = std::exp(x[k]), alpha = x[3 + k] * size[3 + k];
        const double a = std::exp((alpha - 1) * log), b = std::exp((test.third * alpha - 1) * log);
        const double by_mu = 2 / alpha * (a - b) / 3;
        row[6] += mu * by_mu;
        row[k] = by_mu * mu;
        row[3 + k] = mu * (2 / alpha * log * (a - test.third * b) / 3 - by_mu / alpha) * size[3 + k];
      }
      rows.push_back(row);
    }
  MatrixXd all(rows.size(), 7);
  for (std::size_t i = 0; i < rows.size(); ++i) all.row(i) = rows[i].transpose();
  return all;
}

/// A long, curved valley, along which steps that are not those of the whole model stall.
TEST(GaussNewton, FollowsTheValleyOfTreloarsRubber) {
  const std::vector<std::vector<double>> starts{
      {40.17, 0.295, 0.981, 1.3, 5, -2}, {20, 2, 2, 1.5, 4, -1.5}, {4, 4, 4, 1, 3, -3}};
  const double half = 0.5, twice = 2; // of the moduli
  for (const auto& start : starts)
    for (const double factor : {1.0, half, twice}) {
      const VectorXd size = Eigen::Map<const VectorXd>(start.data(), 6).cwiseAbs();
      std::vector<double> x(6);
      for (int i = 0; i < 6; ++i) x[i] = start[i] < 0 ? -1 : 1;
      for (int i = 0; i < 3; ++i) x[i] = std::log(factor * size[i]);
      Squares squares(
          6, [&](const VectorXd& at) -> VectorXd { return ogden(at, size).col(6); },
          [&](const VectorXd& at) -> MatrixXd { return ogden(at, size).leftCols(6); });
      squares.function.reach = 2;
      const BoundedMinimum found =
          minimize_bounded(squares.function, x, DescentMethod::gauss_newton, [](const Iterate& at) {
            return at.gradient_norm < 0.1 || at.iteration > 200 ? "end" : "";
          });
      EXPECT_NEAR(found.value, 228.306, 1e-3) << start[0] << ' ' << factor;
      EXPECT_LT(squares.values, 100) << start[0] << ' ' << factor;
    }
}

/// Springs in a row, by the logarithms of their moduli, from the displacements under a load at the end and
/// one in the middle: each displacement is a sum over all springs before it. Some moduli end at a bound.
TEST(GaussNewton, SolvesForSomeHundredVariables) {
  for (const int n : {100, 200}) {
    const auto springs = [n](const VectorXd& x, bool is_derivative) {
      MatrixXd result = MatrixXd::Zero(2 * n, n);
      for (int load = 0; load < 2; ++load)
        for (int k = 0; k < n; ++k)
          for (int i = 0; i <= k && (load == 0 || i < n / 2); ++i)
            result(load * n + k, i) = (is_derivative ? -1 : 1) * std::exp(-x[i]) * (1 + load);
      return result;
    };
    VectorXd truth(n);
    for (int i = 0; i < n; ++i) truth[i] = std::sin(0.1 * i) + 0.5 * std::sin(1e3 * i);
    const VectorXd data = springs(truth, false).rowwise().sum();
    for (const bool has_bounds : {false, true}) {
      Squares squares(
          n, [&](const VectorXd& x) -> VectorXd { return springs(x, false).rowwise().sum() - data; },
          [&](const VectorXd& x) { return springs(x, true); });
      squares.function.reach = 2;
      if (has_bounds) squares.function.lower.assign(n, -1);
      const BoundedMinimum found = run(squares, std::vector<double>(n, 0.0), 1e-9);
      EXPECT_LE(squares.values, 30) << n << ' ' << has_bounds;
      if (has_bounds) {
        EXPECT_EQ(std::ranges::min(found.x), -1);
        continue;
      }
      double largest = 0;
      for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(found.x[i] - truth[i]));
      EXPECT_LE(largest, 1e-6);
    }
  }
}

TEST(GaussNewton, HandsOnWhatItsModelThrowsAndNeedsOne) {
  Squares squares(2, rosenbrock, rosenbrock_jacobian);
  squares.function.residual_factor = [](std::span<const double>) -> std::vector<double> {
    throw FileError("the disk is full");
  };
  EXPECT_THROW(run(squares, {-1.2, 1}, 1e-9), FileError);
  squares.use_products();
  squares.function.hessian_product = [](auto, auto, auto) { throw FileError("the disk is full"); };
  EXPECT_THROW(run(squares, {-1.2, 1}, 1e-9), FileError);
  squares.function.hessian_product = nullptr;
  EXPECT_THROW(run(squares, {-1.2, 1}, 1e-9), InputError);
}

/// Simulations repeat their values, but those nearby are off by what their iterations leave.
TEST(GaussNewton, EndsSoonWhereNoiseHidesTheDescent) {
  std::vector<std::vector<double>> found_at;
  for (const double noise : {0.0, 1e-10, 1e-6, 1e-3}) {
    Squares squares(
        3,
        [](const VectorXd& x) {
          VectorXd r = decay_misfit(x);
          for (int i = 0; i < r.size(); ++i) r[i] += 0.1 * std::sin(i * i);
          return r;
        },
        decay_jacobian);
    squares.function.value = [&, value = squares.function.value](std::span<const double> x) {
      return value(x) * (1 + noise * std::sin(1e9 * x[0]));
    };
    const BoundedMinimum found = run(squares, {1, 1, 0}, 0);
    EXPECT_FALSE(found.is_asked);
    EXPECT_EQ(found.reason, "the step has become too small");
    EXPECT_LE(squares.values, 20);
    found_at.push_back(found.x);
  }
  for (const auto& x : found_at)
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i], found_at[0][i], 1e-3);
}

/// The residual falls to zero, and no further.
TEST(GaussNewton, EndsWhereStepsAreLostInRounding) {
  Squares squares(3, decay_misfit, decay_jacobian);
  const BoundedMinimum found = run(squares, {1, 1, 0}, 0);
  EXPECT_TRUE(found.reason == "the step has become too small" || found.reason == "gradient") << found.reason;
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(found.x[i], truth[i], 1e-12);
  EXPECT_LE(squares.values, 40);
}

/// With a wrong gradient no step makes the function smaller.
TEST(GaussNewton, SaysWhyItEndsByItself) {
  Squares squares(2, rosenbrock, [](const VectorXd& x) -> MatrixXd { return -rosenbrock_jacobian(x); });
  const BoundedMinimum found = run(squares, {-1.2, 1}, 1e-9);
  EXPECT_FALSE(found.is_asked);
  EXPECT_EQ(found.reason, "the step has become too small");
  EXPECT_EQ(found.x[0], -1.2);
  EXPECT_EQ(squares.gradients, 1);
  EXPECT_LE(squares.values, 40);
}

} // namespace
} // namespace recoil::linalg::gauss_newton_test
