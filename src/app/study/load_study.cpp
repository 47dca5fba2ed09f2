#include "app/study/load_study.hpp"

#include <algorithm>
#include <iterator>

#include "app/study/input_files.hpp"
#include "app/study/scene_as_run.hpp"

namespace recoil::app {

namespace {

StudyFile read_on_all_ranks(const parallel::Communicator& comm, const std::filesystem::path& path) {
  StudyFile first =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? read_study(path) : StudyFile(); });
  comm.broadcast(first.resolved);
  comm.broadcast(first.locations);
  return parallel::collectively(comm,
                                [&] { return read_resolved_study(first.resolved, first.locations, path); });
}

} // namespace

LoadedStudy load_study(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const Interrupts& interrupts) {
  LoadedStudy loaded{read_on_all_ranks(comm, path), {}, {}, {}};
  const Study& study = loaded.file.study;
  std::vector<Scene> scenes;
  std::vector<int> dims;
  for (const Experiment& experiment : study.experiments) {
    loaded.scenes.push_back(load_scene(comm, experiment.scene));
    scenes.push_back(loaded.scenes.back().file.scene);
    dims.push_back(loaded.scenes.back().dim);
    std::ranges::copy(files_of_run(study, static_cast<int>(scenes.size()) - 1, scenes.back()),
                      std::back_inserter(loaded.files));
    interrupts.stop_if_pending();
  }
  loaded.warnings = study.warnings;
  parallel::collectively(comm, [&] {
    check_study_dimensions(study, dims);
    for (auto& warning : check_study_against_scenes(study, scenes))
      loaded.warnings.push_back(std::move(warning));
  });
  for (LoadedScene& scene : loaded.scenes) set_output_for_sweep(study, scene.file.scene);
  return loaded;
}

} // namespace recoil::app
