#pragma once

#include "recoil/newton/minimize.hpp"

namespace recoil::newton {

/// What is known of the function at a point.
struct Point {
  linalg::Vector x, g;
  double value = 0, gradient_norm = 0;
  double largest_term_norm = 0; ///< of Objective
};

enum class SearchOutcome {
  accepted,
  failed,    ///< no step found
  round_off, ///< no step found, and none can be: round-off hides what is left of the descent
  not_finite
};

struct SearchResult {
  SearchOutcome outcome = SearchOutcome::failed;
  double max_step = 1, step = 0;
  int backtracks = 0;
  bool by_gradient = false;
  /// The gradient of the trial point is set as well.
  bool has_gradient = false;
};

/// Counts evaluations as it makes them, and evaluates the gradient together with its norm.
class Evaluator {
public:
  Evaluator(Objective& objective, NewtonResult& counts) : objective_(objective), counts_(counts) {}

  Objective& objective() { return objective_; }
  /// Sets point.value. False if that is NaN or -infinity; +infinity is fine.
  bool evaluate_value(Point& point);
  /// Sets point.g and its norm. False if anything is not finite.
  bool evaluate_gradient(Point& point);

private:
  Objective& objective_;
  NewtonResult& counts_;
};

/// Filtered backtracking and extension along one direction; see minimize() for the rules of acceptance.
class LineSearch {
public:
  LineSearch(Evaluator& evaluator, const Manifold& manifold, const NewtonOptions& options)
      : evaluator_(evaluator), manifold_(manifold), options_(options) {}

  /// Searches from `start` along `d` of slope g . d < 0 and puts the accepted point into `trial` (its
  /// gradient only if has_gradient). Full steps along directions other than Newton's are extended.
  SearchResult search(const Point& start, const linalg::Vector& d, double slope, Direction direction,
                      Point& trial);

private:
  SearchResult backtrack(const Point& start, const linalg::Vector& d, double slope, Direction direction,
                         Point& trial);
  bool extend(const Point& start, const linalg::Vector& d, double slope, SearchResult& result, Point& trial);
  bool is_round_off(const Point& start, const linalg::Vector& d, const Point& trial, double step) const;

  Evaluator& evaluator_;
  const Manifold& manifold_;
  const NewtonOptions& options_;
  Point longer_;         // the trial of an extension
  linalg::Vector reach_; // its direction, scaled
};

/// The size that steps are compared with: |x|_inf, or the length scale of the options where that is larger.
/// Collective.
double configuration_size(const linalg::Vector& x, const NewtonOptions& options);

} // namespace recoil::newton
