#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recoil/linalg/linear_solver.hpp"
#include "recoil/newton/minimize.hpp"
#include "recoil/solvers/bdem/integrator.hpp"
#include "recoil/solvers/bdem/problem.hpp"
#include "recoil/stepping/differentiable_step.hpp"
#include "recoil/stepping/solver.hpp"
#include "recoil/stepping/sweep_products.hpp"

namespace recoil::solvers {

struct BondedParticlesOptions : stepping::TimeOptions {
  ParticleIntegrator integrator = ParticleIntegrator::be_reflect;
  double tolerance = 1e-4; ///< of Newton's method: largest component of the last direction, in smallest radii
  int max_iterations = 100;
  linalg::LinearMethod linear_method = linalg::LinearMethod::automatic;
  /// Law of contact; none: the barrier in implicit steps, the penalty in those of leapfrog.
  std::optional<potentials::ContactLaw> contact_law;
  /// How breaking is grouped: bonds at least this share of the largest stress ratio of a pass break together.
  double cascade_share = 0.9;
  /// Newton iterations after a pass before the next bonds break; 0: until they converge. A step ends
  /// converged in any case.
  int cascade_iterations = 1;
  int max_cascade_passes = 1000;
  /// Largest share in an implicit step: where more than this share of all bonds breaks in a pass, the step is
  /// taken as `sudden_breaking` says.
  double max_broken_share = 1;
  SuddenBreaking sudden_breaking = SuddenBreaking::impacts;
  /// Up to this time step, in critical ones without damping of bonds, leapfrog takes impacts unasked: there
  /// one of its steps costs less than a quiet implicit one (docs/bonded_particles.md, Impacts).
  static constexpr double longest_impact_step = 50;
  /// Most solves of a step with the frames and normal forces of friction taken where the last one ended,
  /// until none moves anything by more than `tolerance`; -1: as many as that takes.
  int friction_iterations = 1;
  /// Length of the sub-steps of leapfrog: at most this share of the critical time step, 2 / sqrt(17.9 k_n /
  /// m) of the stiffest bond; [Lu, Cao, Li, Hu] take 0.2. A free hcp block is stable below 1, sheared by 0.3
  /// below 0.95; energies are off by up to share^2 of what is in the fastest modes.
  double explicit_share = 0.2;
};

/// A bond that has broken.
struct BrokenBond {
  GlobalIndex bond;          ///< global number
  double time;               ///< at the end of the step or, with leapfrog, the sub-step [s]
  Eigen::Vector3d place;     ///< middle of the bond [m]
  double sigma, tau, energy; ///< stresses [Pa] and elastic energy [J] when it broke, as it bore them then
  bool by_tension;           ///< else by shear
};

/// Energies [J] and momenta of a run: kinetic + elastic + barrier - (initial sum) = external_work - broken -
/// dissipated_friction - dissipated_damping - dissipated_bonds - dissipated_integrator, up to the residual of
/// Newton's method.
struct ParticleLedger {
  double kinetic = 0, elastic = 0;
  double barrier = 0;       ///< of contact: of its law, and of the springs along contacts
  double external_work = 0; ///< of gravity, loads and of what moves prescribed particles and obstacles
  double broken = 0;        ///< elastic energy of bonds when they broke, or that they lost as they softened
  double dissipated_friction = 0;
  double dissipated_damping = 0; ///< of contacts
  double dissipated_bonds = 0;   ///< by the damping of bonds
  double dissipated_integrator = 0;
  std::array<double, 3> linear_momentum{}, angular_momentum{}; ///< [kg m/s], [kg m^2/s] about the origin

  /// Energies, works and dissipations under the names that files have for them.
  static constexpr auto energies() {
    return std::to_array<std::pair<const char*, double ParticleLedger::*>>(
        {{"kinetic", &ParticleLedger::kinetic},
         {"elastic", &ParticleLedger::elastic},
         {"barrier", &ParticleLedger::barrier},
         {"external_work", &ParticleLedger::external_work},
         {"broken", &ParticleLedger::broken},
         {"dissipated_friction", &ParticleLedger::dissipated_friction},
         {"dissipated_damping", &ParticleLedger::dissipated_damping},
         {"dissipated_bonds", &ParticleLedger::dissipated_bonds},
         {"dissipated_integrator", &ParticleLedger::dissipated_integrator}});
  }
};

/// Implicit bonded discrete elements [Lu, Cao, Li, Hu, Implicit bonded discrete element method with manifold
/// optimization]: every step minimises an incremental potential over positions and orientations, then breaks
/// the bonds that are overstressed and solves again, until none is. Bonds that soften do so once, after the
/// step. States u have 7 numbers a particle and v 6: v in m/s and r times the angular velocity in the
/// particle's own axes. Their internal variables are those of bonds that soften and the springs of contacts
/// (softening.hpp). All members
/// are collective.
class BondedParticlesSolver final : public stepping::Solver {
public:
  /// Starts from the positions of the particles, at rest, with the law of contact of the options.
  /// @throws InputError for bonds that soften without a strength, or with leapfrog, and for damped ones with
  /// del_exact.
  BondedParticlesSolver(BondedParticles problem, BondedParticlesOptions options);
  ~BondedParticlesSolver() override;
  BondedParticlesSolver(BondedParticlesSolver&&) noexcept;

