#pragma once

#include <array>
#include <utility>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// Contact of leapfrog: the repulsion of the barrier potential, of either law, and impulses of friction [Lu,
/// Cao, Li, Hu, Implicit bonded discrete element method with manifold optimization, equations 32 to 35] that
/// are equal and opposite and act in one point, so that momenta are kept. Particles with prescribed
/// components take no impulses. Pairs and clearances are those of SphereContact, so that broken bonds begin
/// without a force.
class ExplicitContact {
public:
  /// `problem` must outlive it and have contact. Collective.
  explicit ExplicitContact(BondedParticles& problem);

  /// Starts a step of length dt to `time` [s]. Collective.
  void begin_step(double time, double dt, const linalg::Vector& u);
  /// Moves obstacles to `share` of their motion in the step, finds the pairs that touch at u, and adds the
  /// forces on owned particles in space, 6 numbers each [N]. Collective.
  void add_forces(const linalg::Vector& u, double share, std::span<double> forces);
  /// Adds the forces of add_forces() once more. Not collective.
  void add_repulsion(std::span<double> forces) const;
  /// The forces as of add_forces() act for `duration` [s]: counts what they do to obstacles.
  void press(double duration);
  /// Friction of the pairs as of add_forces() for `duration`: changes velocities of owned particles in space,
  /// 6 numbers each. Collective.
  void apply_friction(double duration, std::span<double> v);

  /// Springs along contacts, if friction has any, go on by `duration` [s] up to add_forces(), at velocities v
  /// of owned particles in space. To be called after it. Collective.
  void stretch_springs(double duration, std::span<const double> v);
  /// They as of apply_friction(), as potentials::springs_for_owners() has them. Collective.
  std::vector<potentials::ContactSpring> springs() const;
  /// Their energy, and its change since begin_step(), this rank's share [J].
  double spring_energy() const;
  double spring_energy_change() const { return spring_energy() - spring_energy_at_start_; }

  /// Damping of the pairs as of add_forces() for `duration`, in which their forces have led from velocities
  /// `v_at_start` to v. Collective. @pre the problem has it.
  void apply_damping(double duration, std::span<const double> v_at_start, std::span<double> v);

  /// This rank's share of the energy as of add_forces() [J].
  double energy() const;
  /// Largest overlap of a pair of this rank since begin_step(), over the smaller radius.
  double deepest_overlap() const { return deepest_; }
  /// Since begin_step(), this rank's share [J]: the work of moving obstacles by press(); that of obstacles
  /// and of prescribed particles by apply_friction() and apply_damping(); and what apply_friction() has
  /// dissipated, of springs with what leapfrog loses in their oscillations.
  double pressing_work() const { return pressing_work_; }
  double friction_work() const { return friction_work_; }
  double dissipation() const { return dissipation_ - spring_energy_change(); }
  /// What apply_damping() has dissipated since begin_step(), this rank's share [J].
  double damping_dissipation() const { return damping_dissipation_; }
  /// Means over the time since begin_step() of friction on prescribed particles, in space, 6 numbers an owned
  /// particle; zero for others [N], [N m].
  std::vector<double> friction_on_prescribed() const;
  /// Mean over that time of SpherePotential::force_moments() of friction and damping, this rank's share [J].
  Eigen::Matrix3d friction_force_moments() const { return impulse_moments_ / (dt_ > 0 ? dt_ : 1); }
  /// Means over the time since begin_step() of the forces [N] and moments about the origin [N m] on obstacles
  /// from the number `first_body` on, 6 numbers each; adds this rank's share. Not collective.
  void add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const;

private:
  struct Impulse {
    std::int32_t body;
    Eigen::Vector3d linear, angular;
  };
  double force(const potentials::SphereTouch& touch) const { return problem_.barrier->force(touch); }
  Eigen::Vector3d velocity_of_other(const potentials::SphereTouch& touch) const;
  Eigen::Vector3d obstacle_spin(const potentials::SphereTouch& touch) const;
  double drive(const potentials::SphereTouch& touch, const Eigen::Vector3d& velocity,
               const Eigen::Vector3d& impulse, const Eigen::Vector3d& moment = Eigen::Vector3d::Zero());
  bool is_driven(const potentials::SphereTouch& touch) const;
  void gather_inertia();
  std::vector<double> contacts_of_spheres() const;
  struct Slip;
  std::array<Eigen::Vector3d, 2> arms_of(const potentials::SphereTouch& touch) const;
  Slip without_slip(const potentials::SphereTouch& touch) const;
  Slip slip_of(const potentials::SphereTouch& touch, std::span<const double> speeds) const;
  std::array<Eigen::Vector3d, 2> friction_impulse(std::size_t k, const Slip& at, double duration,
                                                  double contacts);
  double change_velocities(std::span<const double> impulses, std::span<double> v);
  /// Identity of a pair as long as the spheres are the same.
  using PairKey = std::pair<std::array<LocalIndex, 3>, particles::CellShift>;
  static PairKey key_of(const potentials::SpherePair& pair) {
    return {{pair.a, pair.b, pair.obstacle}, pair.shift};
  }
  std::vector<potentials::SpherePair> touching_pairs() const;
  void find_springs();
  Eigen::Vector3d spring_impulse(std::size_t k, double coefficient, double duration);

  BondedParticles& problem_;
  potentials::SphereContact& pairs_;
  std::vector<double> inverse_inertia_; ///< 1 / m, 1 / I of owned particles; 0 where motion is prescribed
  std::shared_ptr<const potentials::Spheres> gathered_for_;
  std::vector<double> inverse_;   ///< the same of spheres
  std::vector<double> repulsion_; ///< on owned particles, 3 numbers each [N]
  double damping_impulse(const potentials::SphereTouch& touch, double energy, double duration,
                         double approach) const;
  double approach_of(const potentials::SphereTouch& touch, std::span<const double> speeds) const;
  double dt_ = 0, damping_dissipation_ = 0, pressing_work_ = 0, friction_work_ = 0, dissipation_ = 0,
         deepest_ = 0;
  // Of the touching pairs, in their order; `sprung_` are these pairs, between the spheres `springs_between_`.
  std::vector<potentials::PairSpring> springs_;
  std::vector<potentials::SpherePair> sprung_;
  std::shared_ptr<const potentials::Spheres> springs_between_;
  std::vector<double> damping_impulses_; ///< of the touching pairs in this kick; empty: none
  double spring_energy_at_start_ = 0;
  std::vector<double> on_prescribed_; ///< impulses of friction since begin_step()
  std::vector<Impulse> impulses_;     ///< on obstacles since begin_step()
  Eigen::Matrix3d impulse_moments_ = Eigen::Matrix3d::Zero();
};

} // namespace recoil::solvers
