#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::adjoint {

struct SweepOptions {
  double relative_tolerance = 1e-10; ///< of the linear solves
};

/// What the linear solves of a sweep have come to, one per step and objective or direction.
struct SolveTotals {
  GlobalIndex steps = 0; ///< linearised
  GlobalIndex solves = 0;
  GlobalIndex linear_iterations = 0;
  /// |b - A x| / |b| over all solves, failed ones included.
  double largest_relative_residual = 0;
};

/// The states of a recorded run, read or recomputed on demand.
class StateSource {
public:
  virtual ~StateSource() = default;
  /// State `id`; valid until three other states have been asked for. The sweep asks for falling ids, each
  /// with its predecessor. Collective.
  virtual const stepping::State& state(GlobalIndex id) = 0;
};

/// A state of a run and the one that its step started from. The initial state is its own predecessor.
struct StateOfRun {
  const stepping::StepRecord& record;
  const stepping::State &now, &previous;
};

/// Partial derivatives of an objective by a state and by the displacement its step started from, owned
/// entries, and by the internal variables there, all that this rank holds (StepMap).
struct StatePartials {
  linalg::Vector u, v, previous_u;
  std::vector<double> previous_internal = {};
};

/// The partial derivatives of the objectives by the states of a run.
class StateDerivatives {
public:
  virtual ~StateDerivatives() = default;
  virtual std::size_t num_objectives() const = 0;
  /// Adds to `by`, and the explicit partial derivatives by parameters to the gradient of `objective`; nothing
  /// for a state that it does not see. The step has been linearised there, and its products by parameters
  /// come afterwards. Collective.
  virtual void add(std::size_t objective, const StateOfRun& at, StatePartials& by) = 0;
};

struct SweepTotals : SolveTotals {
  /// Sum over the steps of p_i' (M (v_i + sum_j a_j v_{p_j}) + B_i G_i), over all objectives: adjoint times
  /// residual, to first order the change of the objectives if the states were solved exactly.
  double objective_correction = 0;
};

/// Reverse sweep through the steps of a recorded run: the discrete adjoint of the BDF scheme with any list of
/// predecessors [Huang et al. 2024, section 4],
///
///     [M + B_i^2 K_i'] p_i = -M Ps_i - B_i (Ms_i + X_i + dJ/du_i) - dJ/dv_i     on free entries, p_i = 0
///     else, mu_i  = (M (p_i + Ps_i) + dJ/dv_i) / B_i, eta_i = -(mu_i + Ms_i + B_i K_i' p_i + X_i + dJ/du_i)
///     on prescribed entries,
///
/// with Ps_i = sum a^s_j p_s and Ms_i = sum a^s_j mu_s over the steps s that use state i as their j-th
/// predecessor, and X_i = B_s K_-^s' p_s + dJ_s/du_i over those that start there, J_s the objectives' shares
/// of their ends. Without inertia B = 1 and Ps = Ms = 0.
/// The gradient gathers B_i p_i' dG_i/dq + (p_i + Ps_i)' dM/dq v_i - eta_i' dg_i/dq over the steps, and
/// Ps_0' dM/dq v_0 - p_0' dg_v/dq - mu_0' dg_u/dq with p_0 = -M Ps_0 - dJ/dv_0,
/// mu_0 = -(dJ/du_0 + Ms_0 + X_0).
///
/// On a manifold du_i, p_i and mu_i are tangent vectors (in the layout of v), and the equations above hold
/// where differences of positions do not depend on where they are taken, as on tori and products of R^n with
/// them. Of other steps, those with a StepMap, state i is used by one step s alone, and with what s leaves,
/// X_i = Q_s' nu_s + D_s' p_s + dJ_s/du_i, Y_i = S_s' nu_s + E_s' p_s and, by internal variables,
/// sigma_i = T_s' sigma_s + F_s' p_s + dJ_s/ds_i,
///
///     nu_i = Y_i + dJ/dv_i,    A_i' p_i = -(P_i' nu_i + W_i' sigma_i + X_i + dJ/du_i)    on free entries,
///
/// p_i = 0 else, and the gradient gathers p_i' dR_i/dq + sigma_i' dz_i/dq, and nu_0' dg_v/dq +
/// (X_0 + dJ/du_0)' dg_u/dq. Internal variables start from given values.
///
/// Holds the adjoint variables of as many steps as the scheme has predecessors, whatever the length of the
/// run.
class ReverseSweep {
public:
  /// `records`: of all states in order, that of the initial state first. Everything must outlive the sweep.
  ReverseSweep(const std::vector<stepping::StepRecord>& records, StateSource& states,
               StateDerivatives& objectives, stepping::DifferentiableStep step, SweepOptions options);

  /// Id of the state whose equations come next; 0 when only the initial state is left, -1 when done.
  GlobalIndex next() const { return next_; }
  /// Goes one state back. Empty, or why the step has no adjoint solution. Where `states` throws, the sweep
  /// stays where it was. Collective.
  std::string advance();
  const SweepTotals& totals() const { return totals_; }

