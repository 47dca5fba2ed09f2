#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/minimize_bounded.hpp"

namespace recoil::linalg {

/// |A y + c|^2 between bounds of y, lower <= 0 <= upper. Not collective.
class BoxedSquares {
public:
  BoxedSquares(Eigen::MatrixXd A, Eigen::VectorXd c, Eigen::VectorXd lower, Eigen::VectorXd upper);
  /// The y of its minimum where that has |y| <= radius, up to a tenth; else the minimum of |A y + c|^2 +
  /// lambda |y|^2 whose lambda makes it so long [More 1978, The Levenberg-Marquardt algorithm]. Variables
  /// without a derivative stay 0.
  Eigen::VectorXd minimum_within(double radius) const;
  /// |c|^2 - |A y + c|^2.
  double decrease(const Eigen::VectorXd& y) const;

private:
  enum class Held { no, at_bound, always };
  Eigen::VectorXd minimum(double damping) const;
  std::optional<Eigen::VectorXd> minimum_by_exchange(double damping) const;
  Eigen::VectorXd half_slope(const Eigen::VectorXd& y, double damping) const;
  Eigen::VectorXd solve_free(const std::vector<Held>& held, const Eigen::VectorXd& y, double damping) const;

  Eigen::MatrixXd A_;
  Eigen::VectorXd c_, lower_, upper_, slope_;
};

/// Whether variable i is at a bound that the gradient g points out of.
bool is_held(const BoundedFunction& function, std::span<const double> x, std::span<const double> g,
             std::size_t i);
/// Norm of the gradient without the components that point out of the bounds.
double projected_norm(const BoundedFunction& function, std::span<const double> x, std::span<const double> g);

/// minimize_bounded() by Gauss-Newton with residual_factor.
BoundedMinimum minimize_squares(const BoundedFunction& function, std::vector<double> start,
                                const std::function<std::string(const Iterate&)>& stop);

} // namespace recoil::linalg
