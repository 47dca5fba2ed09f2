#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recoil/inverse/forward_problem.hpp"
#include "recoil/inverse/stored_states.hpp"

namespace recoil::inverse {

/// The objective at some values of the parameters.
struct ObjectiveValue {
  double objective = 0;
  std::vector<double> terms; ///< weighted, as ForwardProblem::terms()
  std::string failure;       ///< why there is no value; empty if there is one
  bool same_steps = true;    ///< as the run that ReducedObjective::compare_with() was given
  stepping::Entries effort;  ///< of its run, stepping::Solver::effort()
};

/// The derivatives of the objective at given values of the parameters.
struct ObjectiveGradient {
  ParameterValues values; ///< dJ/dq, of the shape of q
  GlobalIndex linear_iterations = 0;
  double largest_relative_residual = 0;
  double objective_correction = 0; ///< what exact solves of the steps would add to the objective
  std::string failure;             ///< why there is none; empty if there is one
};

/// How its residuals change there along directions.
struct ResidualChanges {
  std::vector<std::vector<double>> columns; ///< dr/dq dq of every direction: this rank's rows
  GlobalIndex linear_iterations = 0;
  double largest_relative_residual = 0;
  std::string failure; ///< why there are none; empty if there are
};

/// Evaluates the objective of a run all of whose observed states have been shown. @throws InputError as
/// ForwardProblem::terms(). Collective.
ObjectiveValue evaluate_terms(const ForwardProblem& problem);

/// Empty, or which derivative is not finite. Collective.
std::string find_not_finite(const ForwardModel& model, const ParameterValues& gradient);

/// The displacements of a run: what runs of nearly the same problem may start the solves of their steps near.
struct KnownRun {
  std::map<double, std::vector<double>> u; ///< by time [s]: owned entries of this rank, then ghosts

  /// The values at a time, to rounding, if the run had that time.
  std::optional<std::span<const double>> at(double time) const;
};

struct SweepSettings {
  double tolerance = 1e-10;        ///< relative, of the transposed solves
  std::optional<int> state_budget; ///< of StoredStates
  /// Throws on every rank if the work is to end; asked for before and after every step. Collective.
  std::function<void()> stop_if_interrupted = [] {};
};

/// The reverse sweep through a run of a problem.
class ProblemSweep {
public:
  /// `records`: of all states of the run; `store` has them. Everything must outlive it. Collective.
  ProblemSweep(ForwardProblem& problem, const std::vector<stepping::StepRecord>& records, StateStore& store,
               int history, const SweepSettings& settings);
  /// A sweep of another adjoint problem than that of the objective.
  ProblemSweep(ForwardProblem& problem, std::unique_ptr<AdjointProblem> adjoint,
               const std::vector<stepping::StepRecord>& records, StateStore& store, int history,
               const SweepSettings& settings);

  adjoint::ReverseSweep& sweep() { return sweep_; }
  AdjointProblem& adjoint() { return *adjoint_; }
  const StoredStates& states() const { return states_; }

private:
  StoredStates states_;
  std::unique_ptr<AdjointProblem> adjoint_;
  adjoint::ReverseSweep sweep_;
};

/// An objective J(u(q), q) as a function of the parameters alone: every value is a whole run of the forward
/// problem at q, every gradient a reverse sweep through that run. Calls may be made at any values in any
/// order; the same values give the same bits. All members are collective.
class ReducedObjective {
public:
  struct Options {
    /// States of a run are kept in memory after every so many steps, and the ones between are computed again
    /// for the gradient; 0: value() keeps none, and gradient() runs again with all of them.
    int store_every = 1;
    SweepSettings sweep;
  };

  /// `model` must outlive it.
  ReducedObjective(const ForwardModel& model, Options options);
  ReducedObjective(ReducedObjective&&) noexcept;
  ~ReducedObjective();

  /// From now on runs take their steps in as many parts as the run with `records`, which must outlive this,
  /// so that their values can be compared with its.
  void compare_with(const std::vector<stepping::StepRecord>& records) { like_ = &records; }

  /// From now on each run that begins asks `find` for a known run, in the layout of its problem, and starts
  /// its solves near that: another known run changes its numbers within the tolerances of the solves.
  void start_near(std::function<KnownRun(ForwardProblem&)> find) { find_known_ = std::move(find); }
  /// The problem of the last run, and its displacements: none where it failed, or has not kept all states.
  /// Not collective. @pre the last call was value().
  std::pair<ForwardProblem*, KnownRun> known_run() const;

  /// J(q). Values that have no problem or no solution give a failure. @throws what stop_if_interrupted
  /// throws.
  ObjectiveValue value(const ParameterValues& q);
  /// dJ/dq; runs forward only if q are not the values of the call before. The states of the run go with it.
  /// @throws as value().
  ObjectiveGradient gradient(const ParameterValues& q);

  // Least squares: @pre ForwardProblem::is_least_squares(). Repeated calls at q use the run that is there,
  // the states of which stay until a call at other values, or gradient().

  /// This rank's rows of r(q), in the order of ForwardProblem::residuals(); none where there is no value. A
  /// run that has stored no states has kept none, and is repeated.
  /// @throws as value().
  std::vector<double> residuals(const ParameterValues& q);
  /// dr/dq dq along `directions` by one tangent-linear sweep, which repeats the steps whose states are not
  /// stored. @throws as value().
  ResidualChanges jacobian(const ParameterValues& q, const std::vector<ParameterValues>& directions);
  /// (dr/dq)' y by a reverse sweep, y in the order of residuals(). @throws as value().
  ObjectiveGradient jacobian_transposed(const ParameterValues& q, std::span<const double> y);

private:
  struct Run;
  bool is_at(const ParameterValues& q) const;
  void run(const ParameterValues& q, int store_every);
  void run_with_states(const ParameterValues& q);
  void take_steps();
  ObjectiveGradient sweep_back(std::unique_ptr<AdjointProblem> adjoint);
  ResidualChanges sweep_forward(TangentProblem& tangent);

  const ForwardModel& model_;
  Options options_;
  const std::vector<stepping::StepRecord>* like_ = nullptr;
  std::function<KnownRun(ForwardProblem&)> find_known_;
  std::unique_ptr<Run> run_; ///< of the last call
};

} // namespace recoil::inverse
