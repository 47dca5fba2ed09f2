#pragma once

#include <optional>

#include "app/study/gradient_folder.hpp"

namespace recoil::app {

/// What a run has cost: the process that ended it, and all that took part.
struct RunCost {
  double seconds = 0;
  GlobalIndex newton_iterations = 0;
};

/// Newton iterations of all steps of the run in a folder, by its ledger, whichever process did them.
/// `otherwise` where the ledger does not hold one row per step. Collective.
GlobalIndex newton_iterations_of_run(const parallel::Communicator& comm, const ExperimentFolder& folder,
                                     GlobalIndex steps, GlobalIndex otherwise);

/// The cost of the run in a folder with a trajectory, if it has done all `steps` and nothing is missing,
/// summary.json included. Collective. @throws FileError on every rank for damaged files.
std::optional<RunCost> cost_of_complete_run(const parallel::Communicator& comm,
                                            const ExperimentFolder& folder, GlobalIndex steps);

/// A run that was killed while it wrote the sub-steps of a repeated step may end inside of that step, from
/// where no nominal step goes on: removes files until it ends with one. Collective. @throws as above.
void drop_unfinished_step(const parallel::Communicator& comm, const ExperimentFolder& folder);

} // namespace recoil::app
