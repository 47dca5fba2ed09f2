#pragma once

#include <cstdint>

#include "recoil/base/types.hpp"

namespace recoil::particles {

/// The factor on the strengths of bond number `bond`, distributed as Weibull [1951] has it, with scale 1:
///
///     P(factor <= s) = 1 - exp(-s^modulus),      mean Gamma(1 + 1/modulus).
///
/// It is a function of seed and number of the bond alone (a counter-based generator: the mixing function of
/// SplitMix64 [Steele, Lea, Flood 2014] of both), the same on all ranks that hold the bond, on any number of
/// them and after a restart. Positive and finite for any modulus >= 1. Not collective.
double weibull_factor(double modulus, std::uint64_t seed, GlobalIndex bond);

} // namespace recoil::particles
