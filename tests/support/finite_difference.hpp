#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/Core>

namespace recoil::testing {

using VectorFunction = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;

/// Central-difference Jacobian of a vector function at `x` with step `h`: shape (size of value, size of x).
inline Eigen::MatrixXd central_jacobian(const VectorFunction& function, const Eigen::VectorXd& x, double h) {
  Eigen::MatrixXd jacobian;
  Eigen::VectorXd probe = x;
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    probe[j] = x[j] + h;
    const double above = probe[j];
    const Eigen::VectorXd plus = function(probe);
    probe[j] = x[j] - h;
    const double below = probe[j];
    const Eigen::VectorXd minus = function(probe);
    probe[j] = x[j];
    if (j == 0) jacobian.resize(plus.size(), x.size());
    jacobian.col(j) = (plus - minus) / (above - below);
  }
  return jacobian;
}

/// Best relative error (Frobenius norm, over steps 1e-2 .. 1e-8 times `scale`) of `jacobian` against central
/// differences of `function` at `x`. `scale` is the length over which the function
/// varies. Relative to the larger of the two norms; 0 where both vanish, so check elsewhere that the
/// derivative is not vacuous.
inline double jacobian_error(const VectorFunction& function, const Eigen::VectorXd& x,
                             const Eigen::MatrixXd& jacobian, double scale = 1) {
  double best = std::numeric_limits<double>::infinity();
  for (double h = 1e-2; h > 0.5e-8; h /= 10) {
    const Eigen::MatrixXd difference = central_jacobian(function, x, h * scale);
    if (difference.rows() != jacobian.rows() || difference.cols() != jacobian.cols()) return best;
    const double error = (jacobian - difference).norm();
    const double size = std::max(jacobian.norm(), difference.norm());
    if (std::isnan(error)) continue;
    best = std::min(best, size > 0 ? error / size : 0.0);
  }
  return best;
}

/// The error of jacobian_error for a scalar function and its gradient.
inline double gradient_error(const std::function<double(const Eigen::VectorXd&)>& function,
                             const Eigen::VectorXd& x, const Eigen::VectorXd& gradient, double scale = 1) {
  const auto as_vector = [&](const Eigen::VectorXd& point) {
    return Eigen::VectorXd(Eigen::VectorXd::Constant(1, function(point)));
  };
  return jacobian_error(as_vector, x, gradient.transpose(), scale);
}

} // namespace recoil::testing
