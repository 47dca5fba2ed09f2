#include "recoil/app/study/gradient.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/study/gradient_report.hpp"
#include "app/study/gradient_warnings.hpp"
#include "app/study/sealed_json.hpp"
#include "app/study/tied_values.hpp"
#include "app/study/work_on_study.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

const StudyCommand gradient_command{"gradient", "gradient.json", {"gradient.h5"}};

/// All experiments of a study, from scenes to gradients.
class GradientRun {
public:
  GradientRun(const parallel::Communicator& comm, const Study& study, std::vector<LoadedScene> scenes,
              const Interrupts& interrupts)
      : comm_(comm), study_(study), interrupts_(interrupts) {
    for (std::size_t e = 0; e < scenes.size(); ++e) {
      interrupts.stop_if_pending();
      stages_.experiments.push_back(
          GradientJob::create(comm, study, static_cast<int>(e), std::move(scenes[e]), interrupts));
    }
    parallel::collectively(comm, [&] { check_ties(study, stages_.experiments); });
  }

  /// Finds what is wrong before the first step.
  void check_start() {
    for (const auto& experiment : stages_.experiments) {
      interrupts_.stop_if_pending();
      experiment->check_start();
    }
  }

  ExitCode run(const StudyFolder& folder, bool check) {
    for (std::size_t e = 0; e < stages_.experiments.size(); ++e)
      if (const std::string failure = run_experiment(e, folder); !failure.empty()) {
        log_error(study_.experiments[e].name + ": " + failure);
        return ExitCode::no_solution;
      }
    warnings_ = gradient_warnings(study_, stages_, frozen_);
    for (const std::string& warning : warnings_) log_warning(warning);
    write_gradient_fields(comm_, study_, stages_, folder.root() / "gradient.h5");
    // A check may take longer than the job has; and an earlier process may have made one.
    write_result(folder);
    if (!check) return ExitCode::done;
    const auto checks = check_gradient(study_, stages_.experiments, stages_.forward, stages_.sweeps);
    write_sealed_json(comm_, folder.check(), {{"check", describe_check(checks)}});
    write_result(folder);
    const auto is_wrong = [](const GradientCheck& direction) {
      return direction.judgement == inverse::Judgement::wrong;
    };
    return std::ranges::any_of(checks, is_wrong) ? ExitCode::no_solution : ExitCode::done;
  }

private:
  /// Empty, or why there is no gradient.
  std::string run_experiment(std::size_t e, const StudyFolder& folder) {
    const std::string& name = study_.experiments[e].name;
    GradientJob& experiment = *stages_.experiments[e];
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

  void write_result(const StudyFolder& folder) {
    nlohmann::ordered_json result = describe();
    const SealedJson check = read_sealed_json(comm_, folder.check());
    if (check.content && check.content->contains("check"))
      result["check"] = check.content->at("check");
    else if (check.exists)
      log_warning(folder.check().string() + " is damaged, and gradient.json is without the check; run again "
                                            "with --restart and --check");
    folder.write_result(comm_, result);
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
  const Interrupts& interrupts_;
  GradientStages stages_;
  nlohmann::ordered_json frozen_;
  std::vector<std::string> warnings_;
};

/// Puts the study into a new folder, and finds out whether it can start, unless an earlier process has.
std::unique_ptr<GradientRun> prepare(const parallel::Communicator& comm, LoadedStudy& loaded,
                                     StudyFolder& folder, bool continues, const Interrupts& interrupts) {
  const Study& study = loaded.file.study;
  if (!continues) begin(comm, loaded, folder);
  const bool starts = !continues || !folder.has_states(comm, study);
  auto run = std::make_unique<GradientRun>(comm, study, std::move(loaded.scenes), interrupts);
  if (starts) run->check_start();
  folder.settle();
  return run;
}

} // namespace

ExitCode gradient(const parallel::Communicator& comm, const GradientOptions& options) {
  return work_on_study(comm,
                       {gradient_command, options.study, options.output, options.restart, options.console},
                       [&](LoadedStudy& loaded, StudyFolder& folder, const Interrupts& interrupts) {
                         return prepare(comm, loaded, folder, !options.restart.empty(), interrupts)
                             ->run(folder, options.check);
                       });
}

} // namespace recoil::app
