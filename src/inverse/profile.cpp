#include "recoil/inverse/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/inverse/residual_factor.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::inverse {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Tolerance of an end, as a share of its distance from the fit.
constexpr double end_tolerance = 1e-3;
/// Shares of the level: what a fit of the other variables may leave, and by how much J may fall below the
/// fit, which has ended near the minimum, not at it.
constexpr double fit_tolerance = 1e-4, fall_tolerance = 1e-2;
/// Ends farther away than so many times Gauss-Newton's are not looked for.
constexpr double farthest = 100;
/// Evaluations of one end: after so many secants its bracket is halved, and in the end it counts as not
/// found.
constexpr int most_secants = 8, most_points = 30;

std::vector<double> without(std::span<const double> x, std::size_t which) {
  std::vector<double> rest(x.begin(), x.end());
  rest.erase(rest.begin() + which);
  return rest;
}

/// An objective with one variable at a fixed value.
class ConditionalObjective final : public DesignObjective {
public:
  ConditionalObjective(DesignObjective& objective, std::size_t which, double value)
      : objective_(objective), which_(which), value_(value) {}

  std::vector<double> all(std::span<const double> rest) const {
    std::vector<double> x(rest.begin(), rest.end());
    x.insert(x.begin() + which_, value_);
    return x;
  }
  double value(std::span<const double> rest) override {
    if (known_at_.empty() || !std::ranges::equal(known_at_, rest)) {
      known_ = objective_.value(all(rest));
      known_at_.assign(rest.begin(), rest.end());
    }
    return known_;
  }
  std::vector<double> gradient(std::span<const double> rest) override {
    return without(objective_.gradient(all(rest)), which_);
  }
  HessianForm hessian_form() const override { return HessianForm::matrix; }
  MatrixXd residual_factor(std::span<const double> rest) override {
    const MatrixXd R = objective_.residual_factor(all(rest));
    const Index i = static_cast<Index>(which_);
    MatrixXd others(R.rows(), R.cols() - 1);
    others << R.leftCols(i), R.rightCols(R.cols() - 1 - i);
    return triangular_factor(others);
  }

private:
  DesignObjective& objective_;
  std::size_t which_;
  double value_;
  std::vector<double> known_at_; ///< where value() was asked for last
  double known_ = 0;
};

/// Gauss-Newton's model of J around a point, with the variables y that no bound holds back at their best for
/// every t = z_i - its value there: y = at_zero + by_t t, J = const + slope t + curvature t^2 / 2.
struct ConditionalModel {
  std::vector<Index> free;
  VectorXd at_zero, by_t;
  double slope = 0, curvature = 0;
  double decrease = 0; ///< of J until t = 0 has been fitted
};

ConditionalModel make_model(DesignObjective& objective, const DesignVariables& variables,
                            std::span<const double> x, std::size_t which) {
  const std::vector<double> gradient = objective.gradient(x);
  const MatrixXd by_x = gauss_newton_hessian(objective.residual_factor(x));
  const Index n = std::ssize(x), i = static_cast<Index>(which);
  // In units in which the diagonal is 1.
  const VectorXd unit = by_x.diagonal().unaryExpr([](double h) { return h > 0 ? 1 / std::sqrt(h) : 1.0; });
  const VectorXd g = unit.cwiseProduct(Eigen::Map<const VectorXd>(gradient.data(), n));
  const MatrixXd H = unit.asDiagonal() * by_x * unit.asDiagonal();
  ConditionalModel model;
  for (Index j = 0; j < n; ++j) {
    const bool is_held = (x[j] <= variables.lower[j] && g[j] > 0) || (x[j] >= variables.upper[j] && g[j] < 0);
    if (j != i && !is_held) model.free.push_back(j);
  }
  const VectorXd coupling = H(model.free, i), of_free = g(model.free);
  model.at_zero = model.by_t = VectorXd::Zero(coupling.size());
  if (!model.free.empty()) {
    // Directions that change no residual are left where they are.
    MatrixXd right(of_free.size(), 2);
    right << of_free, coupling;
    const MatrixXd found = linalg::least_norm_solution(H(model.free, model.free), right);
    model.at_zero = -found.col(0);
    model.by_t = -found.col(1) / unit[i];
  }
  model.decrease = -0.5 * of_free.dot(model.at_zero);
  model.slope = (g[i] + coupling.dot(model.at_zero)) / unit[i];
  model.curvature = (H(i, i) / unit[i] + coupling.dot(model.by_t)) / unit[i];
  model.at_zero.array() *= unit(model.free).array();
  model.by_t.array() *= unit(model.free).array();
  return model;
}

