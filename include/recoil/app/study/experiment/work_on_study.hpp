#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "recoil/app/run/interrupts.hpp"
#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/study/base/study_folder.hpp"
#include "recoil/app/study/base/study_options.hpp"
#include "recoil/app/study/input/read_study.hpp"

namespace recoil::app {

/// A study with its scenes, checked against each other; the output of the scenes is that of
/// set_output_for_sweep().
struct LoadedStudy {
  StudyFile file;
  std::vector<LoadedScene> scenes;
  std::vector<std::filesystem::path> files; ///< all that the runs read
  std::vector<std::string> warnings;
};

/// Reads a study and its scenes; `text` as in StudyOptions. Collective. @throws InputError on every rank,
/// Error of ExitCode::interrupted.
LoadedStudy load_study(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const Interrupts& interrupts, const std::string& text = {});

using WorkOnStudy = std::function<ExitCode(LoadedStudy&, StudyFolder&, const Interrupts&)>;

/// Makes or opens the folder of a command, loads its study, starts the log, puts study and scenes into a new
/// folder, and does `work`, which settles it. A study that cannot begin leaves no folder. Returns
/// ExitCode::interrupted after a signal. Collective. @throws InputError, FileError on every rank.
ExitCode work_on_study(const parallel::Communicator& comm, const StudyCommand& command,
                       const StudyOptions& options, const WorkOnStudy& work);

} // namespace recoil::app
