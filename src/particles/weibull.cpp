#include "recoil/particles/weibull.hpp"

#include <cmath>

namespace recoil::particles {

namespace {

/// SplitMix64: every bit of the result depends on every bit of the state.
std::uint64_t mix(std::uint64_t state) {
  state += 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

/// Uniform, strictly between 0 and 1: the middles of 2^52 intervals, which doubles hold exactly.
double uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

} // namespace

double weibull_factor(double modulus, std::uint64_t seed, GlobalIndex bond) {
  const double u = uniform(mix(mix(seed) ^ static_cast<std::uint64_t>(bond)));
  return std::pow(-std::log1p(-u), 1 / modulus);
}

} // namespace recoil::particles
