#pragma once

#include <filesystem>
#include <string>

#include "recoil/app/run/console.hpp"
#include "recoil/app/study/base/study_options.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// Runs the experiments of a study forward, sweeps backward through what they stored, and writes
/// gradient.json, gradient.h5 where values belong to elements or vertices, and a run folder per experiment.
/// With `restart` it continues from whatever an earlier call has left: complete runs and finished sweeps are
/// not repeated, on any number of ranks; a sweep under way is, on another number of ranks. Returns
/// ExitCode::no_solution where a run, a sweep or the check fails, ExitCode::interrupted after SIGUSR1 or
/// SIGTERM, when what there is to keep has been written. A study that cannot begin leaves no folder.
/// Collective.
/// @throws InputError, FileError on every rank.
ExitCode gradient(const parallel::Communicator& comm, const StudyOptions& options);

/// Whether a file is a study: JSON with `experiments` and without `geometry`. What cannot be read is none.
/// Collective.
bool is_study_file(const parallel::Communicator& comm, const std::filesystem::path& file);

/// Checks a study with its scenes, meshes and files of observations as gradient() does before its first step;
/// the text for the user, on the first rank. Collective. @throws InputError on every rank.
std::string validate_study(const parallel::Communicator& comm, const std::filesystem::path& path);

} // namespace recoil::app
