#include "linalg/trust_region.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "recoil/base/error.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::linalg {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A step that is scaled like y is in the region where |y| is at most so many times the radius, or as little
/// less [More 1978].
constexpr double radius_tolerance = 0.1;
/// Shares of the decrease that the model predicts: the least that a step is accepted with, and those below
/// and above which the model is thought bad and good.
constexpr double acceptable = 1e-4, bad = 0.25, good = 0.75;
/// Steps that change the residual, by its linear model, by less than this share of its norm are lost in what
/// simulations leave unsolved.
constexpr double smallest_change = 1e-8;
/// Most exchanges of active sets: usually five to ten are enough.
constexpr int most_exchanges = 30;

} // namespace

BoxedSquares::BoxedSquares(MatrixXd A, VectorXd c, VectorXd lower, VectorXd upper)
    : A_(std::move(A)), c_(std::move(c)), lower_(std::move(lower)), upper_(std::move(upper)) {
  slope_ = A_.transpose() * c_;
}

/// Minimises over the variables that are not held, which keep their y.
VectorXd BoxedSquares::solve_free(const std::vector<Held>& held, const VectorXd& y, double damping) const {
  std::vector<Index> free;
  for (Index j = 0; j < y.size(); ++j)
    if (held[j] == Held::no) free.push_back(j);
  VectorXd result = y;
  if (free.empty()) return result;
  VectorXd fixed = y;
  fixed(free).setZero();
  const Index rows = A_.rows(), n = std::ssize(free);
  MatrixXd system = MatrixXd::Zero(rows + n, n);
  system.topRows(rows) = A_(Eigen::all, free);
  system.bottomRows(n).diagonal().setConstant(std::sqrt(damping));
  VectorXd right = VectorXd::Zero(rows + n);
  right.head(rows) = -(c_ + A_ * fixed);
  // Damping leaves no direction without an effect.
  const VectorXd found = damping > 0 ? least_squares(system, right) : least_norm_solution(system, right);
  result(free) = found;
  return result;
}

/// Half the slope of |A y + c|^2 + damping |y|^2.
VectorXd BoxedSquares::half_slope(const VectorXd& y, double damping) const {
  return A_.transpose() * (A_ * y + c_) + damping * y;
}

/// By exchanging all variables at once that are beyond a bound or whose multiplier has the wrong sign
/// [Hintermueller, Ito, Kunisch 2002, The primal-dual active set strategy as a semismooth Newton method]: few
/// decompositions, however many bounds are met. Nothing where it does not end soon, as it may.
std::optional<VectorXd> BoxedSquares::minimum_by_exchange(double damping) const {
  const Index n = lower_.size();
  VectorXd y = VectorXd::Zero(n);
  std::vector<Held> held(n, Held::no);
  for (Index j = 0; j < n; ++j)
    if (A_.col(j).isZero(0)) held[j] = Held::always;
  const double rounding = 1e-12 * slope_.norm();
  for (int round = 0; round < most_exchanges; ++round) {
    y = solve_free(held, y, damping);
    const VectorXd g = half_slope(y, damping);
    bool is_changed = false;
    for (Index j = 0; j < n; ++j) {
      const bool is_below = (y[j] < lower_[j]);
      const bool is_above = (y[j] > upper_[j]);
      if (held[j] == Held::no && (is_below || is_above)) {
        y[j] = is_below ? lower_[j] : upper_[j];
        held[j] = Held::at_bound;
        is_changed = true;
      } else if (held[j] == Held::at_bound && (y[j] <= lower_[j] ? -g[j] : g[j]) > rounding) {
        held[j] = Held::no;
        is_changed = true;
      }
    }
    if (!is_changed) return y;
  }
  return {};
}

