#pragma once

#include "bonds/unknowns/unknowns.hpp"

namespace recoil::bench {

/// How far derivatives are from central differences along random directions, as shares of themselves.
struct DerivativeErrors {
  double gradient = 0, hessian = 0;
};

/// At x, with random multipliers and a weight where quaternions may have any length. Along a direction z the
/// value of x moved by s z has the derivative g(s) . z in all unknowns here: its difference is z' H z.
DerivativeErrors compare_with_differences(Unknowns& unknowns, const Points& x, double weight);

} // namespace recoil::bench
