#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recoil/linalg/linear_solver.hpp"
#include "recoil/newton/minimize.hpp"
#include "recoil/solvers/elastodynamics/ledger.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"
#include "recoil/stepping/differentiable_step.hpp"
#include "recoil/stepping/solver.hpp"
#include "recoil/stepping/sweep_products.hpp"

namespace recoil::solvers {

enum class Dynamics {
  statics,     ///< one solve without inertia, formulas at t = 1
  quasistatic, ///< load steps without inertia; damping keeps its dt
  dynamic      ///< BDF
};

/// Norm of the gradient that solves are stopped by.
enum class GradientNorm {
  l2,       ///< sqrt(g' V^-1 g) with the lumped volume V
  euclidean ///< sqrt(g' g)
};

struct ElastodynamicsOptions : stepping::TimeOptions {
  Dynamics dynamics = Dynamics::dynamic;
  int bdf_order = 1;
  newton::NewtonOptions newton; ///< tolerances in units of IncrementalPotential::gradient_norm
  GradientNorm gradient_norm = GradientNorm::l2;
  bool accept_out_of_iterations = false; ///< the last iterate of a solve that runs out of them is taken
  /// Statics: adds w/2 |u - u_lag|^2, u_lag the start of a pass over lagged friction, in so many passes.
  double regularization_weight = 0;
  int regularization_passes = 1;
  linalg::LinearMethod linear_method = linalg::LinearMethod::automatic;
  std::optional<double> barrier_stiffness; ///< physical (independent of dt); empty = adaptive
  double stiffness_unit = 1;               ///< barrier_stiffness over the factor of the barrier
  double initial_barrier_stiffness = 1;    ///< in the normal forces of friction of the very first solve
  int friction_iterations = 1;             ///< solves per step; -1 until converged
  /// Friction has converged where the Euclidean norm of the gradient with friction lagged again is at most
  /// this share of that of the contact forces in it,
  double friction_tolerance = 1e-4;
  double friction_convergence_tol = std::numeric_limits<double>::infinity(); ///< and at most this times dt
};

/// What contact has been through over all accepted states.
struct ContactTotals {
  double min_distance = std::numeric_limits<double>::infinity(); ///< below dhat [m]
  GlobalIndex max_active_pairs = 0;
  GlobalIndex intersections = 0; ///< by exact predicates, independent of distances
};

/// Calls visit(name, value) for every entry, const or not, under the names that files have for them.
template <class AnyContactTotals, class Visit>
void for_each_entry(AnyContactTotals& totals, Visit visit) requires requires {
  totals.max_active_pairs;
}
{
  visit("min_distance", totals.min_distance);
  visit("max_active_pairs", totals.max_active_pairs);
  visit("intersections", totals.intersections);
}

/// Counts and seconds of all solves so far, failed ones included.
struct SolverTotals {
  GlobalIndex newton_iterations = 0, linear_iterations = 0, projected = 0, retries = 0;
  GlobalIndex chord_steps = 0;   ///< of newton::NewtonResult, no Newton iterations
  GlobalIndex sub_moves = 0;     ///< of prescribed entries and obstacles, at least one per solve
  GlobalIndex motion_solves = 0; ///< linear solves for these moves, no Newton iterations
  double assembly_seconds = 0, linear_solve_seconds = 0, line_search_seconds = 0, gradient_seconds = 0;
  GlobalIndex rough_friction = 0;       ///< solves that ended before friction, to be converged, was
  double largest_barrier_stiffness = 0; ///< physical, at the ends of solves; 0 without contact
  double collision_seconds = 0;         ///< search, distances and collision times; also part of the others
  ContactTotals contact;
};

/// What happened in a nominal step.
struct StepReport {
  GlobalIndex newton_iterations = 0, linear_iterations = 0, active_pairs = 0;
  double min_distance = std::numeric_limits<double>::infinity(); ///< of the new state [m]
  potentials::FrictionCounts friction;
};

/// Calls visit(name, value) for every entry, const or not, under the names that files have for them.
template <class AnyStepReport, class Visit>
void for_each_count(AnyStepReport& report, Visit visit) {
  visit(stepping::newton_count_name, report.newton_iterations);
  visit("linear_iterations", report.linear_iterations);
  visit("active_pairs", report.active_pairs);
  visit("min_distance", report.min_distance);
  visit("sticking", report.friction.sticking);
  visit("sliding", report.friction.sliding);
}

/// Forward solver of elastostatics and elastodynamics by minimisation of the incremental potential. All
/// members are collective.
template <int dim>
class ElastodynamicsSolver final : public stepping::Solver {
public:
  /// `problem` is kept; its space and communicator must outlive the solver.
  ElastodynamicsSolver(ElastodynamicsProblem<dim> problem, ElastodynamicsOptions options);
  ~ElastodynamicsSolver() override;
  ElastodynamicsSolver(ElastodynamicsSolver&&) noexcept;

