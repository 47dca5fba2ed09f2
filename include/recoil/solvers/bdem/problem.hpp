#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "recoil/potentials/bonds/bond_potential.hpp"

namespace recoil::solvers {

/// When bonds break. Stresses at the rim of the round section of radius r, in tension positive:
/// sigma = N / S + M_b r / I, tau = |F_s| / S + M_t r / J [Potyondy, Cundall 2004, equation 16].
struct BondStrength {
  // One entry per bond of this rank; sigma > tensile or tau > shear + tan_friction * (compressive stress)
  // breaks one.
  std::vector<double> tensile, shear; ///< [Pa]
  std::vector<double> tan_friction;   ///< tangent of the friction angle of the section
  std::vector<char> separate_terms;   ///< each of the four terms alone against its strength, not their sums
};

/// Bonded particles, and what acts on them.
struct BondedParticles {
  std::shared_ptr<const particles::DistributedParticles> particles;
  std::unique_ptr<potentials::BondPotential> bonds;
  std::vector<double> mass; ///< of owned particles and ghosts [kg]; inertia 2/5 m r^2 of homogeneous spheres
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero(); ///< [m/s^2]
  std::optional<BondStrength> strength;              ///< without: nothing breaks; on all ranks or none
  /// One flag per component of the tangent vectors of owned particles and ghosts: does not follow forces.
  std::vector<char> prescribed;
  /// Moves the prescribed particles, ghosts too, to where they are at a time [s]; may be empty.
  std::function<void(double time, std::span<double> u)> move_prescribed;
  /// Adds forces and moments in space (6 numbers an owned particle, [N], [N m]); may be empty.
  std::function<void(double time, std::span<double> loads)> add_loads;

  double inertia(LocalIndex particle) const {
    const double r = particles->radii[particle];
    return 0.4 * mass[particle] * r * r;
  }
};

} // namespace recoil::solvers
