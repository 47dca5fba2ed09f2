#pragma once

#include <filesystem>
#include <functional>

#include "app/study/load_study.hpp"
#include "app/study/study_folder.hpp"
#include "recoil/app/simulation/console.hpp"

namespace recoil::app {

/// A command on a study as the command line gives it.
struct StudyTask {
  StudyCommand command;
  std::filesystem::path study, output;
  std::filesystem::path restart; ///< folder to continue; replaces `study` and `output`
  ConsoleOptions console;
};

using WorkOnStudy = std::function<ExitCode(LoadedStudy&, StudyFolder&, const Interrupts&)>;

/// Makes or opens the folder of a task, loads its study, starts the log, and does `work`, which begins the
/// folder where it is new and settles it. A study that cannot begin leaves no folder. Returns
/// ExitCode::interrupted after a signal. Collective. @throws InputError, FileError on every rank.
ExitCode work_on_study(const parallel::Communicator& comm, const StudyTask& task, const WorkOnStudy& work);

/// Writes study and scenes into a new folder.
void begin(const parallel::Communicator& comm, const LoadedStudy& loaded, StudyFolder& folder);

} // namespace recoil::app
