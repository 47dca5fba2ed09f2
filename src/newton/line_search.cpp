#include "newton/line_search.hpp"

#include <algorithm>
#include <cmath>

#include "recoil/base/phases.hpp"

namespace recoil::newton {
namespace {

// Values this many resolutions apart are still equal enough for a step that halves the gradient norm: the
// round-off of a sum over many elements is easily underestimated.
constexpr double generous_resolutions = 1e4;
constexpr double generous_gradient_decrease = 0.5;
// The part of the linear decrease s |g| that the gradient norm must show where it decides. It bounds the
// number of iterations on the floor, where round-off lets the norm fall a little by chance.
constexpr double gradient_decrease = 0.1;
constexpr int max_gradient_trials = 12;
// A Newton direction this small compared with the configuration is round-off.
constexpr double round_off_step = 1e-13;
// A step this small compared with the configuration changes nothing.
constexpr double null_step = 1e-16;
// Along a Newton direction a smooth gradient changes by s |g|; a change beyond this for a tiny s is noise.
constexpr double noise_step = 1.0 / 64, noise_fraction = 0.05, noise_factor = 5;
// A full step is doubled while this share of the slope is left, and so often at most.
constexpr double extension_slope = 0.5;
constexpr int max_extensions = 20;

} // namespace

bool Evaluator::evaluate_value(Point& point) {
  const PhaseScope phase(Phase::line_search);
  ++counts_.value_evaluations;
  point.value = objective_.value(point.x);
  return point.value > -std::numeric_limits<double>::infinity();
}

bool Evaluator::evaluate_gradient(Point& point) {
  const PhaseScope phase(Phase::assembly);
  ++counts_.gradient_evaluations;
  objective_.gradient(point.x, point.g);
  point.gradient_norm = objective_.gradient_norm(point.g);
  point.largest_term_norm = objective_.largest_term_norm();
  // The norm of the stopping rule may weigh entries with zero; a NaN must not hide there.
  return std::isfinite(point.gradient_norm) && std::isfinite(point.g.norm());
}

double configuration_size(const linalg::Vector& x, const NewtonOptions& options) {
  return std::max(x.norm_infinity(), options.length_scale);
}

SearchResult LineSearch::search(const Point& start, const linalg::Vector& d, double slope,
                                Direction direction, Point& trial) {
  SearchResult result = backtrack(start, d, slope, direction, trial);
  // Where values have drowned in round-off there is nothing to tell how far to go.
  const bool may_go_on = result.outcome == SearchOutcome::accepted && result.step == 1 && !result.by_gradient;
  if (may_go_on && direction != Direction::newton && !extend(start, d, slope, result, trial))
    result.outcome = SearchOutcome::not_finite;
  return result;
}

// Near a saddle a projected Hessian is far stiffer than the function along the directions that lead away from
// it, where the curvature is negative: steps of full length would only double the distance from the saddle,
// or less. False if the gradient at the accepted point is not finite.
bool LineSearch::extend(const Point& start, const linalg::Vector& d, double slope, SearchResult& result,
                        Point& trial) {
  if (!result.has_gradient && !evaluator_.evaluate_gradient(trial)) return false;
  result.has_gradient = true;
  for (int k = 0; k < max_extensions && trial.g.dot(d) < extension_slope * slope; ++k) {
    if (k == 0) longer_ = trial, reach_ = d;
    reach_.scale(2);
    reach_.update_ghosts();
    if (!(evaluator_.objective().max_step(start.x, reach_) >= 1)) break;
    // Asked for while the accepted point is the one evaluated last (Objective::value_resolution).
    const double resolution =
        options_.line_search.resolution * evaluator_.objective().value_resolution(trial.x, trial.value);
    manifold_.retract(start.x, reach_, 1, longer_.x);
    longer_.x.update_ghosts();
    if (!evaluator_.evaluate_value(longer_) || !(longer_.value <= trial.value + resolution)) break;
    if (!evaluator_.evaluate_gradient(longer_)) break;
    std::swap(longer_, trial);
    result.step *= 2;
  }
  return true;
}

SearchResult LineSearch::backtrack(const Point& start, const linalg::Vector& d, double slope,
                                   Direction direction, Point& trial) {
  const LineSearchOptions& rules = options_.line_search;
  SearchResult result;
  const double limit = evaluator_.objective().max_step(start.x, d);
  if (std::isnan(limit)) return result.outcome = SearchOutcome::not_finite, result;
  result.max_step = std::min(1.0, limit);
  if (result.max_step <= 0) return result;

  const double resolution = rules.resolution * evaluator_.objective().value_resolution(start.x, start.value);
  double step = result.max_step < 1 ? rules.safety * result.max_step : 1;
  const bool drowned = -step * slope <= generous_resolutions * resolution;
  const double d_norm = d.norm_infinity(), size = configuration_size(start.x, options_);
  // A way blocked after a step that rounding swallows is no way.
  if (step < 1 && step * d_norm <= null_step * size) return result;
  int gradient_trials = 0;
  double gradient_step = 1;
  for (;; ++result.backtracks, step *= rules.shrink) {
    manifold_.retract(start.x, d, step, trial.x);
    trial.x.update_ghosts();
    if (!evaluator_.evaluate_value(trial)) return result.outcome = SearchOutcome::not_finite, result;

    const bool resolved = -step * slope > resolution;
    if (resolved && trial.value <= start.value + rules.armijo * step * slope) break;

    const bool generous = step > generous_gradient_decrease;
    if ((!resolved || generous) && std::isfinite(trial.value) &&
        trial.value - start.value <= generous_resolutions * resolution) {
      if (!evaluator_.evaluate_gradient(trial)) return result.outcome = SearchOutcome::not_finite, result;
      const double allowed = resolved ? generous_gradient_decrease : 1 - gradient_decrease * step;
      if (trial.gradient_norm <= allowed * start.gradient_norm) {
        result.by_gradient = result.has_gradient = true;
        break;
      }
      gradient_step = step;
      if (!resolved) ++gradient_trials;
    }
    const bool next_is_null = rules.shrink * step * d_norm <= null_step * size;
    if (next_is_null || result.backtracks == rules.max_backtracks || gradient_trials == max_gradient_trials) {
      const bool noise_seen = drowned && gradient_trials > 0 && gradient_step <= noise_step;
      const bool newton_like = direction == Direction::newton || direction == Direction::projected;
      if (newton_like && is_round_off(start, d, trial, noise_seen ? gradient_step : 0))
        result.outcome = SearchOutcome::round_off;
      return result;
    }
  }
  result.outcome = SearchOutcome::accepted;
  result.step = step;
  return result;
}

// `step` is that of the gradient in `trial`, 0 where there is none to judge by.
bool LineSearch::is_round_off(const Point& start, const linalg::Vector& d, const Point& trial,
                              double step) const {
  if (d.norm_infinity() <= round_off_step * configuration_size(start.x, options_)) return true;
  if (step == 0) return false;
  linalg::Vector change = trial.g;
  change.add(-1, start.g);
  return evaluator_.objective().gradient_norm(change) >=
         std::max(noise_fraction, noise_factor * step) * start.gradient_norm;
}

} // namespace recoil::newton