/// A fit of the other variables.
struct KnownPoint {
  double value = 0;      ///< of the variable
  double distance = 0;   ///< sqrt(rise / level), 1 at an end; infinite without a solution
  double objective = 0;  ///< J
  std::vector<double> x; ///< empty without a solution, and then there is no model
  ConditionalModel model;
};

class Profiler {
public:
  Profiler(const parallel::Communicator& comm, DesignObjective& objective, const DesignVariables& variables,
           std::size_t which, double level)
      : comm_(comm), objective_(objective), variables_(variables), which_(which), level_(level) {
    KnownPoint fit;
    fit.x = variables.start;
    comm.broadcast(fit.x);
    fit.value = fit.x[which];
    fit.objective = objective.value(fit.x);
    fit.model = make_model(objective, variables, fit.x, which);
    known_.push_back(std::move(fit));
  }

  ProfileEnd find_end(int side);

  std::vector<ProfilePoint> points() const {
    std::vector<ProfilePoint> all;
    for (const KnownPoint& point : known_) all.push_back({point.value, rise(point)});
    std::ranges::sort(all, {}, &ProfilePoint::value);
    return all;
  }

private:
  const KnownPoint& fit() const { return known_.front(); }
  double rise(const KnownPoint& point) const {
    return point.x.empty() ? infinity : point.objective - fit().objective;
  }
  double bound(int side) const { return (side < 0 ? variables_.lower : variables_.upper)[which_]; }
  double first_step(int side) const;
  const KnownPoint& nearest(double value) const;
  std::vector<double> expected_at(double value, const KnownPoint& known) const;
  KnownPoint solve(double value);
  KnownPoint fit_others(double value, std::span<const double> start);

  const parallel::Communicator& comm_;
  DesignObjective& objective_;
  const DesignVariables& variables_;
  std::size_t which_;
  double level_;
  std::vector<KnownPoint> known_; ///< the fit first
};

/// How far away Gauss-Newton's model at the fit rises by the level: the root of slope t + curvature t^2 / 2 =
/// level.
double Profiler::first_step(int side) const {
  const double slope = side * fit().model.slope, curvature = std::max(fit().model.curvature, 0.0);
  return 2 * level_ / (slope + std::sqrt(slope * slope + 2 * curvature * level_));
}

const KnownPoint& Profiler::nearest(double value) const {
  return *std::ranges::min_element(known_, {}, [&](const KnownPoint& point) {
    return point.x.empty() ? infinity : std::abs(point.value - value);
  });
}

/// Where the model at a known point expects the other variables.
std::vector<double> Profiler::expected_at(double value, const KnownPoint& known) const {
  std::vector<double> x = known.x;
  for (std::size_t k = 0; k < known.model.free.size(); ++k) {
    const std::size_t j = known.model.free[k];
    const double change = known.model.at_zero[k] + known.model.by_t[k] * (value - known.value);
    x[j] = std::clamp(x[j] + change, variables_.lower[j], variables_.upper[j]);
  }
  return without(x, which_);
}

