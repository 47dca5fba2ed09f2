#include "newton/forcing.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::newton {
namespace {
// A solve may leave its residual this much below its tolerance, and so end the iterations unexpectedly.
constexpr double last_margin = 10;
// The safeguard against a sudden drop holds while the sequence has not become small [Eisenstat, Walker 1996].
constexpr double safeguard_threshold = 0.1;
} // namespace

double ForcingSequence::next(double norm, double stop, bool last_expected, double share) {
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
  if (!last_expected && left > last_margin * stop) return tolerance;
  const double enough = last_expected || is_first ? 0 : share * stop / norm;
  return std::clamp(enough, terms_.smallest, std::max(terms_.smallest, terms_.largest));
}

} // namespace recoil::newton
