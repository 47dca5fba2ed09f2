#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "recoil/potentials/bonds/bond_damping.hpp"
#include "recoil/potentials/bonds/bond_potential.hpp"
#include "recoil/potentials/spheres/sphere_damping.hpp"
#include "recoil/potentials/spheres/sphere_potentials.hpp"
#include "recoil/solvers/bdem/servo.hpp"

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

/// How sections of bonds shrink under tension (stress_corrosion.hpp), one entry per bond of this rank.
struct StressCorrosion {
  std::vector<double> rate; ///< beta_1 [m/s]; 0: does not
  std::vector<double> exponent, threshold;
};

using potentials::particle_mass;
inline const parameters::Quantity gravity_vector{"gravity", parameters::Place::scene, true, "m/s^2"};
/// Forces and moments in space on owned particles at a time; taken away after every step, and after every
/// state that an objective looks at.
inline const parameters::Quantity particle_loads{"forces", parameters::Place::particle, true, "N"};
inline const parameters::Quantity particle_moments{"moments", parameters::Place::particle, true, "N m"};
/// The strengths of bonds that soften.
inline const parameters::Quantity tensile_strength{"tensile_strength", parameters::Place::bond, false, "Pa"};
inline const parameters::Quantity shear_strength{"shear_strength", parameters::Place::bond, false, "Pa"};

/// Bonded particles, and what acts on them.
struct BondedParticles {
  std::shared_ptr<const particles::DistributedParticles> particles;
  std::vector<std::unique_ptr<potentials::Potential<3>>> terms; ///< of the energy, without inertia and loads
  std::vector<double> mass; ///< of owned particles and ghosts [kg]; inertia 2/5 m r^2 of homogeneous spheres
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero(); ///< [m/s^2]
  std::optional<BondStrength> strength;              ///< without: nothing breaks; on all ranks or none
  /// With a strength: over which range of stress over strength bonds soften (docs/bonded_particles.md); 0:
  /// they are brittle.
  double damage_width = 0;
  /// With a strength: bonds that shrink; on all ranks or none.
  std::optional<StressCorrosion> corrosion;
  /// One flag per component of the tangent vectors of owned particles and ghosts: does not follow forces.
  std::vector<char> prescribed;
  /// Moves the prescribed particles, ghosts too, to where they are at a time [s]; may be empty.
  std::function<void(double time, std::span<double> u)> move_prescribed;
  /// Adds forces and moments in space (6 numbers an owned particle, [N], [N m]); may be empty.
  std::function<void(double time, std::span<double> loads)> add_loads;

  /// How the cell of the particles moves; null where they have none. Potentials keep its address.
  std::unique_ptr<particles::CellMotion> cell_motion;

  // What the terms are; null where there are none.
  potentials::BondPotential* bonds = nullptr;
  potentials::BondDampingPotential* bond_damping = nullptr; ///< of bonds with a damping time
  std::unique_ptr<potentials::SphereContact> contact;       ///< null: particles pass through each other
  potentials::SphereBarrierPotential* barrier = nullptr;
  potentials::SphereFrictionPotential* friction = nullptr;
  potentials::SphereDampingPotential* damping = nullptr; ///< of contacts with a restitution below 1

  std::unique_ptr<Servo> servo; ///< planes of `contact` that hold a force; null: none does

  /// Brings the cell to the ends of a step of length dt to `time` [s], to `time` alone where dt is 0. Nothing
  /// without a cell. Local.
  void begin_cell(double time, double dt) const {
    if (cell_motion) cell_motion->begin_step(time, dt);
  }
  /// The way of a particle of this rank in the step where it only moves as the cell does, (F - F_start) (X -
  /// origin) [m], X its place at rest. Images of a particle have the ways of its place, which inertia leaves
  /// out: it resists changes of velocities against the cell, x' - F' (X - origin).
  Eigen::Vector3d carried(LocalIndex particle) const;
  /// Adds these ways to the places in u (7 numbers a particle).
  void carry(std::span<double> u) const;

  /// Makes `potential` the only term, but for the damping that its bonds may have. @pre there is no contact
  /// yet, and the cell of the particles has its motion.
  void set_bonds(std::unique_ptr<potentials::BondPotential> potential);
  /// Adds barrier and friction of spheres: at most once, after set_bonds(), the masses, the flags of what
  /// is prescribed and the motion of a cell. `stiffness` of the barrier [N/m]; `rolling` and `eps_v` of
  /// SphereFrictionPotential; `restitution` of SphereDampingPotential, 1: none. Collective.
  void add_contact(potentials::SphereObstacles obstacles, double dhat, double stiffness,
                   potentials::FrictionCoefficients coefficients, double rolling, double eps_v,
                   double restitution = 1);

  /// Finds what touches at u, on a way that contact covers, with planes that hold a force where they do, and
  /// free entries of the deformation of the cell where its stress vanishes. Collective.
  void update(std::span<const double> u) const;
  /// Starts a step of length dt to `time` [s] from u (owned particles, 7 numbers each): contact forgets
  /// earlier pairs, and friction and damping take their frames and normal forces there. Nothing without
  /// contact. Collective.
  void begin_contact(double time, double dt, std::span<const double> u) const;
  bool softens() const { return damage_width > 0; }
  bool corrodes() const { return corrosion.has_value(); }
  /// Along contacts.
  bool has_springs() const { return friction && friction->has_springs(); }
  double inertia(LocalIndex particle) const {
    const double r = particles->radii[particle];
    return 0.4 * mass[particle] * r * r;
  }
};

/// Brings contact, and potentials of its pairs, to the end u of a step of length dt from `start` to `time`
/// [s] that has been taken; `damping` may be null. Collective.
void restore_contact(potentials::SphereContact& contact, potentials::SphereBarrierPotential& barrier,
                     potentials::SphereFrictionPotential& friction,
                     potentials::SphereDampingPotential* damping, double time, double dt,
                     std::span<const double> start, std::span<const double> u);

/// What the steps of a problem depend on, with the positions of the particles at rest and the sections of the
/// bonds fixed: those of its terms, particle_mass, gravity_vector, particle_loads, particle_moments and,
/// where bonds soften, the strengths.
std::vector<parameters::Quantity> quantities_of(const BondedParticles& problem);
/// Number of entries that each Place of these quantities has on this rank. Gradients by bonds are complete on
/// the rank that counts one, directions on all that hold it.
parameters::PhysicalArrays<3>::Sizes sizes_of(const BondedParticles& problem);

} // namespace recoil::solvers
