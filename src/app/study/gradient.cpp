#include "recoil/app/gradient.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/study/experiment_run.hpp"
#include "app/study/taylor_check.hpp"
#include "recoil/app/study/read_study.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/base/version.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/parameters/variable_map.hpp"

namespace recoil::app {

namespace {

Study load_study(const parallel::Communicator& comm, const std::filesystem::path& path) {
  StudyFile first =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? read_study(path) : StudyFile(); });
  comm.broadcast(first.resolved);
  comm.broadcast(first.locations);
  return parallel::collectively(
      comm, [&] { return read_resolved_study(first.resolved, first.locations, path).study; });
}

parameters::Scaling scaling_of(const ParameterSpec& spec) {
  using Kind = parameters::Scaling::Kind;
  switch (spec.scale.kind) {
  case Scale::Kind::logarithm:
    return {.kind = Kind::logarithm};
  case Scale::Kind::logit:
    return {.kind = Kind::logit, .low = (*spec.bounds)[0], .high = (*spec.bounds)[1]};
  case Scale::Kind::factor:
    return {.kind = Kind::factor, .factor = spec.scale.factor};
  case Scale::Kind::linear:
    break;
  }
  return {};
}

/// The derivative by what an optimiser sees of a value, from that by the value.
double scaled(const ParameterSpec& spec, double value, double gradient) {
  const parameters::Scaling scaling = scaling_of(spec);
  return scaling.slope(scaling.variable(value)) * gradient;
}

nlohmann::ordered_json number_or_list(const std::vector<double>& values) {
  if (values.size() == 1) return values.front();
  return values;
}

/// Derivatives by the replicated parameters, summed over the experiments and over what is tied.
nlohmann::ordered_json describe_parameters(const Study& study,
                                           const std::vector<std::unique_ptr<ExperimentRun>>& experiments,
                                           const std::vector<SweepResult>& sweeps) {
  nlohmann::ordered_json result;
  std::vector<std::vector<double>> gradients(study.parameters.size()), values(study.parameters.size());
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    const std::vector<int> parameters = experiments[e]->parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (!experiments[e]->is_replicated(k)) continue;
      const auto index = static_cast<std::size_t>(parameters[k]);
      const auto owner = static_cast<std::size_t>(study.parameters[index].tie.value_or(parameters[k]));
      const std::vector<double>& share = sweeps[e].gradient[k];
      gradients[owner].resize(std::max(gradients[owner].size(), share.size()), 0.0);
      for (std::size_t i = 0; i < share.size(); ++i) gradients[owner][i] += share[i];
      values[owner] = experiments[e]->start_values(k);
    }
  }
  for (std::size_t i = 0; i < study.parameters.size(); ++i) {
    const ParameterSpec& spec = study.parameters[i];
    const auto owner = static_cast<std::size_t>(spec.tie.value_or(static_cast<int>(i)));
    if (gradients[owner].empty()) {
      result[spec.name] = {{"unit", info(spec.quantity).unit}, {"file", "gradient.h5"}};
      continue;
    }
    std::vector<double> by_variable = gradients[owner];
    for (std::size_t k = 0; k < by_variable.size(); ++k)
      by_variable[k] = scaled(spec, values[owner][k], by_variable[k]);
    const char* unit = info(spec.quantity).unit;
    result[spec.name] = {{"value", number_or_list(values[owner])},
                         {"unit", unit != nullptr ? unit : "1"},
                         {"gradient", number_or_list(gradients[owner])},
                         {"gradient_scaled", number_or_list(by_variable)}};
  }
  return result;
}

nlohmann::ordered_json describe_check(const std::vector<DirectionCheck>& checks) {
  nlohmann::ordered_json result;
  for (const DirectionCheck& check : checks)
    result[check.name] = {
        {"slope", std::isnan(check.slope) ? nlohmann::ordered_json() : nlohmann::ordered_json(check.slope)},
        {"relative_error", check.relative_error},
        {"verdict", check.verdict},
        {"derivative", check.derivative},
        {"difference", check.difference},
        {"steps", check.steps},
        {"relative_errors", check.relative_errors},
        {"remainders", check.remainders}};
  return result;
}

/// All experiments of a study, from scenes to gradients.
class GradientRun {
public:
  GradientRun(const parallel::Communicator& comm, const Study& study, std::vector<LoadedScene> scenes,
              std::filesystem::path folder)
      : comm_(comm), study_(study), folder_(std::move(folder)) {
    for (std::size_t e = 0; e < scenes.size(); ++e)
      experiments_.push_back(ExperimentRun::create(comm, study, static_cast<int>(e), std::move(scenes[e])));
  }

