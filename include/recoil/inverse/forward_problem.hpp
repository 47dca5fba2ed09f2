#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/linalg/vector.hpp"
#include "recoil/stepping/history.hpp"

namespace recoil::inverse {

/// Values of all parameters on this rank; `values[k]` belongs to parameter k, entry by entry. A parameter
/// whose entries every rank holds has the same ones everywhere; of others each rank has its own entries
/// first.
using ParameterValues = std::vector<std::vector<double>>;

/// How a nominal step went.
struct StepOutcome {
  bool accepted = false, interrupted = false; ///< never both
  std::string failure;                        ///< why it could not be done, for the user
};

/// What a run needs to continue from a state, beside the states themselves.
struct RestartData {
  int num_states = 1; ///< how many of the last states the next step depends on
  std::string solver; ///< what else the solver needs, in words of its own
};

/// The steps of a forward run, taken for the first time or again from an earlier state. All members but the
/// accessors are collective.
class ForwardSteps {
public:
  using OnState =
      std::function<void(const stepping::StepRecord&, const linalg::Vector& u, const linalg::Vector& v)>;

  virtual ~ForwardSteps() = default;
  /// Nominal steps done so far.
  virtual GlobalIndex step() const = 0;
  /// The states that the next step depends on.
  virtual const stepping::History& history() const = 0;
  /// What continue_from() needs to continue from here.
  virtual RestartData restart_data() const = 0;
  /// Continues from `states`, oldest first, as if the steps before had been taken just now: with the same
  /// bits.
  virtual void continue_from(const RestartData& data, std::vector<stepping::State> states) = 0;
  /// Takes the next nominal step, in `sub_steps` (a power of two) equal parts at first. `on_state` is called
  /// for each state of the step, in order, once all of them have been found. After failure or interruption
  /// the run stays where it was.
  virtual StepOutcome advance(const OnState& on_state, int sub_steps) = 0;
};

/// The adjoint of a forward problem: what a reverse sweep through its run asks for, and the gradient that it
/// gathers. All members but the accessors are collective.
class AdjointProblem {
public:
  virtual ~AdjointProblem() = default;
  virtual adjoint::StateDerivatives& objective() = 0;
  virtual stepping::DifferentiableStep& step() = 0;
  /// dJ/dq, of the shape of the values of the problem. Once, after the sweep.
  virtual ParameterValues gradient() = 0;
  /// What has been gathered on this rank so far: with set_gathered() enough to continue in another process
  /// with the same partition.
  virtual std::vector<double> gathered() = 0;
  /// False where `gathered` does not fit this partition; this object is useless then.
  virtual bool set_gathered(std::span<const double> gathered) = 0;
};

/// A forward problem at given values of its parameters, at its start. All members but the accessors are
/// collective.
class ForwardProblem {
public:
  virtual ~ForwardProblem() = default;
  virtual ForwardSteps& steps() = 0;
  virtual GlobalIndex num_steps() const = 0;
  /// Time of the initial state [s].
  virtual double start_time() const = 0;

  /// Shows the objective a state of the run; all that is_observed() have to be shown, in any order.
  virtual void observe(const stepping::StepRecord& record, const linalg::Vector& u,
                       const linalg::Vector& v) = 0;
  virtual bool is_observed(const stepping::StepRecord& record) const = 0;
  /// The weighted terms that the objective is the sum of, after all states have been shown. @throws
  /// InputError on every rank, at the term's place, where one has no value.
  virtual std::vector<double> terms() const = 0;
  /// The places of the terms, for messages.
  virtual std::vector<std::string> places_of_terms() const = 0;

  /// The adjoint of a run with `num_records` states, of which the objective has been shown what it observes.
  /// Uses the solver of the run, which may only repeat steps meanwhile.
  virtual std::unique_ptr<AdjointProblem> adjoint(GlobalIndex num_records) = 0;
};

/// Makes forward problems at any values of the parameters: the forward model of an inverse problem.
class ForwardModel {
public:
  virtual ~ForwardModel() = default;
  /// The problem at `values`. Collective. @throws InputError on every rank for values that have none, as
  /// those that turn an element inside out.
  virtual std::unique_ptr<ForwardProblem> at(const ParameterValues& values) const = 0;
  /// Of a parameter, for messages.
  virtual std::string parameter_name(std::size_t k) const = 0;
  /// How many of the last states a step depends on at most.
  virtual int history() const = 0;
  virtual const parallel::Communicator& comm() const = 0;
};

} // namespace recoil::inverse
