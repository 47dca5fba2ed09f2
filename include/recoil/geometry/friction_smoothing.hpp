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

// Tangential adhesion, in the same terms [Fang et al. 2023]: as friction below eta, where it is largest; from
// there on it falls, and from 2 eta on it is gone.

/// Potential f0: y^2 (1 - y/(3 eta))/eta up to 2 eta, constant beyond; C^1, with a second derivative that
/// jumps from -2/eta to 0.
inline double tangential_adhesion_f0(double y, double eta) {
  if (y >= 2 * eta) return 4 * eta / 3;
  return y * y * (1.0 - y / (3.0 * eta)) / eta;
}

/// s(y) = f0'(y)/y: (2 - y/eta)/eta up to 2 eta, 0 beyond.
inline double tangential_adhesion_f1_over_y(double y, double eta) {
  return y >= 2 * eta ? 0.0 : (2.0 - y / eta) / eta;
}

/// s'(y)/y, and 0 at y = 0.
inline double tangential_adhesion_f1_over_y_slope_over_y(double y, double eta) {
  return y > 0.0 && y < 2 * eta ? -1.0 / (eta * eta * y) : 0.0;
}

/// f0, f0'/y and (f0'/y)'/y of what works against sliding. In both, f0'/y never rises with y.
struct SlidingLaw {
  double (*f0)(double y, double eta);
  double (*f1_over_y)(double y, double eta);
  double (*f1_over_y_slope_over_y)(double y, double eta);
};
inline constexpr SlidingLaw coulomb_friction{friction_f0, friction_f1_over_y,
                                             friction_f1_over_y_slope_over_y};
inline constexpr SlidingLaw tangential_adhesion{tangential_adhesion_f0, tangential_adhesion_f1_over_y,
                                                tangential_adhesion_f1_over_y_slope_over_y};

} // namespace recoil::geometry
