#include "recoil/potentials/bonds/shear_energy.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::potentials {

namespace {

/// By the first terms of the series, of which each is less than y / 4 of the one before.
ShearTerms series(double y) {
  constexpr int num_terms = 9;
  ShearTerms sum{0, 0, 0};
  double coefficient = 0.5, power = 1; // y^(k - 1)
  for (int k = 1; k <= num_terms; ++k) {
    sum.value += coefficient * power * y;
    sum.slope += 2 * k * coefficient * power;
    // d2f/dsigma2 = 4 d2f/dy2 has y^(k - 1) from the term k + 1.
    const double next = coefficient * k * k / ((2.0 * k + 2) * (2.0 * k + 1));
    sum.curvature += 4.0 * (k + 1) * k * next * power;
    coefficient = next;
    power *= y;
  }
  return sum;
}

} // namespace

ShearTerms angle_terms(double squared_chord) {
  // Below it the closed form of the curvature loses digits.
  constexpr double small = 0.01;
  if (squared_chord < small) return series(squared_chord);
  // Twice the cosine of half of the angle; of opposite directions it keeps quotients finite.
  const double complement = std::sqrt(std::max(4 - squared_chord, 1e-30)), chord = std::sqrt(squared_chord);
  const double theta = 2 * std::atan2(chord, complement), sine = chord * complement / 2,
               cosine = 1 - squared_chord / 2;
  return {theta * theta / 2, theta / sine, (sine - theta * cosine) / (sine * sine * sine)};
}

} // namespace recoil::potentials
