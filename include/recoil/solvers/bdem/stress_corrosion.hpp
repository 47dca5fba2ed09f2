#pragma once

#include <span>
#include <vector>

#include "recoil/solvers/bdem/problem.hpp"

/// Strength that falls with time under load: the radius r of the section of a bond shrinks [Potyondy 2007,
/// Simulating stress corrosion with a bonded-particle model for rock, equations 6 and 7, there of the
/// diameter],
///
///     dr/dt = -beta_1 exp(beta_2 sigma / sigma_c)    where sigma > (threshold) sigma_c,    0 elsewhere,
///
/// sigma = N / S + M_b r / I the tensile stress at its rim, or the larger of both terms, sigma_c its tensile
/// strength; S and I, and with them stiffness and stress, follow r. Internal variables of states are the
/// shares of the radii that are left.
namespace recoil::solvers {

/// What a bond bears, and how it shrinks.
struct CorrodingBond {
  double normal, bending;           ///< [N], [N m]; as BondForces has them
  double strength;                  ///< sigma_c [Pa]
  bool separate;                    ///< the larger one of both terms of sigma, not their sum
  double rate, exponent, threshold; ///< beta_1 [m/s], beta_2

  /// sigma / sigma_c at a radius.
  double stress_ratio(double radius) const;
};

/// Radius [m] after `duration` [s] in which the forces stay what they are; where sigma comes to sigma_c
/// before, the radius at which it does.
double radius_after(const CorrodingBond& bond, double radius, double duration);

/// A bond that has come to its strength, and the radius at which it did [m].
struct CorrodedBond {
  LocalIndex bond;
  double radius;
};

/// Sections after a step.
struct ShrunkSections {
  std::vector<double> shares;
  std::vector<CorrodedBond> failed;
};

/// At the end u of a step of length dt, of bonds that have `shares` in it, by what they bear at u. All ranks
/// that hold a bond see the same. Not collective.
ShrunkSections shrunk_sections(const BondedParticles& problem, std::span<const double> shares,
                               std::span<const double> u, double dt);

} // namespace recoil::solvers