  /// What waits for the states before: enough to continue in another process. `pending[k]` of objective k.
  struct Pending {
    linalg::Vector weighted_p, weighted_mu; ///< Ps and Ms of a state, so far; with a StepMap Y and 0
    linalg::Vector previous;                ///< X of it
    bool has_weights = false, has_previous = false;
    std::vector<double> internal = {}; ///< sigma of it
  };
  using PendingOfState = std::map<GlobalIndex, Pending>;
  const std::vector<PendingOfState>& pending() const { return pending_; }
  /// Goes on before state `next` with what another sweep had pending there.
  void resume(GlobalIndex next, std::vector<PendingOfState> pending);

private:
  struct Column;
  Pending take_pending(std::size_t objective, GlobalIndex id, const linalg::Vector& like);
  void hand_back(stepping::BdfEquations& step, std::size_t objective, const stepping::StepRecord& record,
                 const Column& column);
  std::string step_back(const stepping::StepRecord& record, stepping::BdfReverseStep& step);
  std::string step_back(const stepping::StepRecord& record, stepping::MapReverseStep& step);
  std::string solve(stepping::StepEquations& step, const stepping::StepRecord& record,
                    const linalg::Vector& rhs, linalg::Vector& p);
  void add_initial_velocity(stepping::BdfReverseStep& step, std::size_t objective, const linalg::Vector& v,
                            const Pending& pending, linalg::Vector& by_velocity);
  void add_initial_velocity(stepping::MapReverseStep& step, std::size_t objective, const linalg::Vector& v,
                            const Pending& pending, linalg::Vector& by_velocity);
  template <class Step>
  void finish(Step& step);

  const std::vector<stepping::StepRecord>& records_;
  StateSource& states_;
  StateDerivatives& objectives_;
  stepping::DifferentiableStep step_;
  SweepOptions options_;
  GlobalIndex next_;
  std::vector<PendingOfState> pending_; ///< per objective
  SweepTotals totals_;
};

/// How a state, and the displacement and the internal variables its step started from, change along a
/// direction; ghosts are current.
struct StateChange {
  const linalg::Vector &u, &v, &previous_u;
  std::span<const double> previous_internal = {};
};

/// Sees how the states of a run change along the directions of a tangent-linear sweep.
class StateTangents {
public:
  virtual ~StateTangents() = default;
  /// The change of a state along a direction, after the step has been linearised there. Collective.
  virtual void see(std::size_t direction, const StateOfRun& at, const StateChange& change) = 0;
};

/// Tangent-linear sweep along the steps of a run: how its states change to first order along any number of
/// directions dq in the space of parameters, the exact transpose of ReverseSweep. With
/// U_i = sum_j a_j du_{p_j}, V_i = sum_j a_j dv_{p_j} over the predecessors of state i,
///
///     [M + B^2 K] (du_i - dg_i) = -M (dg_i + U_i + B V_i) - B (dM/dq dq) (v_i + sum_j a_j v_{p_j})
///                                 - B^2 (K dg_i + K_- du_{p_1} + dG_i/dq dq)     on free entries,
///     du_i = dg_i = dg_i/dq dq on prescribed ones,  dv_i = (du_i + U_i) / B on all.
///
/// Without inertia B = 1, M = 0 and dv_i = 0. At the start du_0 = dg_u/dq dq and dv_0 = dg_v/dq dq. On a
/// manifold as in ReverseSweep; steps with a StepMap have its equations, with du_i = dg_i on prescribed
/// entries.
///
/// States are shown to it one by one, as a run finds them or as they are read or found again: it keeps copies
/// of as many of them, and of their changes, as a step depends on.
class TangentSweep {
public:
  /// `history`: how many of the last states a step depends on at most. Everything must outlive the sweep.
  TangentSweep(stepping::TangentStep step, StateTangents& tangents, int history, SweepOptions options);

  /// Takes the next state, the initial one first. Empty, or why its change cannot be found: the sweep ends
  /// there, and has shown nothing of that state. Collective.
  std::string advance(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
                      std::span<const double> internal = {});
  std::size_t num_directions() const { return products().num_directions(); }
  const SolveTotals& totals() const { return totals_; }

private:
  struct Change {
    linalg::Vector du, dv;
    std::vector<double> ds = {};
  };
  struct Kept {
    stepping::State state;
    std::vector<Change> changes; ///< per direction
  };

  stepping::TangentProducts& products() const;
  Change change_of_start(std::size_t direction, const linalg::Vector& like);
  template <class Step>
  std::string step_to(Kept& now, const stepping::StepRecord& record, Step& step);
  void show(const Kept& now, const Kept& previous, const stepping::StepRecord& record);
  std::string solve(std::size_t direction, const stepping::StepRecord& record, const stepping::State& now,
                    stepping::BdfTangentStep& step, Change& change);
  std::string solve(std::size_t direction, const stepping::StepRecord& record, const stepping::State& now,
                    stepping::MapTangentStep& step, Change& change);
  std::string solve_free(std::size_t direction, const stepping::StepRecord& record, const linalg::Vector& rhs,
                         linalg::Vector& du);
  Change weighted_past(std::size_t direction, const stepping::StepRecord& record) const;
  linalg::Vector forces(stepping::BdfTangentStep& step, std::size_t direction,
                        const stepping::StepRecord& record, const linalg::Vector& prescribed);
  const Kept& kept(GlobalIndex id) const;

  stepping::TangentStep step_;
  StateTangents& tangents_;
  int history_;
  SweepOptions options_;
  std::deque<Kept> kept_; ///< the last states, oldest first
  SolveTotals totals_;
};

} // namespace recoil::adjoint
