#pragma once

#include <span>

namespace recoil::inverse {

/// Standard deviation of the noise in a computed function from its values at equally spaced points: the
/// differences of third and higher order, in which a smooth part is lost where the points are close, scaled
/// to that of a single value [More and Wild 2011, Estimating computational noise]; the largest of these
/// estimates, at least the rounding of the values, which is all that fewer than 4 values show.
double noise_level(std::span<const double> values);

} // namespace recoil::inverse
