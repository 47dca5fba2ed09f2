#pragma once

#include "recoil/solvers/elastodynamics/solver.hpp"
#include "solvers/elastodynamics/loose_motions.hpp"

namespace recoil::solvers {

/// A run whose steps are to be differentiated; what it refers to must outlive the steps.
template <int dim>
struct RecordedRun {
  ElastodynamicsProblem<dim>& problem;
  const ElastodynamicsOptions& options;
  IncrementalPotential<dim>& objective;
  const LooseMotions<dim>* loose; ///< null: everything is held
  GlobalIndex num_records; ///< states of the run, the initial one included (the parts of a static solve share
                           ///< its load)
};

/// Enters a recorded step, as ElastodynamicsSolver::enter_step() does. Collective.
template <int dim>
void enter_recorded_step(const RecordedRun<dim>& run, const stepping::StepRecord& record,
                         std::span<const double> u, std::span<const double> previous);

/// The steps of a recorded elastodynamics run, for the reverse and for the tangent-linear sweep. The barrier
/// stiffness must be fixed, and friction lagged once per step or until it has converged: a finite number of
/// passes has no derivative. `products` and `directions` must outlive them.
template <int dim>
std::unique_ptr<stepping::BdfReverseStep> make_recorded_step(const RecordedRun<dim>& run,
                                                             stepping::SweepProducts<dim>& products);
template <int dim>
std::unique_ptr<stepping::BdfTangentStep> make_tangent_step(const RecordedRun<dim>& run,
                                                            stepping::SweepDirections<dim>& directions);

} // namespace recoil::solvers
