#pragma once

#include <map>
#include <string>
#include <vector>

#include "recoil/adjoint/sweep_totals.hpp"
#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::adjoint {

/// The states of a recorded run, read or recomputed on demand.
class StateSource {
public:
  virtual ~StateSource() = default;
  /// State `id`; valid until three other states have been asked for. The sweep asks for falling ids, each
  /// with its predecessor. Collective.
  virtual const stepping::State& state(GlobalIndex id) = 0;
};

/// The partial derivatives of the objectives by the states of a run.
class StateDerivatives {
public:
  virtual ~StateDerivatives() = default;
  virtual std::size_t num_objectives() const = 0;
  /// du += dJ/du_i and dv += dJ/dv_i on owned entries, for the state of `record`, and the explicit partial
  /// derivatives by parameters to the gradient of `objective`; nothing for a state that it does not see.
  /// Collective.
  virtual void add(std::size_t objective, const stepping::StepRecord& record, const stepping::State& state,
                   linalg::Vector& du, linalg::Vector& dv) = 0;
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
/// predecessor, and X_i = B_s K_-^s' p_s over those that start there. Without inertia B = 1 and Ps = Ms = 0.
/// The gradient gathers B_i p_i' dG_i/dq + (p_i + Ps_i)' dM/dq v_i - eta_i' dg_i/dq over the steps, and
/// Ps_0' dM/dq v_0 - p_0' dg_v/dq - mu_0' dg_u/dq with p_0 = -M Ps_0 - dJ/dv_0,
/// mu_0 = -(dJ/du_0 + Ms_0 + X_0).
///
/// On a manifold du_i, p_i and mu_i are tangent vectors (in the layout of v), and the equations above hold
/// where differences of positions do not depend on where they are taken, as on tori and products of R^n with
/// them.
///
/// Holds the adjoint variables of as many steps as the scheme has predecessors, whatever the length of the
/// run.
class ReverseSweep {
public:
  /// `records`: of all states in order, that of the initial state first. Everything must outlive the sweep.
  ReverseSweep(const std::vector<stepping::StepRecord>& records, StateSource& states,
               StateDerivatives& objectives, stepping::DifferentiableStep& step, SweepOptions options);

  /// Id of the state whose equations come next; 0 when only the initial state is left, -1 when done.
  GlobalIndex next() const { return next_; }
  /// Goes one state back. Empty, or why the step has no adjoint solution. Where `states` throws, the sweep
  /// stays where it was. Collective.
  std::string advance();
  const SweepTotals& totals() const { return totals_; }

  /// What waits for the states before: enough to continue in another process. `pending[k]` of objective k.
  struct Pending {
    linalg::Vector weighted_p, weighted_mu; ///< Ps and Ms of a state, so far
    linalg::Vector previous;                ///< X of it
    bool has_weights = false, has_previous = false;
  };
  using PendingOfState = std::map<GlobalIndex, Pending>;
  const std::vector<PendingOfState>& pending() const { return pending_; }
  /// Goes on before state `next` with what another sweep had pending there.
  void resume(GlobalIndex next, std::vector<PendingOfState> pending);

private:
  struct Column;
  Pending take_pending(std::size_t objective, GlobalIndex id, const linalg::Vector& like);
  void hand_back(std::size_t objective, const stepping::StepRecord& record, const linalg::Vector& p,
                 const linalg::Vector& mu, double B);
  std::string step_back(const stepping::StepRecord& record);
  void finish();

  const std::vector<stepping::StepRecord>& records_;
  StateSource& states_;
  StateDerivatives& objectives_;
  stepping::DifferentiableStep& step_;
  SweepOptions options_;
  GlobalIndex next_;
  std::vector<PendingOfState> pending_; ///< per objective
  SweepTotals totals_;
};

} // namespace recoil::adjoint
