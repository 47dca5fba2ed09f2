#include "app/study/gradient_job.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/study/complete_run.hpp"
#include "app/study/experiment_problem.hpp"
#include "app/study/experiment_result.hpp"
#include "app/study/input_files.hpp"
#include "app/study/scene_as_run.hpp"
#include "app/study/sealed_json.hpp"
#include "app/study/sweep_checkpoint.hpp"
#include "app/study/trajectory_states.hpp"
#include "recoil/app/simulation/conventions.hpp"
#include "recoil/app/simulation/forward_run.hpp"
#include "recoil/app/simulation/node_layout.hpp"
#include "recoil/app/simulation/run_inputs.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/base/timer.hpp"

namespace recoil::app {

namespace {

template <int dim>
class Job final : public GradientJob {
public:
  Job(const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
      const Interrupts& interrupts)
      : comm_(comm), study_(study), model_(comm, study, experiment, std::move(loaded), interrupts),
        interrupts_(interrupts) {
    require_budget();
  }

  const ExperimentModel& model() const override { return model_; }
  ObjectiveKind check_start() override;
  std::optional<double> freeze_stiffness(const ExperimentFolder& folder) override;
  ForwardResult run(const ExperimentFolder& folder) override;
  SweepResult sweep() override;
  inverse::ReducedObjective reduced_objective() const override {
    return {model_, {study_.sweep.store_every, sweep_settings(), study_.optimizer.warm_start}};
  }
  inverse::ReducedObjective objective_like_run() const override {
    inverse::ReducedObjective result(model_, {0, sweep_settings()});
    result.compare_with(records_);
    return result;
  }

private:
  const std::string& name() const { return model_.name(); }
  const Scene& scene() const { return model_.scene(); }
  inverse::SweepSettings sweep_settings() const {
    return {study_.sweep.tolerance, study_.sweep.state_budget, [this] { interrupts_.stop_if_pending(); }};
  }
  void require_budget() const;
  double run_pilot();
  std::uint32_t digest_of_values() const;
  void hold_to_inputs() const;
  std::string run_forward(ForwardResult& result, const Stopwatch& watch);
  void evaluate_run();
  void observe_the_rest();
  void sweep_back(SweepResult& result);
  std::unique_ptr<inverse::ProblemSweep> begin_sweep() {
    return std::make_unique<inverse::ProblemSweep>(*problem_, records_, *states_, model_.history(),
                                                   sweep_settings());
  }

  const parallel::Communicator& comm_;
  const Study& study_;
  ExperimentOnMesh<dim> model_;
  const Interrupts& interrupts_;

  // Of run(), until sweep() is done.
  ExperimentFolder folder_;
  std::unique_ptr<ExperimentProblem<dim>> problem_;
  std::vector<char> observed_; ///< per nominal step
  std::unique_ptr<TrajectoryStates> states_;

  // Of run() and sweep(), for what comes after.
  std::vector<stepping::StepRecord> records_;
  ForwardResult forward_;
  std::optional<SweepResult> swept_;
};

template <int dim>
void Job<dim>::require_budget() const {
  if (!study_.sweep.state_budget) return;
  const bool all_stored = study_.sweep.store_every == 1;
  const int smallest = inverse::StoredStates::smallest_budget(all_stored, model_.history());
  if (*study_.sweep.state_budget >= smallest) return;
  throw InputError(
      study_.sweep.where_budget,
      fmt::format("must be at least {} for experiment '{}' ({}), is {}", smallest, name(),
                  all_stored
                      ? "a step and the one before it"
                      : fmt::format("a restart point of {} state{} and the step that the sweep stands at",
                                    model_.history(), model_.history() > 1 ? "s" : ""),
                  *study_.sweep.state_budget));
}

template <int dim>
ObjectiveKind Job<dim>::check_start() {
  Scene trial = scene();
  // Whatever a pilot run finds will do as well.
  if (!trial.contact.barrier_stiffness) trial.contact.barrier_stiffness = 1;
  const ExperimentProblem<dim> problem(model_, trial, model_.start_values());
  const auto& [objectives, places] = problem.observation().terms;
  const auto& composition = problem.observation().composition;
  return {objectives::why_not_least_squares<dim>(objectives, composition),
          objectives::is_chi_squared<dim>(objectives, composition),
          comm_.sum(problem.observation().num_data(scene().time))};
}

template <int dim>
std::optional<double> Job<dim>::freeze_stiffness(const ExperimentFolder& folder) {
  ContactSpec& contact = model_.scene_file().scene.contact;
  if (!contact.enabled) return {};
  const SealedJson pilot = read_sealed_json(comm_, folder.pilot());
  if (!pilot.exists && contact.barrier_stiffness) return {};
  const auto scene_and_digest = [&] {
    const std::string text = scene_as_run(model_.scene_file());
    return std::pair(text, crc32(std::as_bytes(std::span(text))));
  };
  if (!pilot.exists) {
    contact.barrier_stiffness = run_pilot();
    write_sealed_json(
        comm_, folder.pilot(),
        {{"barrier_stiffness", *contact.barrier_stiffness}, {"scene", scene_and_digest().second}});
  } else {
    const auto refuse = [&](const char* what) {
      throw FileError(folder.pilot().string() + ": the barrier stiffness of the run " + what +
                      ". Put a sound copy of this file in its place, or start again in a new folder");
    };
    if (!pilot.content || !pilot.content->contains("barrier_stiffness") || !pilot.content->contains("scene"))
      refuse("is damaged");
    const double stiffness = pilot.content->at("barrier_stiffness").template get<double>();
    const bool is_in_scene = contact.barrier_stiffness == stiffness;
    contact.barrier_stiffness = stiffness;
    if (pilot.content->at("scene") != scene_and_digest().second) refuse("is not that of its scene");
    if (is_in_scene) return stiffness;
  }
  checkpoint::RunFolder::open(comm_, folder.root).drop_scene_checksum(comm_);
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) write_file_atomically(folder.scene(), scene_and_digest().first);
  });
  return contact.barrier_stiffness;
}

