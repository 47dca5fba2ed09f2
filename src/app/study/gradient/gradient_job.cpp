#include "app/study/gradient/gradient_job.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "app/study/gradient/sweep_files.hpp"
#include "recoil/app/run/forward_run.hpp"
#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/run/run_state.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/timer.hpp"

namespace recoil::app {

namespace {

/// The states of a run folder.
class TrajectoryStates final : public inverse::StateStore {
public:
  /// `solver` and `output`: of the run, must outlive this.
  TrajectoryStates(checkpoint::TrajectoryReader reader, const stepping::Solver& solver,
                   const RunOutput& output)
      : reader_(std::move(reader)), solver_(solver), output_(output) {}

  bool has(GlobalIndex id) const override { return reader_.has_arrays(id); }
  stepping::State read(GlobalIndex id) override {
    return read_state(fields_of(reader_, id), id, solver_, output_);
  }
  void prefetch(GlobalIndex id) override { reader_.prefetch(id); }
  stepping::RestartData restart_data(GlobalIndex id) override {
    return run_state_from_json(reader_.extra(id)).restart;
  }
  const io::BlockLayout& nodes() const { return output_.nodes(); }

private:
  checkpoint::TrajectoryReader reader_;
  const stepping::Solver& solver_;
  const RunOutput& output_;
};

/// Newton iterations of all steps of a run, whichever process did them; 0 where its solver counts none.
/// @throws FileError if the trajectory is not that of a run.
GlobalIndex newton_iterations_of(const checkpoint::TrajectoryReader& reader) {
  GlobalIndex sum = 0;
  for (const stepping::StepRecord& record : reader.records())
    if (record.id > 0 && record.completes_nominal)
      sum += stepping::count_of(run_state_from_json(reader.extra(record.id)).counts,
                                stepping::newton_count_name);
  return sum;
}

/// Seconds of the process that completed the run in a folder with a trajectory; none if the run has not done
/// all `steps` or anything is missing, summary.json included. Collective. @throws FileError on every rank for
/// damaged files.
std::optional<double> seconds_of_complete_run(const parallel::Communicator& comm,
                                              const ExperimentFolder& folder, GlobalIndex steps) {
  checkpoint::TrajectoryReader reader(comm, folder.trajectory());
  const stepping::StepRecord& last = reader.records().back();
  if (reader.restart_point().states.front() + 1 != std::ssize(reader.records()) || !last.completes_nominal ||
      last.nominal_step != steps)
    return {};
  try {
    const Json summary = Json::parse(read_if_there(comm, folder.summary()).value_or(""));
    if (summary.at("status") == "done") return summary.at("wall_s").get<double>();
  } catch (const nlohmann::json::exception&) {
    // Absent or damaged: the run will write another one.
  }
  return {};
}

class Job final : public GradientJob {
public:
  Job(const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
      const Interrupts& interrupts)
      : comm_(comm), model_(ExperimentModel::create(comm, study, experiment, std::move(loaded), interrupts)),
        interrupts_(interrupts) {}

  ExperimentModel& model() override { return *model_; }
  const ForwardResult& run(const ExperimentFolder& folder) override;
  const SweepResult& sweep() override;
  inverse::ReducedObjective objective_like_run() const override {
    inverse::ReducedObjective result(*model_, {0, model_->sweep_settings()});
    result.compare_with(records_);
    return result;
  }

private:
  const std::string& name() const { return model_->name(); }
  const Scene& scene() const { return model_->scene(); }
  std::uint32_t digest_of_values() const;
  void hold_to_inputs() const;
  std::string run_forward(const Stopwatch& watch);
  void evaluate_run();
  void observe_the_rest();
  void sweep_back();
  std::unique_ptr<inverse::ProblemSweep> begin_sweep() {
    return std::make_unique<inverse::ProblemSweep>(*problem_, records_, *states_, model_->history(),
                                                   model_->sweep_settings());
  }

  const parallel::Communicator& comm_;
  std::unique_ptr<ExperimentModel> model_;
  const Interrupts& interrupts_;

