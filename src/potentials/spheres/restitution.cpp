#include "recoil/potentials/spheres/restitution.hpp"

#include <cmath>
#include <numbers>

namespace recoil::potentials {

/// A linear spring stands for all laws: with depth and speed rho (sin, cos)(phi), and tau the time,
/// d phi/d tau = cos^2 + psi sin^2 and d rho/d tau = rho sin cos (1 - psi) from phi = 0 to pi.
double restitution_of_damping(double gamma) {
  constexpr int num_points = 4000;
  double sum = 0;
  for (int i = 0; i < num_points; ++i) {
    const double phi = (i + 0.5) * std::numbers::pi / num_points, s = std::sin(phi), c = std::cos(phi),
                 z = gamma * std::numbers::sqrt2 * c / s, change = z / std::sqrt(1 + z * z);
    sum -= s * c * change / (c * c + (1 + change) * s * s);
  }
  return std::exp(sum * std::numbers::pi / num_points);
}

double damping_of_restitution(double restitution) {
  if (restitution >= 1) return 0;
  double less = 0, more = 1;
  while (restitution_of_damping(more) > restitution) more *= 2;
  for (int i = 0; i < 100 && less < more; ++i) {
    const double middle = (less + more) / 2;
    (restitution_of_damping(middle) > restitution ? less : more) = middle;
  }
  return (less + more) / 2;
}

} // namespace recoil::potentials
