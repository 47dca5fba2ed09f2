#pragma once

#include <optional>
#include <string>
#include <utility>

#include "app/study/gradient/gradient_job.hpp"
#include "recoil/io/block_layout.hpp"

/// What the sweep of an experiment keeps in its folder: how far it has come, then what it has come to. Arrays
/// go into a file of their own, aside, synced and renamed, then sweep.json names it with its digest and with
/// those of study, scene, trajectory and of `folder.inputs`; what was written before is removed. All
/// functions are collective. @throws FileError on every rank for what cannot be written.
namespace recoil::app {

/// Writes how far a sweep has come: the pending adjoint vectors in canonical node order, and what it has
/// gathered in the order of ranks. Between two steps. `nodes`: of the trajectory; `so_far`: what it has cost,
/// over all processes that took part in it.
void write_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                            ExperimentProblem& problem, const io::BlockLayout& nodes,
                            const SweepResult& so_far);

/// Puts a new sweep where write_sweep_checkpoint() has left another one, and sets `so_far` to the costs that
/// were written. False where there is nothing to continue from; then `why` says so if there should be, and
/// `at` may no longer be used.
bool read_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                           ExperimentProblem& problem, const io::BlockLayout& nodes, SweepResult& so_far,
                           std::string& why);

/// Keeps what run and sweep of an experiment have come to, for processes with any number of ranks.
void write_sweep_result(const ExperimentFolder& folder, const ExperimentModel& model,
                        const ForwardResult& forward, const SweepResult& sweep);

/// What write_sweep_result() has kept; none where no sweep has been finished, or, with a warning that names
/// the experiment, where its result cannot be read.
std::optional<std::pair<ForwardResult, SweepResult>> read_sweep_result(const ExperimentFolder& folder,
                                                                       const ExperimentModel& model);

} // namespace recoil::app
