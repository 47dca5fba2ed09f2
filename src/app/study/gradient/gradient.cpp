#include "recoil/app/study/gradient/gradient.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/study/gradient/gradient_report.hpp"
#include "recoil/app/study/experiment/work_on_study.hpp"
#include "recoil/base/json_depth.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/base/version.hpp"
#include "recoil/inverse/difference_check.hpp"

namespace recoil::app {

namespace {

const StudyCommand gradient_command{"gradient", "gradient.json", {"gradient.h5"}};

/// The sum of the objectives.
inverse::LineSample sample(const CountedJobs& experiments, const Direction& direction, double factor) {
  inverse::LineSample sum;
  for (GradientJob* experiment : experiments) {
    const inverse::ObjectiveValue result =
        experiment->objective_like_run().value(experiment->model().values_along(direction, factor));
    if (!result.failure.empty()) sum.problem = name_options(result.failure);
    if (!result.same_steps) sum.problem = "a run with changed parameters took other (sub-)steps";
    sum.value += result.objective;
  }
  return sum;
}

/// The keys that say how exactly the steps of the experiments are solved.
std::string tolerance_keys(const CountedJobs& experiments) {
  std::vector<std::string> all;
  for (GradientJob* experiment : experiments)
    if (const std::string keys = experiment->model().tolerance_keys(); !holds(all, keys)) all.push_back(keys);
  return fmt::format("{}", fmt::join(all, " or "));
}

/// The verdict in words. `tolerances`: the keys that say how exactly steps are solved.
std::string describe(const inverse::DirectionCheck& check, const std::string& tolerances) {
  const double known = check.uncertainties.empty() ? 0 : *std::ranges::min_element(check.uncertainties);
  switch (check.judgement) {
  case inverse::Judgement::agrees:
    if (check.is_lost) return "agrees (all changes of the objective are lost in rounding)";
    return std::isnan(check.slope) ? "agrees (the remainder is lost in rounding)" : "agrees";
  case inverse::Judgement::noisy:
    return fmt::format(
        "noise: runs repeat the objective to {:.1e}, and so the differences are known to {:.1e} only: "
        "tighten {}, or take larger steps",
        check.errors.noise, known, tolerances);
  case inverse::Judgement::unconverged:
    return fmt::format(
        "not converged: the differences are known to {:.1e} only: take smaller steps, unless the "
        "objective has a kink here",
        known);
  case inverse::Judgement::unsolved:
    return fmt::format(
        "loosely solved: off by {:.1e}, and exact solves of the steps would change the objective by "
        "{:.1e}: tighten {}",
        check.relative_error, check.errors.unsolved, tolerances);
  case inverse::Judgement::wrong:
    return fmt::format("wrong derivative: off by {:.1e}, where the differences are known to {:.1e}",
                       check.relative_error, known);
  case inverse::Judgement::not_comparable:
    break;
  }
  return "not comparable: " + check.problem;
}

/// Compares the gradient with differences of whole runs, along directions drawn over all parameters
/// (`study.check.directions` of them), and along one per parameter where there are several. Steps are
/// relative to the size of each value. Collective.
std::vector<inverse::DirectionCheck> check_gradient(const Study& study, const CountedJobs& experiments) {
  std::vector<std::pair<std::string, Direction>> directions;
  for (int i = 1; i <= study.check.directions; ++i)
    directions.emplace_back(fmt::format("random {}", i), Direction{i, -1});
  if (study.parameters.size() > 1)
    for (int k = 0; k < std::ssize(study.parameters); ++k)
      if (!study.parameters[k].tie)
        directions.emplace_back(study.parameters[k].name, Direction{study.check.directions + 1 + k, k});
  double at_start = 0, unsolved = 0;
  for (GradientJob* experiment : experiments) {
    at_start += experiment->forward().objective;
    unsolved += std::abs(experiment->swept().objective_correction);
  }

  const std::string tolerances = tolerance_keys(experiments);
  std::vector<inverse::DirectionCheck> checks;
  for (const auto& [name, direction] : directions) {
    double derivative = 0;
    for (GradientJob* experiment : experiments)
      derivative += experiment->model().derivative(experiment->swept().values, direction);
    const auto objective = [&](double factor) { return sample(experiments, direction, factor); };
    const inverse::DirectionCheck& check = checks.emplace_back(
        inverse::check_along(name, derivative, at_start, unsolved, objective, study.check.steps));
    const std::string line = fmt::format(
        "check {}: derivative {:.9e}, differences {:.9e}, relative error {:.1e}, slope {:.3f}: {}",
        check.name, check.derivative, check.difference, check.relative_error, check.slope,
        describe(check, tolerances));
    check.judgement == inverse::Judgement::agrees ? log_info(line) : log_warning(line);
  }
  return checks;
}

/// Per direction: slope, errors, verdict.
Json describe_check(const std::vector<inverse::DirectionCheck>& checks, const std::string& tolerances) {
  Json result;
  for (const inverse::DirectionCheck& check : checks)
    result[check.name] = {{"slope", std::isnan(check.slope) ? Json() : Json(check.slope)},
                          {"relative_error", check.relative_error},
                          {"verdict", describe(check, tolerances)},
                          {"derivative", check.derivative},
                          {"difference", check.difference},
                          {"noise", check.errors.noise},
                          {"steps", check.steps},
                          {"differences", check.differences},
                          {"relative_errors", check.relative_errors},
                          {"uncertainties", check.uncertainties},
                          {"remainders", check.remainders}};
  return result;
}

/// All experiments of a study, from scenes to gradients.
class GradientRun {
public:
  GradientRun(const parallel::Communicator& comm, const Study& study, std::vector<LoadedScene> scenes,
              const Interrupts& interrupts)
      : comm_(comm), study_(study), interrupts_(interrupts) {
    for (int e = 0; e < std::ssize(scenes); ++e) {
      interrupts.stop_if_pending();
      experiments_.push_back(GradientJob::create(comm, study, e, std::move(scenes[e]), interrupts));
    }
    parallel::collectively(comm, [&] { check_ties(study, experiments_); });
  }

