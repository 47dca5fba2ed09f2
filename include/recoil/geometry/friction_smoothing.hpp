#pragma once

namespace recoil::geometry {

// Smoothed Coulomb friction as a function of the tangential sliding length y >= 0 with transition length
// eta > 0 [Li et al. 2020, section 5]. With the tangential slip w, |w| = y, the potential is
// f0(y), the force s(y) w and the Hessian s(y) P + (s'(y)/y) w w^T.

/// Potential f0: y for y >= eta, y^2 (1 - y/(3 eta))/eta + eta/3 below; C^2.
inline double friction_f0(double y, double eta) {
  if (y >= eta) return y;
  return y * y * (1.0 - y / (3.0 * eta)) / eta + eta / 3.0;
}

/// s(y) = f0'(y)/y, finite everywhere: 1/y for y >= eta, (2 - y/eta)/eta below; s(0) = 2/eta.
inline double friction_f1_over_y(double y, double eta) { return y >= eta ? 1.0 / y : (2.0 - y / eta) / eta; }

/// s'(y)/y: -1/y^3 for y >= eta, -1/(eta^2 y) below. It only ever multiplies w w^T with |w| = y, whose
/// product with it vanishes at y = 0; 0 is returned there.
inline double friction_f1_over_y_slope_over_y(double y, double eta) {
  if (y >= eta) return -1.0 / (y * y * y);
  return y > 0.0 ? -1.0 / (eta * eta * y) : 0.0;
}

} // namespace recoil::geometry
