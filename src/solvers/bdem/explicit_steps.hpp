#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/solvers/bdem/critical_time_step.hpp"
#include "recoil/solvers/bdem/solver.hpp"
#include "solvers/bdem/bond_loop.hpp"
#include "solvers/bdem/explicit_contact.hpp"

namespace recoil::solvers {

/// Leapfrog on R^3 x SO(3), in the form of velocity Verlet: v += h/2 M^-1 f; x <- x exp(h v); v += h/2 M^-1
/// f(x). The angular velocities of spheres in free flight are constant in space. Bonds break where forces are
/// taken, all of those that have reached their strength, without any communication; a sub-step without
/// contact exchanges ghosts once.
class ExplicitSteps {
public:
  /// Sub-steps of at most `share` critical time steps. `problem` must outlive it. Collective.
  /// @throws InputError if the share is not positive.
  ExplicitSteps(BondedParticles& problem, double share);

  /// Number of sub-steps of a step of length dt.
  int num_sub_steps(double dt) const;

  /// What a step has done; this rank's share.
  struct Outcome {
    bool interrupted = false; ///< on all ranks
    bool diverged = false; ///< on all ranks: places or turns are no numbers any more; u and v are of no use
    /// By gravity, loads, and what moves prescribed particles and obstacles, from the trapezoidal sum of
    /// forces along the way [J].
    double external_work = 0;
    /// -(trapezoidal work of bonds and repulsion) - h^2/8 (f' M^-1 f at the end - at the start): less the
    /// change of their energies this is what leapfrog loses [J], exactly.
    double bond_work = 0;
    double dissipated_friction = 0, dissipated_damping = 0, dissipated_bonds = 0; ///< [J]
    std::vector<BrokenBond> broken;                                               ///< that this rank counts
  };
  /// Takes u and v from time - dt to `time` in equal sub-steps, `refinement` times as many as
  /// num_sub_steps(). `interrupted` may be empty. Collective.
  Outcome advance(linalg::Vector& u, linalg::Vector& v, double time, double dt, int refinement,
                  const std::function<bool()>& interrupted);

  /// Subtracts what contact has exerted on prescribed particles from g, 6 numbers an owned particle along the
  /// tangent spaces at u: repulsion at the end of the last advance(), and the mean of friction. Not
  /// collective.
  void add_contact_gradient(const linalg::Vector& u, std::span<double> g) const;
  /// Adds what the damping of bonds exerts at the end u, v of the last advance(), which led to `time`, by the
  /// rates of its sub-steps. Collective.
  void add_damping_gradient(const linalg::Vector& u, const linalg::Vector& v, double time,
                            std::span<double> g);
  /// Null without contact; as of the last advance().
  const ExplicitContact* contact() const { return contact_ ? &*contact_ : nullptr; }

private:
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  /// A particle with prescribed components, which are along its own axes.
  struct Constrained {
    LocalIndex particle;
    std::array<char, 6> prescribed;
    potentials::Particle start; ///< of the sub-step
    Vector6 mass, v, force;     ///< of the tangent space; the forces of bonds at the start
  };

  void take_velocities(const linalg::Vector& u, const linalg::Vector& v);
  void give_velocities(const linalg::Vector& u, linalg::Vector& v) const;
  void find_forces(const linalg::Vector& u, double time, double drifted, double share, Outcome& outcome);
  void kick(double before, double after, const linalg::Vector& u, Outcome& outcome);
  void kick(Constrained& at, double before, double after, const linalg::Vector& u, Outcome& outcome);
  void touch(double before, double after, const std::vector<double>& v_before, Outcome& outcome);
  void count_ways(double after, const std::vector<double>& v_before, double& dissipated,
                  Outcome& outcome) const;
  void drift(linalg::Vector& u, double h, double share) const;
  linalg::Vector before_drift(const linalg::Vector& u, double h, double share) const;
  void move_prescribed(linalg::Vector& u, double time, double h, double share, Outcome& outcome);
  void deform(const linalg::Vector& u, double share, Outcome& outcome) const;
  double squared_forces(const linalg::Vector& u) const;
  double prescribed_kinetic_energy() const;
  Vector6 tangent_force(std::span<const double> forces, LocalIndex particle,
                        const potentials::Particle& at) const;
  void set_velocity(const Constrained& at, const geometry::Quaternion& q);

  BondedParticles& problem_;
  double longest_;      ///< sub-step [s]
  double sub_step_ = 0; ///< of the last advance() [s]
  BondLoop bonds_;
  std::optional<ExplicitContact> contact_;
  std::vector<Constrained> constrained_;
  std::vector<char> is_constrained_;
  std::vector<double> mass_, inertia_; ///< of owned particles
  /// In space, 6 numbers a particle: velocities, what bonds (ghosts too) and repulsion exert, and all other
  /// forces.
  std::vector<double> v_, force_, load_;
};

} // namespace recoil::solvers