  ExitCode run(bool check) {
    for (std::size_t e = 0; e < experiments_.size(); ++e) {
      const std::string& name = study_.experiments[e].name;
      if (const auto stiffness = experiments_[e]->freeze_stiffness()) {
        log_info(fmt::format("{}: barrier stiffness frozen at {:g}, the largest of a pilot run", name,
                             *stiffness));
        frozen_[name] = *stiffness;
      }
      forward_.push_back(experiments_[e]->run(folder_ / name));
      if (!forward_.back().failure.empty()) return fail(name, forward_.back().failure);
      sweeps_.push_back(experiments_[e]->sweep());
      if (!sweeps_.back().failure.empty()) return fail(name, sweeps_.back().failure);
      log_info(fmt::format("{}: objective {:.9g}, forward {:.2f} s with {} Newton iterations, sweep {:.2f} s "
                           "with {} linear iterations",
                           name, forward_.back().objective, forward_.back().seconds,
                           forward_.back().newton_iterations, sweeps_.back().seconds,
                           sweeps_.back().linear_iterations));
    }
    std::vector<DirectionCheck> checks;
    if (check) checks = check_gradient(study_, experiments_, forward_, sweeps_);
    write(checks);
    return std::ranges::all_of(checks, &DirectionCheck::agrees) ? ExitCode::done : ExitCode::no_solution;
  }

private:
  ExitCode fail(const std::string& experiment, const std::string& why) {
    log_error(experiment + ": " + why);
    return ExitCode::no_solution;
  }

  void write(const std::vector<DirectionCheck>& checks) {
    nlohmann::ordered_json json;
    double objective = 0, forward_seconds = 0, sweep_seconds = 0;
    GlobalIndex newton = 0, linear = 0;
    std::vector<std::size_t> next(experiments_.size(), 0);
    for (const ObjectiveSpec& spec : study_.objectives) {
      const auto e = static_cast<std::size_t>(spec.experiment);
      json["per_objective"][spec.name] = forward_[e].terms[next[e]++];
    }
    for (std::size_t e = 0; e < experiments_.size(); ++e) {
      objective += forward_[e].objective;
      forward_seconds += forward_[e].seconds;
      sweep_seconds += sweeps_[e].seconds;
      newton += forward_[e].newton_iterations;
      linear += sweeps_[e].linear_iterations;
    }
    json["objective"] = objective;
    json["parameters"] = describe_parameters(study_, experiments_, sweeps_);
    if (!checks.empty()) json["check"] = describe_check(checks);
    if (!frozen_.empty()) json["barrier_stiffness"] = frozen_;
    json["forward_s"] = forward_seconds;
    json["sweep_s"] = sweep_seconds;
    json["newton_iterations"] = newton;
    json["sweep_linear_iterations"] = linear;
    json["ranks"] = comm_.size();
    json["peak_memory_mb"] = {{"max", comm_.max(peak_memory_mb())}, {"sum", comm_.sum(peak_memory_mb())}};
    json["version"] = version();
    parallel::collectively(comm_, [&] {
      if (comm_.rank() == 0) write_file_atomically(folder_ / "gradient.json", json.dump(1) + "\n");
    });
  }

  const parallel::Communicator& comm_;
  const Study& study_;
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<ExperimentRun>> experiments_;
  std::vector<ForwardResult> forward_;
  std::vector<SweepResult> sweeps_;
  nlohmann::ordered_json frozen_;
};

} // namespace

ExitCode gradient(const parallel::Communicator& comm, const GradientOptions& options) {
  const Study study = load_study(comm, options.study);
  std::vector<LoadedScene> loaded;
  std::vector<Scene> scenes;
  std::vector<int> dims;
  for (const Experiment& experiment : study.experiments) {
    loaded.push_back(load_scene(comm, experiment.scene));
    scenes.push_back(loaded.back().file.scene);
    dims.push_back(loaded.back().dim);
  }
  std::vector<std::string> warnings = study.warnings;
  parallel::collectively(comm, [&] {
    check_study_dimensions(study, dims);
    for (auto& warning : check_study_against_scenes(study, scenes)) warnings.push_back(std::move(warning));
  });
  const checkpoint::RunFolder folder = checkpoint::RunFolder::create(comm, options.output);
  LogOptions log;
  log.rank = comm.rank();
  log.level = options.verbose ? LogLevel::debug : LogLevel::info;
  log.quiet = options.quiet;
  log.json_lines = options.json_lines;
  log.file = folder.log();
  initialize_log(log);
  log_info(build_info());
  for (const std::string& warning : warnings) log_warning(warning);
  GradientRun run(comm, study, std::move(loaded), options.output);
  return run.run(options.check);
}

} // namespace recoil::app
