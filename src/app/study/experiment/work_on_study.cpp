#include "recoil/app/study/experiment/work_on_study.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "recoil/app/study/experiment/check_scenes.hpp"
#include "recoil/app/study/experiment/experiment_model.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

StudyFile read_on_all_ranks(const parallel::Communicator& comm, const std::filesystem::path& path,
                            const std::string& text) {
  StudyFile first = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return StudyFile();
    if (text.empty()) return read_study(path);
    return parse_study(text, path.string(), std::filesystem::current_path());
  });
  comm.broadcast(first.resolved);
  comm.broadcast(first.locations);
  return parallel::collectively(comm,
                                [&] { return read_resolved_study(first.resolved, first.locations, path); });
}

} // namespace

LoadedStudy load_study(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const Interrupts& interrupts, const std::string& text) {
  LoadedStudy loaded{read_on_all_ranks(comm, path, text), {}, {}, {}};
  const Study& study = loaded.file.study;
  std::vector<Scene> scenes;
  std::vector<int> dims;
  for (int e = 0; e < std::ssize(study.experiments); ++e) {
    const LoadedScene& scene =
        loaded.scenes.emplace_back(load_scene(comm, study.experiments[e].scene, all_solvers()));
    scenes.push_back(scene.file.scene);
    dims.push_back(scene.dim);
    std::ranges::copy(files_of_run(study, e, scene.file.scene), std::back_inserter(loaded.files));
    interrupts.stop_if_pending();
  }
  loaded.warnings = study.warnings;
  parallel::collectively(comm, [&] {
    check_study_dimensions(study, dims);
    std::ranges::move(check_study_against_scenes(study, scenes), std::back_inserter(loaded.warnings));
  });
  for (LoadedScene& scene : loaded.scenes) set_output_for_sweep(study, scene.file.scene);
  return loaded;
}

ExitCode work_on_study(const parallel::Communicator& comm, const StudyCommand& command,
                       const StudyOptions& options, const WorkOnStudy& work) {
  const Interrupts interrupts(comm);
  const bool continues = !options.restart.empty();
  std::optional<StudyFolder> folder;
  if (continues) folder.emplace(StudyFolder::open(comm, command, options.restart));
  const bool known = continues && folder->require_inputs(comm);
  LoadedStudy loaded = continues ? load_study(comm, folder->study(), interrupts)
                                 : load_study(comm, options.study, interrupts, options.text);
  const Study& study = loaded.file.study;
  if (!continues) folder.emplace(StudyFolder::create(comm, command, options.output, study));
  start_log(comm, options.console, folder->log());
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
    if (!continues) {
      std::vector<std::string> scenes;
      for (const LoadedScene& scene : loaded.scenes) scenes.push_back(scene_as_run(scene.file));
      folder->begin(comm, study, loaded.file.resolved, scenes, loaded.files);
    }
    return work(loaded, *folder, interrupts);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) {
      log_warning(error.what());
      return ExitCode::interrupted;
    }
    if (!continues && !folder->is_settled()) {
      // The corrected study could not begin in a folder that is not empty; its log file is closed first.
      start_log(comm, options.console);
      folder->discard(comm);
    }
    throw;
  }
}

} // namespace recoil::app
