#pragma once

#include <vector>

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::bench {

/// 7 numbers a particle, position and quaternion, which need not be a unit.
using Points = std::vector<double>;

/// What the energy of a bond is where quaternions are no units. On the spheres both are the same.
enum class Extension {
  degree_zero, ///< V(q / |q|), recoil's
  bilinear     ///< twist and bending times |q_i|^2 |q_j|^2: t = R0 G_l(q_j) q_i as the paper writes it
};

/// The function that a step of backward Euler minimises, on (R^3 x R^4)^N:
/// 1/2 sum_a [m |p - p~|^2 + 4 I |q - q~|^2] + dt^2 V(p, q) [kg m^2].
class StepEnergy {
public:
  /// `problem` must outlive it. @pre on one rank; nothing is broken.
  StepEnergy(const solvers::BondedParticles& problem, Extension extension)
      : problem_(problem), extension_(extension) {}

  /// Starts a step of length dt with inertia about `target`.
  void begin_step(Points target, double dt) {
    target_ = std::move(target);
    scale_ = dt * dt;
  }
  const solvers::BondedParticles& problem() const { return problem_; }
  LocalIndex num_particles() const { return problem_.particles->num_owned(); }
  bool is_free(LocalIndex particle) const { return problem_.prescribed[6 * std::size_t(particle)] == 0; }
  /// dt^2 k_n of the stiffest bond [kg]: what the weights of penalties are measured in.
  double stiffness() const;

  double value(const Points& x) const;
  /// By position and quaternion of both ends, dt^2 included.
  potentials::BondVector bond_gradient(LocalIndex bond, const Points& x) const;
  potentials::BondDerivatives bond_derivatives(LocalIndex bond, const Points& x) const;
  /// By the position, and by the quaternion; their Hessians are m and 4 I times identities.
  Eigen::Vector3d inertia_by_position(LocalIndex particle, const Points& x) const;
  geometry::Quaternion inertia_by_quaternion(LocalIndex particle, const Points& x) const;

private:
  struct Bond {
    const potentials::BondShape& shape;
    potentials::BondStiffness stiffness; ///< times dt^2
    potentials::Particle i, j;
  };
  Bond bond_at(LocalIndex bond, const Points& x) const;
  double bond_energy(LocalIndex bond, const Points& x) const;

  const solvers::BondedParticles& problem_;
  Extension extension_;
  Points target_;
  double scale_ = 0;
};

} // namespace recoil::bench