template <int dim>
double Job<dim>::run_pilot() {
  Variant<dim> pilot = model_.variant(scene(), model_.start_values());
  auto& solver = pilot.discrete->solver();
  while (solver.step() < scene().time.steps) {
    const stepping::StepOutcome outcome = solver.advance([](const auto&...) {});
    interrupts_.stop_if_pending();
    if (!outcome.accepted)
      throw Error(ExitCode::no_solution,
                  fmt::format("{}: the pilot run that finds the barrier stiffness fails in step {}: {}",
                              name(), solver.step() + 1, outcome.failure));
  }
  return solver.totals().largest_barrier_stiffness *
         stiffness_unit(scene(), solver.problem().contact->parameters().dhat);
}

template <int dim>
ForwardResult Job<dim>::run(const ExperimentFolder& folder) {
  const Stopwatch watch;
  folder_ = folder;
  folder_.inputs = digests_of(comm_, input_files(study_, model_.experiment(), scene()));
  if (auto known = read_experiment_result(comm_, folder_, model_.fields(), model_.mesh(), name())) {
    forward_ = std::move(known->forward);
    swept_ = std::move(known->sweep);
  } else {
    problem_ = std::make_unique<ExperimentProblem<dim>>(model_, scene(), model_.start_values());
    observed_.assign(scene().time.steps + 1, 0);
    ForwardResult result;
    result.failure = run_forward(result, watch);
    if (!result.failure.empty()) return result;
    // A run does not look for signals after its last step.
    interrupts_.stop_if_pending();
    forward_ = result;
  }
  checkpoint::TrajectoryReader reader(comm_, folder.trajectory());
  forward_.newton_iterations = newton_iterations_of(reader);
  records_ = reader.records();
  if (!swept_) {
    states_ = std::make_unique<TrajectoryStates>(std::move(reader), problem_->solver(),
                                                 node_layout(problem_->discrete().space()));
    observe_the_rest();
    evaluate_run();
  }
  return forward_;
}

/// The objectives of the run that is stored. @throws InputError where they have no value or no derivative.
template <int dim>
void Job<dim>::evaluate_run() {
  try {
    problem_->require_derivatives();
    static_cast<inverse::ObjectiveValue&>(forward_) = inverse::evaluate_terms(*problem_);
  } catch (const InputError& wrong) {
    throw InputError(fmt::format("{} in {}, remove inputs.json beside it, and continue with --restart",
                                 wrong.what(), folder_.study.string()));
  }
}

/// Checksum of the parameters in the study file: their start values take the place of those of the scene.
template <int dim>
std::uint32_t Job<dim>::digest_of_values() const {
  std::string parameters;
  parallel::collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    try {
      parameters = nlohmann::json::parse(read_file(folder_.study)).at("parameters").dump();
    } catch (const nlohmann::json::exception&) {
      throw FileError(folder_.study.string() + ": has become damaged");
    }
  });
  comm_.broadcast(parameters);
  return crc32(std::as_bytes(std::span(parameters)));
}

/// Refuses to continue with other values, another scene or other files than the run was begun with.
template <int dim>
void Job<dim>::hold_to_inputs() const {
  const auto begun_with =
      require_run_inputs(comm_, folder_.scene(), folder_.trajectory(), "the run of '" + name() + "'");
  if (begun_with != digest_of_values())
    throw InputError(folder_.study.string(),
                     fmt::format("its `parameters` are no longer those that the run of '{}' was begun with; "
                                 "put them back, or start again in a new folder",
                                 name()));
}