  /// Finds what is wrong before the first step; what the objectives of the experiments are.
  std::vector<ObjectiveKind> check_start() {
    std::vector<ObjectiveKind> kinds;
    for (const auto& experiment : experiments_) {
      interrupts_.stop_if_pending();
      kinds.push_back(experiment->model().check_start());
    }
    return kinds;
  }

  ExitCode run(const StudyFolder& folder, bool check) {
    const CountedJobs counted = counted_jobs(study_, experiments_);
    for (GradientJob* experiment : counted)
      if (const std::string failure = run_experiment(*experiment, folder); !failure.empty()) {
        log_error(experiment->model().name() + ": " + failure);
        return ExitCode::no_solution;
      }
    warnings_ = gradient_warnings(counted, frozen_);
    for (const std::string& warning : warnings_) log_warning(warning);
    write_gradient_fields(comm_, study_, experiments_, folder.root() / "gradient.h5");
    // A check may take longer than the job has; and an earlier process may have made one.
    write_result(folder);
    if (!check) return ExitCode::done;
    const auto checks = check_gradient(study_, counted);
    write_sealed_json(comm_, folder.check(), {{"check", describe_check(checks, tolerance_keys(counted))}});
    write_result(folder);
    const bool any_wrong =
        std::ranges::count(checks, inverse::Judgement::wrong, &inverse::DirectionCheck::judgement) > 0;
    return any_wrong ? ExitCode::no_solution : ExitCode::done;
  }

private:
  /// Empty, or why there is no gradient.
  std::string run_experiment(GradientJob& experiment, const StudyFolder& folder) {
    const std::string& name = experiment.model().name();
    const ExperimentFolder own = folder.experiment(name);
    if (const auto stiffness = experiment.model().freeze_stiffness(own)) {
      log_info(
          fmt::format("{}: barrier stiffness frozen at {:g}, the largest of a pilot run", name, *stiffness));
      frozen_[name] = *stiffness;
    }
    const ForwardResult& forward = experiment.run(own);
    if (!forward.is_swept) folder.discard_result(comm_);
    if (!forward.failure.empty()) return forward.failure;
    const SweepResult& sweep = experiment.sweep();
    if (!sweep.failure.empty()) return sweep.failure;
    log_info(fmt::format("{}: objective {:.9g}, forward {:.2f} s with {} Newton iterations, sweep {:.2f} s "
                         "with {} linear iterations",
                         name, forward.objective, forward.seconds, forward.newton_iterations, sweep.seconds,
                         sweep.linear_iterations));
    return "";
  }