  /// Starts from states given oldest first (one for a fresh start; as many as the scheme uses for a restart
  /// or for exact starting values), after `step` nominal steps. `first_id` is the id of the oldest.
  /// Prescribed values are inserted into the displacement of a fresh start at t0 by the caller. The barrier
  /// energy of a fresh start is added to `ledger`, with the stiffness that the first step starts with.
  void start(GlobalIndex step, std::vector<stepping::State> states, const Ledger& ledger,
             const ContactTotals& contact = {});

  stepping::RestartData restart_data() const override;
  void continue_from(const stepping::RestartData& data, std::vector<stepping::State> states) override;
  /// `interrupted` is asked within every Newton iteration (newton::NewtonOptions::interrupted).
  void interrupt_when(std::function<bool()> interrupted) override;
  void start_near(KnownStates known) override;
  /// Lowers ElastodynamicsOptions::friction_tolerance of the steps to come to `share`.
  void tighten_friction(double share);
  stepping::StepOutcome advance(const OnState& on_state, int sub_steps = 1) override;

  /// The steps of a run of this problem with `num_records` states, for the reverse sweep. The barrier
  /// stiffness must be given and friction lagged once or until it is converged. Uses the matrices of the
  /// solver, which must outlive it and not advance meanwhile; so must `products`.
  std::unique_ptr<stepping::BdfReverseStep> recorded_step(GlobalIndex num_records,
                                                          stepping::SweepProducts<dim>& products);
  /// Steps of the run for the tangent-linear sweep. A run may advance between its steps.
  std::unique_ptr<stepping::BdfTangentStep> tangent_step(GlobalIndex num_records,
                                                         stepping::SweepDirections<dim>& directions);

  /// Brings the terms of the problem, but for updates to a u, to the step of `record` as the sweeps see it:
  /// loads and obstacles of its end, friction lagged as in its solve. `record` completes a nominal step, or
  /// is that of the start of the run, where there is no friction. `u` and `previous`: displacement at its end
  /// and at its start [m], ghosts included; `previous` must stay valid until another step begins. Conditions
  /// as of recorded_step(). Collective.
  void enter_step(const stepping::StepRecord& record, std::span<const double> u,
                  std::span<const double> previous);

  GlobalIndex step() const override;
  double time() const override;
  double start_time() const override;
  const stepping::History& history() const override;
  std::shared_ptr<const linalg::VectorLayout> layout() const override;
  stepping::Entries effort() const override {
    return {{stepping::newton_iterations_name, totals().newton_iterations}};
  }
  stepping::Balance balance() const override;
  stepping::Entries counts() const override;
  stepping::Entries summary() const override;
  std::string description() const override;
  bool repeatable() const override;
  const Ledger& ledger() const;
  const SolverTotals& totals() const;
  const ElastodynamicsProblem<dim>& problem() const;
  /// Is an initial state valid (no inverted cell, nothing touches or intersects)? Empty if so, else what is
  /// wrong, with the worst cell or the first ten intersections. After start().
  std::string check_state(const linalg::Vector& u) const;
  /// Nodal contact and friction forces [N] of the state that advance() is just calling `on_state` for; null
  /// without contact, and before the first step.
  const linalg::Vector *contact_force() const, *friction_force() const;
  /// From now on steps know their support_force().
  void record_support_forces();
  /// Nodal forces [N] that prescribed components exert on the bodies, zero at free ones, in the state that
  /// advance() is just calling `on_state` for (close_step()); null before the first step, and unless they are
  /// recorded.
  const linalg::Vector* support_force() const;
  /// What the barrier was multiplied by in the energy of the last step [J, per unit thickness in 2D].
  double barrier_stiffness() const;

private:
  std::string describe_intersections(const linalg::Vector& u) const;

  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace recoil::solvers
