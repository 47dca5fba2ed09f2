#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recoil/solvers/elastodynamics/solver.hpp"
#include "solvers/elastodynamics/incremental_potential.hpp"
#include "solvers/elastodynamics/loose_motions.hpp"

namespace recoil::solvers {

/// One solve: from the newest state of a history to `time`.
struct StepTarget {
  double time, dt, load_factor;
};

/// What came of it.
struct SolvedStep {
  bool done = false;
  linalg::Vector u, v, acceleration;
  linalg::Vector contact_force, friction_force;     ///< nodal [N]; empty without contact
  linalg::Vector support_force;                     ///< nodal [N]; empty unless it is asked for
  newton::NewtonResult newton;                      ///< of the last minimisation
  int newton_iterations = 0, linear_iterations = 0; ///< over all
  int sub_moves = 0; ///< in which prescribed entries and obstacles have gone to the end of the step
  std::string failure;
  bool is_hopeless = false; ///< it has failed in a way that smaller steps cannot mend
};

/// Minimises the incremental potential of single steps: follows prescribed motion without inverting a cell or
/// letting anything touch, balances the barrier stiffness, runs Newton's method, repeats it for lagged
/// friction. Collective.
template <int dim>
class StepSolver {
public:
  /// `problem` and `options` must outlive it.
  StepSolver(ElastodynamicsProblem<dim>& problem, const ElastodynamicsOptions& options);

  /// The obstacles must be where the newest state of `past` has them; they end at `target`, or anywhere after
  /// a failure.
  SolvedStep solve(const stepping::History& past, const StepTarget& target,
                   const stepping::StepCoefficients& coefficients);

  /// Barrier energy [J] of the newest state of `past` at the stiffness that the step to `target` starts with.
  /// 0 where something touches.
  double barrier_energy_at_start(const stepping::History& past, const StepTarget& target,
                                 const stepping::StepCoefficients& coefficients);

  /// Every minimisation asks `interrupted` (newton::NewtonOptions).
  void interrupt_when(std::function<bool()> interrupted) { newton_.interrupted = std::move(interrupted); }
  /// Starts steps near known states, see stepping::Solver::start_near().
  void start_near(stepping::Solver::KnownStates known) { known_ = std::move(known); }

  IncrementalPotential<dim>& objective() { return objective_; }
  const IncrementalPotential<dim>& objective() const { return objective_; }
  /// Null where everything is held.
  const LooseMotions<dim>* loose() const { return loose_.get(); }
  SolverTotals& totals() { return totals_; }
  const SolverTotals& totals() const { return totals_; }

private:
  void begin_step(const stepping::History& past, const StepTarget& target,
                  const stepping::StepCoefficients& coefficients, linalg::Vector& u_bar,
                  linalg::Vector& u_tilde);
  void start_contact(const stepping::History& past, const StepTarget& target);
  void balance_stiffness(const linalg::Vector& u);
  struct Way {
    linalg::Vector nodes;          ///< free entries are zero
    std::vector<double> obstacles; ///< empty without contact
  };
  Way way_left(const StepTarget& target, const linalg::Vector& u) const;
  bool drags(const Way& way) const;
  double try_move(double s, const linalg::Vector& motion, const std::vector<double>& obstacles,
                  linalg::Vector& u);
  double move_on(const Way& way, SolvedStep& solved);
  double deform_cell(const Way& way, linalg::Vector& u);
  std::string follow_prescribed(const StepTarget& target, SolvedStep& solved);
  void turn_into_balance(SolvedStep& solved);
  void settle_floating(linalg::Vector& u);
  void move_near_known(const stepping::History& past, const StepTarget& target, linalg::Vector& u);
  bool minimize(const newton::NewtonOptions& options, SolvedStep& solved);
  double friction_residual(const linalg::Vector& u, double dt);
  bool friction_has_converged(double residual, const linalg::Vector& u, double dt) const;
  bool minimize_with_friction(const StepTarget& target, linalg::Vector& u_tilde, SolvedStep& solved);
  void record_forces(SolvedStep& solved) const;
  std::string describe_failure(const newton::NewtonResult& result, const linalg::Vector& u) const;
  std::string describe_state(const linalg::Vector& u) const;

  ElastodynamicsProblem<dim>& problem_;
  const ElastodynamicsOptions& options_;
  IncrementalPotential<dim> objective_;
  newton::NewtonOptions newton_; ///< those of `options`, fitted to the linear solver
  newton::Euclidean manifold_;
  stepping::Solver::KnownStates known_;
  std::unique_ptr<potentials::MassMatrix<dim>> regularization_;
  std::unique_ptr<LooseMotions<dim>> loose_;    ///< null where there are none
  std::unique_ptr<LooseMotions<dim>> floating_; ///< the same
  std::optional<LooseSpace<dim>> kept_out_;     ///< of the solve of turn_into_balance()
  SolverTotals totals_;
};

} // namespace recoil::solvers
