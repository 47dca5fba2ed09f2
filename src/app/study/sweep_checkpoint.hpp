#pragma once

#include <string>

#include "app/study/gradient_chain.hpp"
#include "app/study/gradient_folder.hpp"
#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {

/// What a sweep has cost, over all processes that took part in it.
struct SweepProgress {
  GlobalIndex linear_iterations = 0;
  double largest_relative_residual = 0;
  double objective_correction = 0;
  double seconds = 0;
};

/// Writes where `sweep` stands: the pending adjoint vectors in canonical node order, and what `chain` has
/// gathered in the order of ranks. Between two steps. `nodes`: of the trajectory. Collective.
/// @throws FileError on every rank.
template <int dim>
void write_sweep_checkpoint(const ExperimentFolder& folder, const adjoint::ReverseSweep& sweep,
                            GradientChain<dim>& chain, const DiscreteScene<dim>& discrete,
                            const io::BlockLayout& nodes, const SweepProgress& progress);

/// Puts a fresh `sweep` and `chain` where write_sweep_checkpoint() has left others, and `progress` to what it
/// was given. False where there is nothing to go on from; then `why` says so if there should be. A chain that
/// was refused is spoilt. Collective.
template <int dim>
bool read_sweep_checkpoint(const ExperimentFolder& folder, adjoint::ReverseSweep& sweep,
                           GradientChain<dim>& chain, const DiscreteScene<dim>& discrete,
                           const io::BlockLayout& nodes, SweepProgress& progress, std::string& why);

} // namespace recoil::app