  // Of run(), until sweep() is done.
  ExperimentFolder folder_;
  std::unique_ptr<ExperimentProblem> problem_;
  std::unique_ptr<RunOutput> output_;
  std::unique_ptr<TrajectoryStates> states_;

  std::vector<stepping::StepRecord> records_; ///< of run(), for what comes after
};

const ForwardResult& Job::run(const ExperimentFolder& folder) {
  const Stopwatch watch;
  folder_ = folder;
  folder_.inputs = digests_of(comm_, input_files(model_->study(), model_->experiment(), scene()));
  if (auto known = read_sweep_result(folder_, *model_)) {
    std::tie(forward_, sweep_) = std::move(*known);
  } else {
    problem_ = model_->problem_at(model_->start_values());
    output_ = problem_->make_output();
    forward_.failure = run_forward(watch);
    if (!forward_.failure.empty()) return forward_;
    // A run does not look for signals after its last step.
    interrupts_.stop_if_pending();
  }
  checkpoint::TrajectoryReader reader(comm_, folder.trajectory());
  forward_.newton_iterations = newton_iterations_of(reader);
  records_ = reader.records();
  if (!forward_.is_swept) {
    states_ = std::make_unique<TrajectoryStates>(std::move(reader), problem_->solver(), *output_);
    observe_the_rest();
    evaluate_run();
  }
  return forward_;
}

/// The objectives of the run that is stored. @throws InputError where they have no value or no derivative.
void Job::evaluate_run() {
  try {
    problem_->require_derivatives();
    forward_ = {inverse::evaluate_terms(*problem_), forward_.newton_iterations, forward_.seconds};
  } catch (const InputError& wrong) {
    throw InputError(fmt::format("{} in {}, remove inputs.json beside it, and continue with --restart",
                                 wrong.what(), folder_.study.string()));
  }
}

/// Checksum of the parameters in the study file: their start values take the place of those of the scene.
std::uint32_t Job::digest_of_values() const {
  try {
    const auto study = nlohmann::json::parse(read_if_there(comm_, folder_.study).value_or(""));
    return checksum_of(study.at("parameters").dump());
  } catch (const nlohmann::json::exception&) {
    throw FileError(folder_.study.string() + ": has become damaged");
  }
}

/// Refuses to continue with other values, another scene or other files than the run was begun with.
void Job::hold_to_inputs() const {
  const auto begun_with =
      require_run_inputs(comm_, folder_.scene(), folder_.trajectory(), "the run of '" + name() + "'");
  if (begun_with != digest_of_values())
    throw InputError(folder_.study.string(),
                     fmt::format("its `parameters` are no longer those that the run of '{}' was begun with; "
                                 "put them back, or start again in a new folder",
                                 name()));
}

/// Begins the run, continues it, or leaves a complete one alone.
std::string Job::run_forward(const Stopwatch& watch) {
  const auto run = checkpoint::RunFolder::open(comm_, folder_.root);
  const bool begun = run.has_states(comm_);
  if (begun) hold_to_inputs();
  if (begun)
    if (const auto seconds = seconds_of_complete_run(comm_, folder_, scene().time.steps)) {
      log_info(name() + ": the forward run is complete");
      forward_.seconds = *seconds;
      return "";
    }
  const auto see = [this](const stepping::StepRecord& record, const auto& u, const auto& v) {
    problem_->observe(record, u, v, problem_->solver().history().newest().internal);
  };
  stepping::Solver& solver = problem_->solver();
  ForwardRun forward(comm_, solver, *output_, run_options(scene()), run, interrupts_, watch, see);
  const auto inputs = [&] {
    return run_inputs(comm_, folder_.scene(), files_of_run(model_->study(), model_->experiment(), scene()),
                      digest_of_values());
  };
  const ExitCode code =
      begun ? forward.restart() : forward.start(run_metadata(scene(), model_->dimension(), inputs()));
  if (code == ExitCode::interrupted)
    throw Error(code, name() + ": the forward run is interrupted; run again with --restart to continue");
  forward_.seconds = watch.seconds();
  if (const std::string warning = problem_->warning_of_run(); !warning.empty())
    log_warning(name() + ": " + warning);
  return code == ExitCode::done ? "" : fmt::format("the forward run fails after step {}", solver.step());
}

/// Shows the objectives what an earlier process has stored.
void Job::observe_the_rest() {
  const inverse::SweepSettings settings = model_->sweep_settings();
  std::vector<char> wanted(records_.size(), 0);
  for (const stepping::StepRecord& record : records_) {
    if (!problem_->is_missing(record)) continue;
    wanted[record.id] = 1;
    if (record.num_predecessors > 0) wanted[record.predecessors().front()] = 1;
  }
  inverse::StoredStates(records_, *states_, problem_->solver(), model_->history(), settings.state_budget,
                        settings.stop_if_interrupted)
      .visit([&](const stepping::StepRecord& record) { return wanted[record.id] != 0; },
             [&](const stepping::StepRecord& record, const stepping::State& state) {
               interrupts_.stop_if_pending();
               problem_->observe(record, state.u, state.v, state.internal);
             });
}

const SweepResult& Job::sweep() {
  if (forward_.is_swept) {
    log_info(name() + ": the sweep is finished");
    return sweep_;
  }
  sweep_back();
  if (sweep_.failure.empty()) write_sweep_result(folder_, *model_, forward_, sweep_);
  // Other experiments need the memory.
  states_.reset();
  output_.reset();
  problem_.reset();
  return sweep_;
}

void Job::sweep_back() {
  const Stopwatch watch;
  auto at = begin_sweep();
  SweepResult before;
  std::string why;
  if (read_sweep_checkpoint(folder_, *at, *problem_, states_->nodes(), before, why)) {
    log_info(fmt::format("{}: the sweep continues at state {}", name(), at->sweep().next()));
  } else if (!why.empty()) {
    log_warning(fmt::format("{}: the sweep starts again: {}", name(), why));
    at.reset();
    at = begin_sweep();
  }
  const auto add_costs = [&] {
    const adjoint::SweepTotals& totals = at->sweep().totals();
    sweep_.linear_iterations = before.linear_iterations + totals.linear_iterations;
    sweep_.largest_relative_residual =
        std::max(before.largest_relative_residual, totals.largest_relative_residual);
    sweep_.objective_correction = before.objective_correction + totals.objective_correction;
    sweep_.seconds = before.seconds + watch.seconds();
  };
  const auto save = [&] {
    add_costs();
    write_sweep_checkpoint(folder_, *at, *problem_, states_->nodes(), sweep_);
  };
  const auto advance = [&] {
    try {
      return at->sweep().advance();
    } catch (const Error& error) {
      // While steps were repeated; the sweep has not moved.
      if (error.code() == ExitCode::interrupted) save();
      throw;
    }
  };
  // As often as the run closed a file.
  const GlobalIndex interval = GlobalIndex{scene().output.chunk} * scene().output.every;
  for (GlobalIndex since = 1; at->sweep().next() >= 0; ++since) {
    sweep_.failure = advance();
    if (!sweep_.failure.empty()) return;
    if (at->sweep().next() < 0) break;
    const bool stop = interrupts_.pending();
    if (stop || since >= interval) {
      save();
      since = 0;
    }
    if (stop)
      throw Error(
          ExitCode::interrupted,
          fmt::format("{}: the sweep is interrupted before state {}; run again with --restart to continue",
                      name(), at->sweep().next()));
  }
  sweep_.values = at->adjoint().gradient();
  sweep_.failure = inverse::find_not_finite(*model_, sweep_.values);
  if (!sweep_.failure.empty()) return;
  add_costs();
  log_info(fmt::format("{}: the sweep held {} states at most and repeated {} steps", name(),
                       at->states().most_states_held(), at->states().steps_repeated()));
}

} // namespace

std::unique_ptr<GradientJob> GradientJob::create(const parallel::Communicator& comm, const Study& study,
                                                 int experiment, LoadedScene loaded,
                                                 const Interrupts& interrupts) {
  return std::make_unique<Job>(comm, study, experiment, std::move(loaded), interrupts);
}

} // namespace recoil::app
