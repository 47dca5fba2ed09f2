#pragma once

#include <optional>

#include "app/study/study_folder.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

/// Newton iterations of all steps of a run, whichever process did them. Not collective. @throws FileError if
/// the trajectory is not that of a run.
GlobalIndex newton_iterations_of(const checkpoint::TrajectoryReader& reader);

/// Seconds of the process that completed the run in a folder with a trajectory; none if the run has not done
/// all `steps` or anything is missing, summary.json included. Collective. @throws FileError on every rank for
/// damaged files.
std::optional<double> seconds_of_complete_run(const parallel::Communicator& comm,
                                              const ExperimentFolder& folder, GlobalIndex steps);

} // namespace recoil::app
