#pragma once

namespace recoil::potentials {

/// What of the angle theta between the centre line n of a bond and its rest direction D its energy in shear,
/// k_t l0^2 f, sees: `smooth` f = 1 - n . D = 1 - cos theta, `angle` f = theta^2 / 2. Both are theta^2 / 2
/// for small angles; at theta = pi the latter has a kink.
enum class ShearEnergy { smooth, angle };

/// f as a function of sigma = n . D: with y = |n - D|^2 = 2 (1 - sigma),
///
///     smooth f = y / 2,      angle f = sum over k >= 1 of y^k / (k^2 (2k over k)) = y/2 + y^2/24 + y^3/180 +
///     ...
struct ShearTerms {
  double value;     ///< f
  double slope;     ///< -df/dsigma: 1, or theta / sin theta
  double curvature; ///< d2f/dsigma2: 0, or (sin theta - theta cos theta) / sin^3 theta
};

/// The terms of the energy that depend on `angle`.
/// @param squared_chord y, which keeps its digits where sigma has lost them.
ShearTerms angle_terms(double squared_chord);

} // namespace recoil::potentials