/// Begins the run, continues it, or leaves a complete one alone.
template <int dim>
std::string Job<dim>::run_forward(ForwardResult& result, const Stopwatch& watch) {
  const auto run = checkpoint::RunFolder::open(comm_, folder_.root);
  const bool begun = run.has_states(comm_);
  if (begun) hold_to_inputs();
  if (begun)
    if (const auto seconds = seconds_of_complete_run(comm_, folder_, scene().time.steps)) {
      log_info(name() + ": the forward run is complete");
      result.seconds = *seconds;
      return "";
    }
  const auto see = [this](const stepping::StepRecord& record, const auto& u, const auto& v) {
    problem_->observe(record, u, v);
    if (record.completes_nominal) observed_[record.nominal_step] = 1;
  };
  auto& solver = problem_->discrete().solver();
  TrajectoryOutput<dim> output(solver, scene().output.fields);
  ForwardRun forward(comm_, solver, output, run_options(scene()), run, interrupts_, watch, see);
  const auto inputs = [&] {
    return run_inputs(comm_, folder_.scene(), files_of_run(study_, model_.experiment(), scene()),
                      digest_of_values());
  };
  const ExitCode code = begun ? forward.restart() : forward.start(run_metadata(scene(), dim, inputs()));
  if (code == ExitCode::interrupted)
    throw Error(code, name() + ": the forward run is interrupted; run again with --restart to continue");
  result.seconds = watch.seconds();
  const solvers::SolverTotals& totals = solver.totals();
  if (totals.rough_friction > 0)
    log_warning(
        fmt::format("{}: {} solves ended before friction had converged; the gradient is as exact as they "
                    "are (solver/contact/friction_convergence_tol)",
                    name(), totals.rough_friction));
  return code == ExitCode::done ? "" : fmt::format("the forward run fails after step {}", solver.step());
}

/// Shows the objectives what an earlier process has stored.
template <int dim>
void Job<dim>::observe_the_rest() {
  inverse::StoredStates(records_, *states_, problem_->solver(), model_.history(), study_.sweep.state_budget,
                        sweep_settings().stop_if_interrupted)
      .visit(
          [&](const stepping::StepRecord& record) {
            return problem_->is_observed(record) && observed_[record.nominal_step] == 0;
          },
          [&](const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
            interrupts_.stop_if_pending();
            problem_->observe(record, u, v);
          });
}

template <int dim>
SweepResult Job<dim>::sweep() {
  if (swept_) {
    log_info(name() + ": the sweep is finished");
    return *swept_;
  }
  SweepResult result;
  sweep_back(result);
  if (result.failure.empty())
    write_experiment_result(comm_, folder_, model_.fields(), model_.mesh(), forward_, result);
  // Other experiments need the memory.
  states_.reset();
  problem_.reset();
  return result;
}

template <int dim>
void Job<dim>::sweep_back(SweepResult& result) {
  const Stopwatch watch;
  const DiscreteScene<dim>& discrete = problem_->discrete();
  auto at = begin_sweep();
  SweepProgress before;
  std::string why;
  if (read_sweep_checkpoint(folder_, *at, discrete, states_->nodes(), before, why)) {
    log_info(fmt::format("{}: the sweep continues at state {}", name(), at->sweep().next()));
  } else if (!why.empty()) {
    log_warning(fmt::format("{}: the sweep starts again: {}", name(), why));
    at.reset();
    at = begin_sweep();
  }
  const auto progress = [&] {
    const adjoint::SweepTotals& totals = at->sweep().totals();
    return SweepProgress{before.linear_iterations + totals.linear_iterations,
                         std::max(before.largest_relative_residual, totals.largest_relative_residual),
                         before.objective_correction + totals.objective_correction,
                         before.seconds + watch.seconds()};
  };
  const auto save = [&] { write_sweep_checkpoint(folder_, *at, discrete, states_->nodes(), progress()); };
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
    result.failure = advance();
    if (!result.failure.empty()) return;
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
  result.values = at->adjoint().gradient();
  result.failure = inverse::find_not_finite(model_, result.values);
  if (!result.failure.empty()) return;
  const SweepProgress all = progress();
  result.linear_iterations = all.linear_iterations;
  result.largest_relative_residual = all.largest_relative_residual;
  result.objective_correction = all.objective_correction;
  result.seconds = all.seconds;
  log_info(fmt::format("{}: the sweep held {} states at most and repeated {} steps", name(),
                       at->states().most_states_held(), at->states().steps_repeated()));
}

} // namespace

std::unique_ptr<GradientJob> GradientJob::create(const parallel::Communicator& comm, const Study& study,
                                                 int experiment, LoadedScene loaded,
                                                 const Interrupts& interrupts) {
  if (loaded.dim == 2)
    return std::make_unique<Job<2>>(comm, study, experiment, std::move(loaded), interrupts);
  return std::make_unique<Job<3>>(comm, study, experiment, std::move(loaded), interrupts);
}

} // namespace recoil::app
