#pragma once

#include <string>

#include "app/study/study_folder.hpp"
#include "recoil/app/simulation/discrete_scene.hpp"
#include "recoil/inverse/reduced_objective.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {

/// What a sweep has cost, over all processes that took part in it.
struct SweepProgress {
  GlobalIndex linear_iterations = 0;
  double largest_relative_residual = 0;
  double objective_correction = 0;
  double seconds = 0;
};

/// Writes how far a sweep has come: the pending adjoint vectors in canonical node order, and what it has
/// gathered in the order of ranks. Between two steps. `nodes`: of the trajectory. Collective.
/// @throws FileError on every rank.
template <int dim>
void write_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                            const DiscreteScene<dim>& discrete, const io::BlockLayout& nodes,
                            const SweepProgress& progress);

/// Puts a new sweep where write_sweep_checkpoint() has left another one, and `progress` to what that was
/// given. False where there is nothing to continue from; then `why` says so if there should be, and `at` may
/// no longer be used. Collective.
template <int dim>
bool read_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                           const DiscreteScene<dim>& discrete, const io::BlockLayout& nodes,
                           SweepProgress& progress, std::string& why);

} // namespace recoil::app
