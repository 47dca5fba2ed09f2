#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recoil/adjoint/sweeps.hpp"
#include "recoil/linalg/vector.hpp"
#include "recoil/stepping/solver.hpp"

namespace recoil::inverse {

/// Values of all parameters on this rank; `values[k]` belongs to parameter k, entry by entry. A parameter
/// whose entries every rank holds has the same ones everywhere; of others each rank has its own entries
/// first.
using ParameterValues = std::vector<std::vector<double>>;

/// Numbers that an adjoint problem gathers on this rank.
struct GatheredArray {
  std::string name;
  std::span<double> entries;
};

/// The adjoint of a forward problem: what a reverse sweep through its run asks for, and the gradient that it
/// gathers. All members but the accessors are collective.
class AdjointProblem {
public:
  virtual ~AdjointProblem() = default;
  virtual adjoint::StateDerivatives& objective() = 0;
  virtual stepping::DifferentiableStep step() = 0;
  /// dJ/dq, of the shape of the values of the problem. Once, after the sweep.
  virtual ParameterValues gradient() = 0;
  /// What has been gathered so far, zero at first: enough to continue in another process with the same
  /// partition, which sets it. The same names on all ranks. Not collective.
  virtual std::vector<GatheredArray> gathered() = 0;
};

/// The tangent-linear problem of a forward problem: how its residuals change along directions in the space of
/// its parameters. All members are collective.
class TangentProblem {
public:
  virtual ~TangentProblem() = default;
  virtual stepping::TangentStep step() = 0;
  /// Gathers the changes of the residuals; has to be shown the states that the problem observes, by rising
  /// id, with all directions of one before the next.
  virtual adjoint::StateTangents& residuals() = 0;
  /// dr/dq dq of a direction, in the order of ForwardProblem::residuals(). Once, after the sweep.
  virtual std::vector<double> change_of_residuals(std::size_t direction) = 0;
};

/// A forward problem at given values of its parameters, at its start. All members but the accessors are
/// collective.
class ForwardProblem {
public:
  virtual ~ForwardProblem() = default;
  virtual stepping::Solver& solver() = 0;
  virtual GlobalIndex num_steps() const = 0;

  /// Shows the objective a state of the run; all that it looks at have to be shown, each after the one that
  /// its step starts from. `internal`: variables of the state besides u and v.
  virtual void observe(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
                       std::span<const double> internal) = 0;
  /// The weighted terms that the objective is the sum of, after all states have been shown. @throws
  /// InputError on every rank, at the term's place, where one has no value.
  virtual std::vector<double> terms() const = 0;
  /// The places of the terms, for messages.
  virtual std::vector<std::string> places_of_terms() const = 0;

  /// The adjoint of a run with `num_records` states, of which the objective has been shown what it observes.
  /// Uses the solver of the run, which may only repeat steps meanwhile.
  virtual std::unique_ptr<AdjointProblem> adjoint(GlobalIndex num_records) = 0;

  // Least squares.

  /// Whether the objective is |r|^2 with residuals r.
  virtual bool is_least_squares() const { return false; }
  /// Asks for residuals() of the states that will be shown: as many numbers as points and states are
  /// observed. Before the first of them. @pre is_least_squares().
  virtual void keep_residuals() {}
  /// This rank's residuals, after all states have been shown: by rising time, terms in their order. The same
  /// rows at all values of the parameters. @pre keep_residuals() has been called.
  virtual std::vector<double> residuals() const { return {}; }
  /// The tangent-linear problem along `directions`, changes of the values of the parameters, of a run with
  /// `num_records` states. As adjoint(). @pre is_least_squares().
  virtual std::unique_ptr<TangentProblem> tangent(const std::vector<ParameterValues>& /*directions*/,
                                                  GlobalIndex /*num_records*/) {
    return nullptr;
  }
  /// The adjoint of y' r instead of the objective, y in the order of residuals(): its gradient is (dr/dq)' y.
  /// @pre is_least_squares().
  virtual std::unique_ptr<AdjointProblem> residual_adjoint(std::span<const double> /*y*/,
                                                           GlobalIndex /*num_records*/) {
    return nullptr;
  }
};

/// Makes forward problems at any values of the parameters: the forward model of an inverse problem.
class ForwardModel {
public:
  virtual ~ForwardModel() = default;
  /// The problem at `values`. Collective. @throws InputError on every rank for values that have none, as
  /// those that turn an element inside out.
  virtual std::unique_ptr<ForwardProblem> at(const ParameterValues& values) const = 0;
  /// The name of a parameter, for messages.
  virtual std::string parameter_name(std::size_t k) const = 0;
  /// How many of the last states a step depends on at most.
  virtual int history() const = 0;
  virtual const parallel::Communicator& comm() const = 0;
};

} // namespace recoil::inverse
