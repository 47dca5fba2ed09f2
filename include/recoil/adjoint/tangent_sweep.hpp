#pragma once

#include <deque>
#include <string>
#include <vector>

#include "recoil/adjoint/sweep_totals.hpp"
#include "recoil/stepping/tangent_step.hpp"

namespace recoil::adjoint {

/// Sees how the states of a run change along the directions of a tangent-linear sweep.
class StateTangents {
public:
  virtual ~StateTangents() = default;
  /// du_i and dv_i of the state of `record` along a direction; ghosts are current. Collective.
  virtual void see(std::size_t direction, const stepping::StepRecord& record, const stepping::State& state,
                   const linalg::Vector& du, const linalg::Vector& dv) = 0;
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
/// manifold as in ReverseSweep.
///
/// States are shown to it one by one, as a run finds them or as they are read or found again: it keeps copies
/// of as many of them, and of their changes, as a step depends on.
class TangentSweep {
public:
  /// `history`: how many of the last states a step depends on at most. Everything must outlive the sweep.
  TangentSweep(stepping::TangentStep& step, StateTangents& tangents, int history, SweepOptions options);

  /// Takes the next state, the initial one first. Empty, or why its change cannot be found: the sweep ends
  /// there, and has shown nothing of that state. Collective.
  std::string advance(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v);
  const SolveTotals& totals() const { return totals_; }

private:
  struct Change {
    linalg::Vector du, dv;
  };
  struct Kept {
    stepping::State state;
    std::vector<Change> changes; ///< per direction
  };

  Change change_of_start(std::size_t direction, const linalg::Vector& like);
  std::string step_to(Kept& now, const stepping::StepRecord& record);
  std::string solve(std::size_t direction, const stepping::StepRecord& record, const linalg::Vector& v_sum,
                    Change& change);
  Change weighted_past(std::size_t direction, const stepping::StepRecord& record) const;
  linalg::Vector forces(std::size_t direction, const stepping::StepRecord& record,
                        const linalg::Vector& prescribed);
  const Kept& kept(GlobalIndex id) const;

  stepping::TangentStep& step_;
  StateTangents& tangents_;
  int history_;
  SweepOptions options_;
  std::deque<Kept> kept_; ///< the last states, oldest first
  SolveTotals totals_;
};

} // namespace recoil::adjoint
