#pragma once

#include <cmath>
#include <limits>

#include "recoil/geometry/barrier.hpp"

/// Functions of one variable that the geometric contact potential is made of [Huang et al. 2025].
namespace recoil::geometry {

/// The integral of the quadratic B-spline: 0 up to -alpha, 1 from beta on, C^2, three cubic pieces between.
/// With derivatives by x. alpha + beta > 0.
inline BarrierValue smooth_heaviside(double x, double alpha, double beta) {
  const double scale = 3 / (alpha + beta), z = (x - beta) * scale;
  if (z <= -3) return {0, 0, 0};
  if (z >= 0) return {1, 0, 0};
  BarrierValue h{};
  if (z <= -2) {
    const double y = 3 + z;
    h = {y * y * y / 6, y * y / 2, y};
  } else if (z <= -1) {
    h = {((-2 * z - 9) * z - 9) * z / 6 + 0.5, -(z * z + 3 * z + 1.5), -3 - 2 * z};
  } else {
    h = {1 + z * z * z / 6, z * z / 2, z};
  }
  return {h.value, scale * h.first, scale * scale * h.second};
}

/// C^2 step from 0 at x <= 0 to 1 at x >= 1.
inline BarrierValue quintic_step(double x) {
  if (x <= 0) return {0, 0, 0};
  if (x >= 1) return {1, 0, 0};
  return {x * x * x * (10 + x * (6 * x - 15)), 30 * x * x * (1 - x) * (1 - x),
          60 * x * (1 - x) * (1 - 2 * x)};
}

/// B(d) = s(x) / x^power, x = d / dhat, with the cubic B-spline s of the support [-1, 1]: 2/3 - 4 x^2 (1 - x)
/// up to 1/2, then 4/3 (1 - x)^3. C^2; 0 from dhat on, +inf for d <= 0. Derivatives by d.
inline BarrierValue power_barrier(double d, double dhat, int power) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double x = d / dhat;
  if (x >= 1) return {0, 0, 0};
  if (!(x > 0)) return {infinity, -infinity, infinity};
  BarrierValue s{2.0 / 3 - 4 * x * x * (1 - x), 4 * x * (3 * x - 2), 8 * (3 * x - 1)};
  if (x >= 0.5) {
    const double depth = (dhat - d) / dhat;
    s = {4.0 / 3 * depth * depth * depth, -4 * depth * depth, 8 * depth};
  }
  const double f = std::pow(x, -power), first = -power * f / x, second = -(power + 1) * first / x;
  return {s.value * f, (s.first * f + s.value * first) / dhat,
          (s.second * f + 2 * s.first * first + s.value * second) / (dhat * dhat)};
}

} // namespace recoil::geometry