/// Fits the others at a value; where they are expected there may be no solution, though there is one where
/// they were before.
KnownPoint Profiler::solve(double value) {
  const KnownPoint& near = nearest(value);
  KnownPoint found = fit_others(value, expected_at(value, near));
  if (found.x.empty()) found = fit_others(value, without(near.x, which_));
  if (rise(found) < -fall_tolerance * level_)
    throw Error(
        ExitCode::no_solution,
        fmt::format("the objective is smaller by {:.3g} near the fit, which has not ended at a minimum; "
                    "fit again, from other start values or with more iterations",
                    -rise(found)));
  found.distance = found.x.empty() ? infinity : std::sqrt(std::max(rise(found), 0.0) / level_);
  known_.push_back(found);
  return found;
}

KnownPoint Profiler::fit_others(double value, std::span<const double> start) {
  DesignVariables others{{start.begin(), start.end()},
                         without(variables_.lower, which_),
                         without(variables_.upper, which_),
                         without(variables_.unit, which_)};
  comm_.broadcast(others.start);
  ConditionalObjective conditional(objective_, which_, value);
  KnownPoint found;
  found.value = value;
  found.objective = conditional.value(others.start);
  if (!std::isfinite(found.objective)) return found;
  const auto is_fitted = [&](const linalg::Iterate& at) {
    found.model = make_model(objective_, variables_, conditional.all(at.x), which_);
    return std::string(found.model.decrease <= fit_tolerance * level_ ? "fitted" : "");
  };
  std::vector<double> rest = others.start;
  if (!rest.empty()) {
    const linalg::BoundedMinimum minimum =
        optimize(comm_, conditional, others, linalg::DescentMethod::gauss_newton, {50, 0, 1e-10}, is_fitted);
    rest = minimum.x;
    found.objective = minimum.value;
  }
  found.x = conditional.all(rest);
  return found;
}

/// Where the line through two points of one side comes to 1; not finite where it does not.
double secant(const KnownPoint& a, const KnownPoint& b) {
  return b.value + (1 - b.distance) * (b.value - a.value) / (b.distance - a.distance);
}

ProfileEnd Profiler::find_end(int side) {
  const double origin = fit().value, bound = this->bound(side), first = first_step(side);
  if (origin == bound) return {{}, true};
  const auto is_beyond = [&](double a, double b) { return side * (a - b) > 0; };
  KnownPoint before = fit(), last = fit(); // the last two points with a solution
  double inside = origin, outside = side * infinity, next = origin + side * first;
  for (int count = 1; count <= most_points; ++count) {
    if (!is_beyond(bound, next)) next = bound;
    if (!std::isfinite(next) || std::abs(next - origin) > farthest * first) return {};
    KnownPoint point = solve(next);
    if (point.distance <= 1 && next == bound) return {{}, true};
    (point.distance > 1 ? outside : inside) = next;
    if (!point.x.empty()) before = std::exchange(last, std::move(point));
    next = secant(before, last);
    const bool is_near = std::abs(next - last.value) <= end_tolerance * std::abs(next - origin);
    if (std::isfinite(next) && is_near) return {next};
    const bool is_enclosed = std::isfinite(outside);
    if (is_enclosed && std::abs(outside - inside) <= end_tolerance * std::abs(outside - origin))
      return {0.5 * (inside + outside)};
    // Where sqrt(J) bends, or has no value, a secant leads anywhere.
    const bool is_useful = is_beyond(next, inside) && is_beyond(outside, next) && count < most_secants;
    const double twice = inside + (inside - origin);
    if (is_enclosed && !is_useful) next = 0.5 * (inside + outside);
    if (!is_enclosed && (!is_useful || is_beyond(next, twice))) next = twice;
  }
  return {};
}

} // namespace

Profile find_profile(const parallel::Communicator& comm, DesignObjective& objective,
                     const DesignVariables& variables, std::size_t which, double level) {
  Profiler profiler(comm, objective, variables, which, level);
  Profile profile;
  profile.ends = {profiler.find_end(-1), profiler.find_end(+1)};
  profile.points = profiler.points();
  return profile;
}

} // namespace recoil::inverse