/// By a primal active-set method from y = 0 on: a step to the minimum of the free variables, or to the first
/// bound on the way to it; there the variable whose multiplier has the wrong sign most is set free.
VectorXd BoxedSquares::minimum(double damping) const {
  if (std::optional<VectorXd> found = minimum_by_exchange(damping)) return *found;
  const Index n = lower_.size();
  VectorXd y = VectorXd::Zero(n);
  std::vector<Held> held(n, Held::no);
  for (Index j = 0; j < n; ++j) {
    if (A_.col(j).isZero(0))
      held[j] = Held::always;
    else if ((lower_[j] >= 0 && slope_[j] >= 0) || (upper_[j] <= 0 && slope_[j] <= 0))
      held[j] = Held::at_bound;
  }
  for (Index round = 0; round < 10 * (n + 1); ++round) {
    const VectorXd target = solve_free(held, y, damping);
    double share = 1;
    Index first = -1;
    for (Index j = 0; j < n; ++j) {
      if (held[j] != Held::no || (target[j] >= lower_[j] && target[j] <= upper_[j])) continue;
      const double bound = target[j] < lower_[j] ? lower_[j] : upper_[j];
      const double reached = std::max(0.0, (bound - y[j]) / (target[j] - y[j]));
      if (first >= 0 && reached >= share) continue;
      share = std::min(1.0, reached);
      first = j;
    }
    if (first >= 0) {
      const double bound = target[first] < lower_[first] ? lower_[first] : upper_[first];
      y += share * (target - y);
      y[first] = bound;
      held[first] = Held::at_bound;
      continue;
    }
    y = target;
    const VectorXd g = half_slope(y, damping);
    Index worst = -1;
    double most = 1e-12 * slope_.norm();
    for (Index j = 0; j < n; ++j) {
      if (held[j] != Held::at_bound) continue;
      const double wrong = y[j] <= lower_[j] ? -g[j] : g[j];
      if (wrong > most) {
        most = wrong;
        worst = j;
      }
    }
    if (worst < 0) return y;
    held[worst] = Held::no;
  }
  return y;
}

/// More's iteration on the damping lambda: 1 / |y(lambda)| is nearly linear in it [Hebden 1973].
VectorXd BoxedSquares::minimum_within(double radius) const {
  VectorXd y = minimum(0);
  double length = y.norm();
  if (length <= (1 + radius_tolerance) * radius) return y;
  double low = 0, high = slope_.norm() / radius; // |y| <= |slope| / lambda
  double below = 0, length_below = length, lambda = 1e-3 * high;
  for (int round = 0; round < 100; ++round) {
    y = minimum(lambda);
    length = y.norm();
    if (std::abs(length - radius) <= radius_tolerance * radius) return y;
    (length > radius ? low : high) = lambda;
    const double slope = (1 / length - 1 / length_below) / (lambda - below);
    double next = lambda + (1 / radius - 1 / length) / slope;
    if (length > radius) {
      below = lambda;
      length_below = length;
    }
    if (!(next > low && next < high)) next = std::max(std::sqrt(low * high), 1e-3 * high);
    lambda = next;
  }
  return length <= radius ? y : VectorXd(y * (radius / length));
}

double BoxedSquares::decrease(const VectorXd& y) const {
  const VectorXd change = A_ * y;
  return -change.dot(2 * c_ + change);
}

namespace {

/// Minimises a function step by step.
class TrustRegion {
public:
  using Stop = std::function<std::string(const Iterate&)>;
  TrustRegion(const BoundedFunction& function, std::vector<double> start, const Stop& stop)
      : function_(function), stop_(stop), x_(std::move(start)), n_(std::ssize(x_)),
        scale_(VectorXd::Zero(n_)), box_(function.reach) {
    value_ = function_.value(x_);
    if (!std::isfinite(value_))
      throw InputError("the objective has no finite value at the start of the optimisation");
  }

  BoundedMinimum run() {
    double step = 0;
    for (int iteration = 0;; ++iteration) {
      linearise();
      const auto [cosine, whole] = distance_to_minimum();
      std::string reason =
          stop_({iteration, x_, value_, projected_norm(function_, x_, gradient_), step, cosine, whole});
      if (!reason.empty()) return {x_, value_, std::move(reason), true};
      if (!find_step(step)) return {x_, value_, "the step has become too small", false};
    }
  }

private:
  void linearise() {
    gradient_.resize(n_);
    function_.gradient(x_, gradient_);
    const std::vector<double> factor = function_.residual_factor(x_);
    const Eigen::Map<const MatrixXd> R(factor.data(), n_ + 1, n_ + 1);
    jacobian_ = R.leftCols(n_);
    residual_ = R.col(n_);
    // Lengths are those of the change of the residuals, by the largest derivatives so far [More 1978].
    for (Index j = 0; j < n_; ++j) scale_[j] = std::max(scale_[j], jacobian_.col(j).norm());
  }

