#pragma once

#include <algorithm>
#include <cmath>

#include "recoil/newton/minimize.hpp"

namespace recoil::newton {

/// The relative tolerances of successive linear solves.
class ForcingSequence {
public:
  explicit ForcingSequence(const ForcingTerms& terms) : terms_(terms) {}

  /// The tolerance at an iterate with gradient norm `norm`, when iterations end below `stop`; at most `most`.
  /// The smallest one where the solve may be the last: where it and what Newton's quadratic convergence
  /// leaves would come near `stop`. Such solves but the first may leave a residual of `share` times `stop`
  /// instead, if that is looser.
  double next(double norm, double stop, double most = 1, double share = 0) {
    const bool is_first = previous_norm_ == 0;
    double tolerance = terms_.first, nonlinear = 0;
    if (previous_norm_ > 0) {
      nonlinear = tolerance = terms_.gamma * std::pow(norm / previous_norm_, terms_.alpha);
      const double safeguard = terms_.gamma * std::pow(previous_, terms_.alpha);
      if (safeguard > safeguard_threshold) tolerance = std::max(tolerance, safeguard);
    }
    tolerance = std::clamp(tolerance, terms_.smallest, std::max(terms_.smallest, terms_.largest));
    previous_norm_ = norm;
    previous_ = tolerance;
    const double left = std::max(tolerance, nonlinear) * norm;
    if (left <= last_margin * stop) {
      const double enough = is_first ? 0 : share * stop / norm;
      tolerance = std::clamp(enough, terms_.smallest, std::max(terms_.smallest, terms_.largest));
    }
    return std::max(terms_.smallest, std::min(tolerance, most));
  }

private:
  /// A solve may leave its residual this much below its tolerance, and so end the iterations unexpectedly.
  static constexpr double last_margin = 10;
  /// The safeguard against a sudden drop holds while the sequence has not become small [Eisenstat, Walker
  /// 1996].
  static constexpr double safeguard_threshold = 0.1;

  ForcingTerms terms_;
  double previous_norm_ = 0, previous_ = 0; // zero before the first solve
};

} // namespace recoil::newton
