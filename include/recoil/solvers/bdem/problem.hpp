#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "recoil/potentials/bonds/bond_potential.hpp"
#include "recoil/potentials/spheres/sphere_potentials.hpp"

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

/// Contact of particles with each other and with obstacles: pairs, and the potentials of them.
struct ParticleContact {
  potentials::SphereContact pairs;
  potentials::SphereBarrierPotential barrier;
  potentials::SphereFrictionPotential friction;

  /// `stiffness` of the barrier [N/m]; `rolling` of SphereFrictionPotential. Collective.
  ParticleContact(const particles::DistributedParticles& particles, std::span<const char> prescribed,
                  const potentials::BondPotential& bonds, potentials::SphereObstacles obstacles, double dhat,
                  double stiffness, potentials::FrictionCoefficients coefficients, double rolling,
                  double eps_v)
      : pairs(particles, prescribed, bonds, std::move(obstacles), dhat), barrier(pairs, stiffness),
        friction(pairs, barrier, std::move(coefficients), rolling, eps_v) {}

  /// Starts a step of length dt to `time` [s] from u (owned particles, 7 numbers each); friction takes its
  /// frames and normal forces there. Collective.
  void begin_step(double time, double dt, std::span<const double> u) {
    pairs.begin_step(time, dt, u);
    friction.lag(u, u, dt);
  }
  /// As a step of length dt from `start` to `time` [s] has it that ended at u. Collective.
  void restore_step(double time, double dt, std::span<const double> start, std::span<const double> u) {
    restore_step(time, dt, start, u, barrier, friction);
  }
  /// The same for other potentials of its pairs. Collective.
  void restore_step(double time, double dt, std::span<const double> start, std::span<const double> u,
                    potentials::SphereBarrierPotential& other_barrier,
                    potentials::SphereFrictionPotential& other_friction) {
    pairs.begin_step(time, dt, start);
    other_friction.lag(start, start, dt);
    pairs.move_obstacles(1);
    pairs.cover(u);
    other_barrier.update(u);
    other_friction.update(u);
  }
  /// Largest share of the straight way u + s du that contact allows (owned), all of it where pairs may
  /// overlap; obstacles move on to `obstacle_share` of their motion meanwhile. Collective.
  double max_step(std::span<const double> u, std::span<const double> du, double obstacle_share) {
    if (barrier.law() == potentials::ContactLaw::barrier) return pairs.max_step(u, du, obstacle_share);
    pairs.cover(u, du);
    return 1;
  }
  /// Finds what touches at u, on a way of max_step(). Collective.
  void update(std::span<const double> u) {
    barrier.update(u);
    friction.update(u);
  }
  /// This rank's share of the energy [J], as of update(); infinite where particles overlap.
  double value(std::span<const double> u) const { return barrier.value(u) + friction.value(u); }
  /// g += factor times its gradient [N], 6 numbers an owned particle, as of update(). Collective.
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const {
    barrier.add_gradient(u, factor, g);
    friction.add_gradient(u, factor, g);
  }
  /// y += factor times its Hessian times p, 6 numbers an owned particle, as of update(). Collective.
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const {
    barrier.add_hessian_product(u, p, factor, y);
    friction.add_hessian_product(u, p, factor, y);
  }
  /// y += factor times the change of the gradient when the least distances of bonds, one number for each of
  /// this rank, change by `ds` at the start of the step. Collective.
  void add_distance_tangent(std::span<const double> ds, double factor, std::span<double> y) const {
    barrier.add_distance_tangent(ds, factor, y);
    friction.add_distance_tangent(ds, factor, y);
  }
  /// The transpose: by += factor times the derivative of p . gradient by them, this rank's share. Collective.
  void add_distance_products(std::span<const double> p, double factor, std::span<double> by) const {
    barrier.add_distance_products(p, factor, by);
    friction.add_distance_products(p, factor, by);
  }
};

/// Bonded particles, and what acts on them.
struct BondedParticles {
  std::shared_ptr<const particles::DistributedParticles> particles;
  std::unique_ptr<potentials::BondPotential> bonds;
  std::vector<double> mass; ///< of owned particles and ghosts [kg]; inertia 2/5 m r^2 of homogeneous spheres
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero(); ///< [m/s^2]
  std::optional<BondStrength> strength;              ///< without: nothing breaks; on all ranks or none
  /// With a strength: over which range of stress over strength bonds soften (docs/bonded_particles.md); 0:
  /// they are brittle.
  double damage_width = 0;
  std::unique_ptr<ParticleContact> contact; ///< null: particles pass through each other
  /// One flag per component of the tangent vectors of owned particles and ghosts: does not follow forces.
  std::vector<char> prescribed;
  /// Moves the prescribed particles, ghosts too, to where they are at a time [s]; may be empty.
  std::function<void(double time, std::span<double> u)> move_prescribed;
  /// Adds forces and moments in space (6 numbers an owned particle, [N], [N m]); may be empty.
  std::function<void(double time, std::span<double> loads)> add_loads;

  bool softens() const { return damage_width > 0; }
  double inertia(LocalIndex particle) const {
    const double r = particles->radii[particle];
    return 0.4 * mass[particle] * r * r;
  }
};

} // namespace recoil::solvers