  /// Starts from `u` and `v`, ghosts included, instead.
  void start(const linalg::Vector& u, const linalg::Vector& v);

  GlobalIndex step() const override;
  double time() const override;
  double start_time() const override;
  const stepping::History& history() const override;
  std::shared_ptr<const linalg::VectorLayout> layout() const override;
  std::shared_ptr<const linalg::VectorLayout> tangent_layout() const override;
  stepping::RestartData restart_data() const override;
  void continue_from(const stepping::RestartData& data, std::vector<stepping::State> states) override;
  stepping::StepOutcome advance(const OnState& on_state, int sub_steps = 1) override;
  void interrupt_when(std::function<bool()> interrupted) override;
  stepping::Entries effort() const override {
    return {{stepping::newton_iterations_name, newton_iterations()}};
  }
  /// Newton iterations of all steps, failed ones included.
  GlobalIndex newton_iterations() const;
  stepping::Balance balance() const override;
  /// Where the integrator has fed more than a quarter of all energy in play into the run.
  std::string fault() const override;
  /// Where it has fed more than a twentieth, or an implicit one has taken a tenth, and more than broken bonds
  /// and friction.
  std::string warning() const override;
  stepping::Entries counts() const override;
  stepping::Entries summary() const override;
  std::string description() const override;
  bool repeatable() const override;

  /// The steps of a run of this problem in which no bond has been severed, for the reverse sweep. The solver
  /// must outlive it and not advance between linearize() and the products of a step; `products`, whose
  /// gradients have quantities_of() the problem, must outlive it. What its functions `prescribed` and
  /// `initial` get are tangent vectors (tangent_layout()).
  /// @throws InputError on every rank for integrators other than quasistatic, be_reflect and mid_reflectT,
  /// and where only some of the rotations of a particle are prescribed.
  std::unique_ptr<stepping::MapReverseStep> recorded_step(stepping::SweepProducts<3>& products);
  /// Steps of the finished run for the tangent-linear sweep.
  std::unique_ptr<stepping::MapTangentStep> tangent_step(stepping::SweepDirections<3>& directions);

  const BondedParticles& problem() const;
  /// Takes the same particles, bonds and loads as they lie on other ranks, at rest and intact:
  /// restore_broken() and continue_from() have to follow. Counts of work done and what interrupts stay.
  void move_to(BondedParticles problem);
  /// Takes over which bonds are broken, one flag for each that this rank counts (DistributedParticles::owns),
  /// in their order, and with contact the least distances of their ends, before continue_from(). Collective.
  void restore_broken(std::span<const double> flags, std::span<const double> least_distances);
  /// sigma and tau that a bond bears at u [Pa].
  std::array<double, 2> stresses(LocalIndex bond, const linalg::Vector& u) const;
  const ParticleLedger& ledger() const;
  /// Force [N] and moment about the origin [N m] of the particles on each obstacle at the end of the last
  /// step, 6 numbers each, planes last; the sums over all ranks. Collective. @pre with contact.
  std::vector<double> obstacle_forces() const;
  /// Sum of potentials::SpherePotential::force_moments() of contact at the newest state, of friction and
  /// damping of leapfrog over its step [J]; zero without contact. Collective.
  Eigen::Matrix3d contact_force_moments() const;
  /// Bonds that broke in the last step and that this rank counts.
  const std::vector<BrokenBond>& broken_in_step() const;
  /// What holds or moves the prescribed components of owned particles, 6 numbers each along the tangent space
  /// [N] (moments in its axes over r), by Newton's second law in the last step or sub-step: dV/dx + M (v -
  /// v_n) / dt - loads, zero for components that are not prescribed. Bonds count at the end of the step, or
  /// in its middle for integrators that take V there.
  const std::vector<double>& reactions() const;

private:
  GlobalIndex linear_iterations() const;
  GlobalIndex breaking_passes() const;

  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace recoil::solvers
