#pragma once

#include <functional>
#include <span>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// The strengths of bonds that soften.
inline const parameters::Quantity tensile_strength{"tensile_strength", parameters::Place::bond, false, "Pa"};
inline const parameters::Quantity shear_strength{"shear_strength", parameters::Place::bond, false, "Pa"};

/// What the steps of a problem depend on, per bond: E, nu and, where bonds soften, the strengths.
std::vector<parameters::Quantity> bond_quantities(const BondedParticles& problem);

/// bond_quantities() and, with friction, coefficients of friction.
std::vector<parameters::Quantity> interaction_quantities(const BondedParticles& problem);
/// How many of them there are on this rank.
parameters::PhysicalArrays<3>::Sizes interaction_sizes(const BondedParticles& problem);

/// The derivative of an objective by what a problem of bonded particles is made of, with the positions of the
/// particles at rest and the sections of the bonds fixed.
struct BondedGradient {
  /// By interaction_quantities(): of bonds complete on the rank that counts one, of the others this rank's
  /// share.
  parameters::PhysicalGradient<3> interactions;
  std::vector<double> mass; ///< by that of each owned particle, inertia 2/5 m r^2 with it [1/kg]
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero(); ///< this rank's share

  /// Zero, for the particles and bonds of this rank.
  explicit BondedGradient(const BondedParticles& problem);
};

/// Where the reverse sweep through a run of bonded particles puts what it finds. The functions are collective
/// and may be empty where no parameter asks for them. Vectors count on owned entries.
struct BondedSweepProducts {
  std::vector<BondedGradient> gradients; ///< one per objective
  /// By the forces and moments in space of the step that ends at `time` (6 numbers an owned particle, [1/N],
  /// [1/(N m)]).
  std::function<void(std::size_t objective, double time, std::span<const double> by_loads)> loads;
  /// By the prescribed components of the tangent vectors at the end of the step to `time`; only prescribed
  /// entries of y count.
  std::function<void(std::size_t objective, double time, const linalg::Vector& y)> prescribed;
  /// By the initial positions and orientations, along the tangent there, and by the initial velocities.
  std::function<void(std::size_t objective, const linalg::Vector& y, const linalg::Vector& z)> initial;
};

/// A change of a problem of bonded particles.
struct BondedDirection {
  parameters::PhysicalDirection<3> interactions; ///< of interaction_quantities(), of all bonds of this rank
  std::vector<double> mass;                      ///< of each owned particle [kg]
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();

  explicit BondedDirection(const BondedParticles& problem);
};

/// The directions of a tangent-linear sweep: the counterpart of BondedSweepProducts. Vectors and spans are
/// zero before, and are to be set on owned entries.
struct BondedSweepDirections {
  std::vector<BondedDirection> changes; ///< one per direction
  std::function<void(std::size_t direction, double time, std::span<double> loads)> loads;
  std::function<void(std::size_t direction, double time, linalg::Vector& y)> prescribed;
  std::function<void(std::size_t direction, linalg::Vector& y, linalg::Vector& z)> initial;
};

} // namespace recoil::solvers
