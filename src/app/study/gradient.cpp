#include "recoil/app/gradient.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/study/gradient_folder.hpp"
#include "app/study/gradient_report.hpp"
#include "app/study/gradient_warnings.hpp"
#include "app/study/tied_values.hpp"
#include "recoil/app/study/read_study.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

StudyFile load_study(const parallel::Communicator& comm, const std::filesystem::path& path) {
  StudyFile first =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? read_study(path) : StudyFile(); });
  comm.broadcast(first.resolved);
  comm.broadcast(first.locations);
  return parallel::collectively(comm,
                                [&] { return read_resolved_study(first.resolved, first.locations, path); });
}

/// A study with its scenes, checked against each other.
struct LoadedStudy {
  StudyFile file;
  std::vector<LoadedScene> scenes;
  std::vector<std::string> warnings;
};

LoadedStudy load(const parallel::Communicator& comm, const std::filesystem::path& path) {
  LoadedStudy loaded{load_study(comm, path), {}, {}};
  const Study& study = loaded.file.study;
  std::vector<Scene> scenes;
  std::vector<int> dims;
  for (const Experiment& experiment : study.experiments) {
    loaded.scenes.push_back(load_scene(comm, experiment.scene));
    scenes.push_back(loaded.scenes.back().file.scene);
    dims.push_back(loaded.scenes.back().dim);
  }
  loaded.warnings = study.warnings;
  parallel::collectively(comm, [&] {
    check_study_dimensions(study, dims);
    for (auto& warning : check_study_against_scenes(study, scenes))
      loaded.warnings.push_back(std::move(warning));
  });
  return loaded;
}

/// All experiments of a study, from scenes to gradients.
class GradientRun {
public:
  GradientRun(const parallel::Communicator& comm, const Study& study, std::vector<LoadedScene> scenes)
      : comm_(comm), study_(study), interrupts_(comm) {
    for (std::size_t e = 0; e < scenes.size(); ++e)
      stages_.experiments.push_back(
          ExperimentRun::create(comm, study, static_cast<int>(e), std::move(scenes[e]), interrupts_));
    parallel::collectively(comm, [&] { check_ties(study, stages_.experiments); });
  }

  /// Fills a new folder with all that it takes to go on from it, after whatever can be found wrong before the
  /// first step.
  void begin(GradientFolder& folder, const std::string& resolved_study) {
    std::vector<std::string> scenes;
    for (const auto& experiment : stages_.experiments) {
      experiment->check_start();
      scenes.push_back(experiment->scene_as_run());
    }
    folder.begin(comm_, study_, resolved_study, scenes);
  }

  ExitCode run(const GradientFolder& folder, bool check) {
    interrupts_.listen();
    for (std::size_t e = 0; e < stages_.experiments.size(); ++e)
      if (const std::string failure = run_experiment(e, folder); !failure.empty()) {
        log_error(study_.experiments[e].name + ": " + failure);
        return ExitCode::no_solution;
      }
    warnings_ = gradient_warnings(study_, stages_, frozen_);
    for (const std::string& warning : warnings_) log_warning(warning);
    write_gradient_fields(comm_, study_, stages_, folder.fields());
    // A check may take longer than the job has. What is there already may hold one.
    if (!folder.has_result(comm_)) folder.write_result(comm_, describe());
    if (!check) return ExitCode::done;
    const auto checks = check_gradient(study_, stages_.experiments, stages_.forward, stages_.sweeps);
    nlohmann::ordered_json json = describe();
    json["check"] = describe_check(checks);
    folder.write_result(comm_, json);
    const auto is_wrong = [](const DirectionCheck& direction) {
      return direction.judgement == Judgement::wrong;
    };
    return std::ranges::any_of(checks, is_wrong) ? ExitCode::no_solution : ExitCode::done;
  }

private:
  /// Empty, or why there is no gradient.
  std::string run_experiment(std::size_t e, const GradientFolder& folder) {
    const std::string& name = study_.experiments[e].name;
    ExperimentRun& experiment = *stages_.experiments[e];
    const ExperimentFolder own = folder.experiment(name);
    if (const auto stiffness = experiment.freeze_stiffness(own)) {
      log_info(
          fmt::format("{}: barrier stiffness frozen at {:g}, the largest of a pilot run", name, *stiffness));
      frozen_[name] = *stiffness;
    }
    const ForwardResult& forward = stages_.forward.emplace_back(experiment.run(own));
    if (!forward.is_swept) folder.discard_result(comm_);
    if (!forward.failure.empty()) return forward.failure;
    const SweepResult& sweep = stages_.sweeps.emplace_back(experiment.sweep());
    if (!sweep.failure.empty()) return sweep.failure;
    log_info(fmt::format("{}: objective {:.9g}, forward {:.2f} s with {} Newton iterations, sweep {:.2f} s "
                         "with {} linear iterations",
                         name, forward.objective, forward.seconds, forward.newton_iterations, sweep.seconds,
                         sweep.linear_iterations));
    return "";
  }

  nlohmann::ordered_json describe() {
    nlohmann::ordered_json json = describe_gradient(study_, stages_);
    if (!frozen_.empty()) json["barrier_stiffness"] = frozen_;
    if (!warnings_.empty()) json["warnings"] = warnings_;
    json["ranks"] = comm_.size();
    json["peak_memory_mb"] = {{"max", comm_.max(peak_memory_mb())}, {"sum", comm_.sum(peak_memory_mb())}};
    json["version"] = version();
    return json;
  }

  const parallel::Communicator& comm_;
  const Study& study_;
  Interrupts interrupts_;
  GradientStages stages_;
  nlohmann::ordered_json frozen_;
  std::vector<std::string> warnings_;
};

} // namespace

ExitCode gradient(const parallel::Communicator& comm, const GradientOptions& options) {
  const bool continues = !options.restart.empty();
  std::optional<GradientFolder> folder;
  if (continues) folder.emplace(GradientFolder::open(comm, options.restart));
  LoadedStudy loaded = load(comm, continues ? folder->study() : options.study);
  const Study& study = loaded.file.study;
  if (!continues) folder.emplace(GradientFolder::create(comm, options.output, study));
  start_log(comm, options.console, folder->log());
  log_info(build_info());
  for (const std::string& warning : loaded.warnings) log_warning(warning);
  for (const Experiment& experiment : study.experiments)
    log_info(fmt::format("experiment '{}': {}", experiment.name, experiment.scene.string()));
  std::optional<GradientRun> run;
  try {
    run.emplace(comm, study, std::move(loaded.scenes));
    if (!continues) run->begin(*folder, loaded.file.resolved);
  } catch (const Error&) {
    if (!continues) {
      // The mended study would be refused a folder that is not empty; its log file is closed first.
      start_log(comm, options.console);
      folder->discard();
    }
    throw;
  }
  try {
    return run->run(*folder, options.check);
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) throw;
    log_warning(error.what());
    return ExitCode::interrupted;
  }
}

} // namespace recoil::app
