#include "app/study/work_on_study.hpp"

#include <optional>

#include <fmt/format.h>

#include "app/study/scene_as_run.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

ExitCode work_on_study(const parallel::Communicator& comm, const StudyTask& task, const WorkOnStudy& work) {
  const Interrupts interrupts(comm);
  const bool continues = !task.restart.empty();
  std::optional<StudyFolder> folder;
  if (continues) folder.emplace(StudyFolder::open(comm, task.command, task.restart));
  const bool known = continues && folder->require_inputs(comm);
  LoadedStudy loaded = load_study(comm, continues ? folder->study() : task.study, interrupts);
  const Study& study = loaded.file.study;
  if (!continues) folder.emplace(StudyFolder::create(comm, task.command, task.output, study));
  start_log(comm, task.console, folder->log());
  log_info(build_info());
  for (const std::string& warning : loaded.warnings) log_warning(warning);
  if (continues && !known) {
    log_warning(folder->inputs().string() +
                " is missing: whether study and scenes are those of the beginning is not known");
    folder->accept_inputs(comm, study, loaded.files);
  }
  for (const Experiment& experiment : study.experiments)
    log_info(fmt::format("experiment '{}': {}", experiment.name, experiment.scene.string()));
  try {
    return work(loaded, *folder, interrupts);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) {
      log_warning(error.what());
      return ExitCode::interrupted;
    }
    if (!continues && !folder->is_settled()) {
      // The corrected study would be refused a folder that is not empty; its log file is closed first.
      start_log(comm, task.console);
      folder->discard(comm);
    }
    throw;
  }
}

void begin(const parallel::Communicator& comm, const LoadedStudy& loaded, StudyFolder& folder) {
  std::vector<std::string> scenes;
  for (const LoadedScene& scene : loaded.scenes) scenes.push_back(scene_as_run(scene.file));
  folder.begin(comm, loaded.file.study, loaded.file.resolved, scenes, loaded.files);
}

} // namespace recoil::app
