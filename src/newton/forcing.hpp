#pragma once

#include "recoil/newton/minimize.hpp"

namespace recoil::newton {

/// The relative tolerances of successive linear solves.
class ForcingSequence {
public:
  explicit ForcingSequence(const ForcingTerms& terms) : terms_(terms) {}

  /// The tolerance at an iterate with gradient norm `norm`, when iterations end below `stop`. The smallest
  /// one where the solve may be the last: where it and what Newton's quadratic convergence leaves would come
  /// near `stop`, or where `last_expected`. Such solves but the first may leave a residual of `share` times
  /// `stop` instead, if that is looser, where they are not `last_expected`.
  double next(double norm, double stop, bool last_expected, double share = 0);

private:
  ForcingTerms terms_;
  double previous_norm_ = 0, previous_ = 0; // zero before the first solve
};

} // namespace recoil::newton