  void write_result(const StudyFolder& folder) const {
    Json json = describe_gradient(study_, experiments_);
    if (!frozen_.empty()) json["barrier_stiffness"] = frozen_;
    if (!warnings_.empty()) json["warnings"] = warnings_;
    json["ranks"] = comm_.size();
    json["peak_memory_mb"] = {{"max", comm_.max(peak_memory_mb())}, {"sum", comm_.sum(peak_memory_mb())}};
    json["version"] = version();
    const SealedJson check = read_sealed_json(comm_, folder.check());
    if (check.content && check.content->contains("check"))
      json["check"] = check.content->at("check");
    else if (check.exists)
      log_warning(folder.check().string() + " is damaged, and gradient.json is without the check; run again "
                                            "with --restart and --check");
    folder.write_result(comm_, json);
  }

  const parallel::Communicator& comm_;
  const Study& study_;
  const Interrupts& interrupts_;
  GradientJobs experiments_;
  Json frozen_;
  std::vector<std::string> warnings_;
};

} // namespace

ExitCode gradient(const parallel::Communicator& comm, const StudyOptions& options) {
  const auto work = [&](LoadedStudy& loaded, StudyFolder& folder, const Interrupts& interrupts) {
    const Study& study = loaded.file.study;
    // An earlier process has found out whether the study can start.
    const bool starts = !folder.has_states(comm, study);
    GradientRun run(comm, study, std::move(loaded.scenes), interrupts);
    if (starts) run.check_start();
    folder.settle();
    return run.run(folder, options.check);
  };
  return work_on_study(comm, gradient_command, options, work);
}

bool is_study_file(const parallel::Communicator& comm, const std::filesystem::path& file) {
  bool is_study = false;
  parallel::collectively(comm, [&] {
    std::error_code error;
    if (comm.rank() != 0 || !std::filesystem::is_regular_file(file, error)) return;
    try {
      const std::string text = read_file(file);
      require_shallow_json(text, file);
      const Json root = Json::parse(text, nullptr, false);
      is_study = root.is_object() && root.contains("experiments") && !root.contains("geometry");
    } catch (const FileError&) {
      is_study = false;
    }
  });
  return comm.any(is_study);
}

std::string validate_study(const parallel::Communicator& comm, const std::filesystem::path& path) {
  LogOptions log;
  log.rank = comm.rank();
  log.level = LogLevel::warning;
  initialize_log(log);
  const Interrupts interrupts(comm);
  LoadedStudy loaded = load_study(comm, path, interrupts);
  const Study& study = loaded.file.study;
  for (const std::string& warning : loaded.warnings) log_warning(warning);
  const std::vector<ObjectiveKind> kinds =
      GradientRun(comm, study, std::move(loaded.scenes), interrupts).check_start();
  require_sd_factors(study, kinds);
  std::string text = fmt::format("{}: valid, {} experiments, {} parameters, {} objectives\n", path.string(),
                                 study.experiments.size(), study.parameters.size(), study.objectives.size());
  for (std::size_t e = 0; e < kinds.size(); ++e)
    text += fmt::format("  {}{}: {}\n", study.experiments[e].name,
                        study.experiments[e].is_candidate ? " (candidate)" : "",
                        kinds[e].why_not_least_squares.empty()
                            ? fmt::format("a sum of squares of {} data", kinds[e].num_data())
                            : "no sum of squares: " + kinds[e].why_not_least_squares);
  return comm.rank() == 0 ? text : std::string();
}

} // namespace recoil::app