  /// Iterate::largest_cosine and whole_step.
  std::pair<double, double> distance_to_minimum() const {
    std::vector<Index> free;
    double cosine = 0;
    const double size = residual_.norm();
    for (Index j = 0; j < n_; ++j) {
      if (is_held(function_, x_, gradient_, j) || jacobian_.col(j).isZero(0)) continue;
      free.push_back(j);
      if (size > 0)
        cosine =
            std::max(cosine, std::abs(jacobian_.col(j).dot(residual_)) / (jacobian_.col(j).norm() * size));
    }
    if (free.empty()) return {0, 0};
    const VectorXd unit = scale_(free).cwiseInverse();
    const MatrixXd A = jacobian_(Eigen::all, free) * unit.asDiagonal();
    const VectorXd y = least_norm_solution(A, residual_);
    return {cosine, y.cwiseProduct(unit).lpNorm<Eigen::Infinity>()};
  }

  /// Takes the next step, if there is one, and tells its length.
  bool find_step(double& length) {
    const VectorXd unit = scale_.unaryExpr([](double s) { return s > 0 ? s : 1.0; });
    for (;;) {
      const BoxedSquares model = make_model(unit);
      const VectorXd y = model.minimum_within(radius_);
      const double size = y.norm(), predicted = model.decrease(y);
      if (!(size > smallest_change * std::sqrt(std::abs(value_))) || !(predicted > 0)) return false;
      const std::vector<double> trial = moved(y, unit);
      const double value = function_.value(trial), decrease = value_ - value;
      const double slope = 2 * residual_.dot(jacobian_ * y.cwiseQuotient(unit));
      if (!(decrease >= acceptable * predicted)) {
        radius_ = size * shortening(slope, -decrease);
        continue;
      }
      if (decrease < bad * predicted)
        radius_ = size * shortening(slope, -decrease);
      else if (decrease > good * predicted)
        radius_ = std::max(radius_, 2 * size);
      accept(trial, value, length);
      return true;
    }
  }

  void accept(const std::vector<double>& trial, double value, double& length) {
    double squares = 0, farthest = 0;
    for (Index j = 0; j < n_; ++j) {
      squares += (trial[j] - x_[j]) * (trial[j] - x_[j]);
      farthest = std::max(farthest, std::abs(trial[j] - x_[j]));
    }
    length = std::sqrt(squares);
    box_ = std::max(function_.reach, 2 * farthest);
    x_ = trial;
    value_ = value;
  }

  BoxedSquares make_model(const VectorXd& unit) const {
    VectorXd lower(n_), upper(n_);
    for (Index j = 0; j < n_; ++j) {
      lower[j] = std::max(function_.lower[j] - x_[j], -box_) * unit[j];
      upper[j] = std::min(function_.upper[j] - x_[j], box_) * unit[j];
    }
    return {jacobian_ * unit.cwiseInverse().asDiagonal(), residual_, std::move(lower), std::move(upper)};
  }

  std::vector<double> moved(const VectorXd& y, const VectorXd& unit) const {
    std::vector<double> trial(n_);
    for (Index j = 0; j < n_; ++j) {
      trial[j] = std::clamp(x_[j] + y[j] / unit[j], function_.lower[j], function_.upper[j]);
      // Rounding must not keep it off the bound that the model has come to.
      if (y[j] == (function_.lower[j] - x_[j]) * unit[j]) trial[j] = function_.lower[j];
      if (y[j] == (function_.upper[j] - x_[j]) * unit[j]) trial[j] = function_.upper[j];
    }
    return trial;
  }

  /// The minimum of the parabola through f, its slope and its rise along the step, a tenth to a half of it.
  static double shortening(double slope, double rise) {
    if (!std::isfinite(rise)) return 0.5;
    const double curvature = rise - slope;
    return curvature > 0 ? std::clamp(-0.5 * slope / curvature, 0.1, 0.5) : 0.5;
  }

  const BoundedFunction& function_;
  const Stop& stop_;
  std::vector<double> x_, gradient_;
  Index n_;
  double value_ = 0;
  MatrixXd jacobian_;
  VectorXd residual_, scale_;
  double radius_ = infinity, box_;
};

} // namespace

BoundedMinimum minimize_squares(const BoundedFunction& function, std::vector<double> start,
                                const std::function<std::string(const Iterate&)>& stop) {
  return TrustRegion(function, std::move(start), stop).run();
}

} // namespace recoil::linalg
