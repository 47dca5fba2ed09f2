#include "app/study/experiment_run.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/study/complete_run.hpp"
#include "app/study/experiment_result.hpp"
#include "app/study/file_order.hpp"
#include "app/study/input_files.hpp"
#include "app/study/observation.hpp"
#include "app/study/scene_as_run.hpp"
#include "app/study/sealed_json.hpp"
#include "app/study/stored_run.hpp"
#include "app/study/sweep_checkpoint.hpp"
#include "app/study/sweep_files.hpp"
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
class Runner final : public ExperimentRun {
public:
  Runner(const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
         const Interrupts& interrupts)
      : comm_(comm), study_(study), experiment_(experiment), loaded_(std::move(loaded)),
        geometry_(distribute_geometry<dim>(comm, loaded_)),
        fields_(make_parameter_fields(study, experiment, loaded_.file.scene, geometry_)),
        objectives_(open_objectives<dim>({study, experiment, loaded_.file.scene, geometry_.mesh})),
        interrupts_(interrupts) {
    for (const auto& field : fields_) start_.push_back(field.start_values());
    require_budget();
  }

  void check_start() override;
  std::optional<double> freeze_stiffness(const ExperimentFolder& folder) override;
  ForwardResult run(const ExperimentFolder& folder) override;
  ForwardResult run_beside(const Direction& direction, double factor) override;
  SweepResult sweep() override;
  double derivative(const SweepResult& sweep, const Direction& direction) const override;
  double sensitivity(const SweepResult& sweep, std::size_t field) const override;
  std::vector<int> parameters() const override {
    std::vector<int> result;
    for (const auto& field : fields_) result.push_back(field.index);
    return result;
  }
  std::vector<double> start_values(std::size_t field) const override { return start_[field]; }
  std::vector<std::string> bodies(std::size_t field) const override { return fields_[field].slot_names; }
  bool is_replicated(std::size_t field) const override {
    return fields_[field].extent == ParameterField<dim>::Extent::replicated;
  }
  void write_field(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                   const SweepResult& sweep) const override;

private:
  const std::string& name() const { return study_.experiments[static_cast<std::size_t>(experiment_)].name; }
  const Scene& scene() const { return loaded_.file.scene; }
  /// States that a step leans on.
  int history() const { return scene().time.kind == TimeKind::dynamic ? scene().time.bdf_order : 1; }
  void require_budget() const;
  /// Its steps end where a signal has come.
  Variant<dim> variant_of(const Scene& scene, const ParameterValues& values) const {
    Variant<dim> variant = make_variant(scene, geometry_, fields_, values);
    variant.discrete->solver().interrupt_when(interrupts_.watch());
    return variant;
  }
  Observation<dim> observe(DiscreteScene<dim>& discrete) const { return {objectives_, discrete}; }
  double component(const Direction& direction, std::size_t k, std::size_t entry) const {
    return component_of(direction, fields_[k], geometry_.mesh, start_[k], entry);
  }
  /// All that takes part in a sweep.
  struct Sweeping {
    Sweeping(Runner& self, StoredRun<dim>& states)
        : chain(*self.variant_.discrete, self.fields_, 1), derivatives(*self.observation_, chain.products()),
          step(self.variant_.discrete->solver().recorded_step(static_cast<GlobalIndex>(self.records_.size()),
                                                              chain.products())),
          sweep(self.records_, states, derivatives, *step, {self.study_.sweep.tolerance}) {}

    GradientChain<dim> chain;
    ComposedDerivatives<dim> derivatives;
    std::unique_ptr<stepping::DifferentiableStep> step;
    adjoint::ReverseSweep sweep;
  };

  StoredRun<dim> stored_run() {
    return {records_,
            *reader_,
            *nodes_,
            variant_.discrete->solver(),
            history(),
            study_.sweep.state_budget,
            [this] { interrupts_.stop_if_pending(); }};
  }

  double run_pilot();
  std::uint32_t digest_of_values() const;
  void hold_to_inputs() const;
  std::string run_forward(ForwardResult& result, const Stopwatch& watch);
  std::string evaluate(const Observation<dim>& observation, ForwardResult& result) const;
  std::string evaluate_run();
  void observe_the_rest();
  void sweep_back(SweepResult& result);

  const parallel::Communicator& comm_;
  const Study& study_;
  int experiment_;
  LoadedScene loaded_;
  DistributedGeometry<dim> geometry_;
  std::vector<ParameterField<dim>> fields_;
  OpenObjectives<dim> objectives_;
  const Interrupts& interrupts_;
  ParameterValues start_;

  // Of run(), until sweep() is done.
  ExperimentFolder folder_;
  Variant<dim> variant_;
  std::unique_ptr<Observation<dim>> observation_;
  std::vector<char> observed_;           ///< per nominal step
  std::optional<io::BlockLayout> nodes_; ///< as they lie in the trajectory
  std::unique_ptr<checkpoint::TrajectoryReader> reader_;

  // Of run() and sweep(), for what comes after.
  std::vector<stepping::StepRecord> records_;
  ForwardResult forward_;
  std::optional<SweepResult> swept_;
};

template <int dim>
void Runner<dim>::require_budget() const {
  if (!study_.sweep.state_budget) return;
  const bool all_stored = study_.sweep.store_every == 1;
  const int smallest = StoredRun<dim>::smallest_budget(all_stored, history());
  if (*study_.sweep.state_budget >= smallest) return;
  throw InputError(
      study_.sweep.where_budget,
      fmt::format("must be at least {} for experiment '{}' ({}), is {}", smallest, name(),
                  all_stored
                      ? "a step and the one before it"
                      : fmt::format("a restart point of {} state{} and the step that the sweep stands at",
                                    history(), history() > 1 ? "s" : ""),
                  *study_.sweep.state_budget));
}

template <int dim>
void Runner<dim>::check_start() {
  Scene trial = scene();
  // Whatever a pilot run finds will do as well.
  if (!trial.contact.barrier_stiffness) trial.contact.barrier_stiffness = 1;
  const Variant<dim> variant = variant_of(trial, start_);
  static_cast<void>(observe(*variant.discrete));
}

template <int dim>
std::optional<double> Runner<dim>::freeze_stiffness(const ExperimentFolder& folder) {
  ContactSpec& contact = loaded_.file.scene.contact;
  if (!contact.enabled) return {};
  const SealedJson pilot = read_sealed_json(comm_, folder.pilot());
  if (!pilot.exists && contact.barrier_stiffness) return {};
  const auto scene_and_digest = [&] {
    const std::string text = scene_as_run(loaded_.file);
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
double Runner<dim>::run_pilot() {
  Variant<dim> pilot = variant_of(scene(), start_);
  auto& solver = pilot.discrete->solver();
  while (solver.step() < scene().time.steps) {
    const solvers::StepReport report = solver.advance([](const auto&) {});
    interrupts_.stop_if_pending();
    if (!report.accepted)
      throw Error(ExitCode::no_solution,
                  fmt::format("{}: the pilot run that finds the barrier stiffness fails in step {}: {}",
                              name(), solver.step() + 1, report.failure));
  }
  return solver.totals().largest_barrier_stiffness *
         stiffness_unit(scene(), solver.problem().contact->parameters().dhat);
}

template <int dim>
ForwardResult Runner<dim>::run(const ExperimentFolder& folder) {
  const Stopwatch watch;
  folder_ = folder;
  folder_.inputs = digests_of(comm_, input_files(study_, experiment_, scene()));
  if (auto known = read_experiment_result(comm_, folder_, fields_, geometry_.mesh, name())) {
    forward_ = std::move(known->forward);
    swept_ = std::move(known->sweep);
  } else {
    variant_ = variant_of(scene(), start_);
    observation_ = std::make_unique<Observation<dim>>(observe(*variant_.discrete));
    nodes_.emplace(node_layout(variant_.discrete->space()));
    observed_.assign(static_cast<std::size_t>(scene().time.steps) + 1, 0);
    ForwardResult result;
    result.failure = run_forward(result, watch);
    if (!result.failure.empty()) return result;
    // A run does not look for signals after its last step.
    interrupts_.stop_if_pending();
    forward_ = result;
  }
  reader_ = std::make_unique<checkpoint::TrajectoryReader>(comm_, folder.trajectory());
  forward_.newton_iterations = newton_iterations_of(reader_->records());
  records_ = step_records(reader_->records());
  if (!swept_) {
    observe_the_rest();
    forward_.failure = evaluate_run();
  }
  return forward_;
}

/// Puts the values of the objectives into `result`. Empty, or why there are none.
template <int dim>
std::string Runner<dim>::evaluate(const Observation<dim>& observation, ForwardResult& result) const {
  result.terms = observation.values();
  result.objective = observation.composition.value();
  auto term = result.terms.begin();
  for (const auto& spec : study_.objectives) {
    if (spec->experiment != experiment_) continue;
    if (!std::isfinite(*term++))
      return fmt::format("{}: the objective is not finite: its values are too large for double precision",
                         spec->where.entry);
  }
  return std::isfinite(result.objective) ? "" : "the sum of the objectives is not finite";
}

/// The objectives of the run that is stored. @throws InputError where they have no value or no derivative.
template <int dim>
std::string Runner<dim>::evaluate_run() {
  try {
    const objectives::Composition& composition = observation_->composition;
    for (std::size_t term = 0; term < composition.num_terms(); ++term)
      for (std::size_t state = 0; state < composition.num_states(); ++state)
        static_cast<void>(composition.factor(term, state));
    return evaluate(*observation_, forward_);
  } catch (const InputError& wrong) {
    throw InputError(fmt::format("{} in {}, remove inputs.json beside it, and go on with --restart",
                                 wrong.what(), folder_.study.string()));
  }
}

/// Checksum of the parameters in the study file: their start values take the place of those of the scene.
template <int dim>
std::uint32_t Runner<dim>::digest_of_values() const {
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

/// Refuses to go on with other values, another scene or other files than the run was begun with.
template <int dim>
void Runner<dim>::hold_to_inputs() const {
  const auto begun_with =
      require_run_inputs(comm_, folder_.scene(), folder_.trajectory(), "the run of '" + name() + "'");
  if (begun_with != digest_of_values())
    throw InputError(folder_.study.string(),
                     fmt::format("its `parameters` are no longer those that the run of '{}' was begun with; "
                                 "put them back, or start again in a new folder",
                                 name()));
}

/// Begins the run, goes on with it, or leaves a complete one alone.
template <int dim>
std::string Runner<dim>::run_forward(ForwardResult& result, const Stopwatch& watch) {
  const auto run = checkpoint::RunFolder::open(comm_, folder_.root);
  const bool begun = run.has_states(comm_);
  if (begun) hold_to_inputs();
  if (begun) drop_unfinished_step(comm_, folder_);
  if (begun)
    if (const auto seconds = seconds_of_complete_run(comm_, folder_, scene().time.steps)) {
      log_info(name() + ": the forward run is complete");
      result.seconds = *seconds;
      return "";
    }
  const auto see = [this](const solvers::AcceptedState& state) {
    observation_->see(state.record, *state.u, *state.v);
    if (state.record.completes_nominal) observed_[static_cast<std::size_t>(state.record.nominal_step)] = 1;
  };
  ForwardRun<dim> forward(comm_, *variant_.discrete, run, interrupts_, watch, see);
  const auto inputs = [&] {
    return run_inputs(comm_, folder_.scene(), files_of_run(study_, experiment_, scene()), digest_of_values());
  };
  const ExitCode code = begun ? forward.restart() : forward.start(inputs());
  if (code == ExitCode::interrupted)
    throw Error(code, name() + ": the forward run is interrupted; run again with --restart to go on");
  result.seconds = watch.seconds();
  const solvers::SolverTotals& totals = variant_.discrete->solver().totals();
  if (totals.rough_friction > 0)
    log_warning(
        fmt::format("{}: {} solves ended before friction had converged; the gradient is as exact as they "
                    "are (solver/contact/friction_convergence_tol)",
                    name(), totals.rough_friction));
  return code == ExitCode::done
             ? ""
             : fmt::format("the forward run fails after step {}", variant_.discrete->solver().step());
}

/// Shows the objectives what an earlier process has stored.
template <int dim>
void Runner<dim>::observe_the_rest() {
  stored_run().visit(
      [&](const stepping::StepRecord& record) {
        return observation_->is_wanted(record) &&
               observed_[static_cast<std::size_t>(record.nominal_step)] == 0;
      },
      [&](const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
        interrupts_.stop_if_pending();
        observation_->see(record, u, v);
      });
}

template <int dim>
double Runner<dim>::derivative(const SweepResult& sweep, const Direction& direction) const {
  double replicated = 0, shared = 0;
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    double& sum = is_replicated(k) ? replicated : shared;
    for (std::size_t entry = 0; entry < fields_[k].owned_size(); ++entry)
      sum += sweep.gradient[k][entry] * component(direction, k, entry);
  }
  return replicated + comm_.sum(shared);
}

template <int dim>
double Runner<dim>::sensitivity(const SweepResult& sweep, std::size_t field) const {
  double squares = 0;
  for (std::size_t entry = 0; entry < fields_[field].owned_size(); ++entry) {
    const double change =
        sweep.gradient[field][entry] * size_of(fields_[field], geometry_.mesh, start_[field][entry]);
    squares += change * change;
  }
  return std::sqrt(is_replicated(field) ? squares : comm_.sum(squares));
}

template <int dim>
ForwardResult Runner<dim>::run_beside(const Direction& direction, double factor) {
  const Stopwatch watch;
  ForwardResult result;
  ParameterValues values = start_;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::size_t entry = 0; entry < values[k].size(); ++entry)
      values[k][entry] += factor * component(direction, k, entry);
  try {
    Variant<dim> variant = variant_of(scene(), values);
    Observation<dim> observation = observe(*variant.discrete);
    auto& solver = variant.discrete->solver();
    const stepping::State& first = solver.history().newest();
    observation.see(records_.front(), first.u, first.v);
    while (solver.step() < scene().time.steps) {
      const auto see = [&](const solvers::AcceptedState& state) {
        const auto id = static_cast<std::size_t>(state.record.id);
        result.same_steps = result.same_steps && id < records_.size() && state.record == records_[id];
        observation.see(state.record, *state.u, *state.v);
      };
      const auto report = solver.advance(see, num_sub_steps(records_, solver.step() + 1));
      interrupts_.stop_if_pending();
      if (report.accepted) continue;
      result.failure = fmt::format("step {} fails: {}", solver.step() + 1, report.failure);
      return result;
    }
    result.newton_iterations = solver.totals().newton_iterations;
    result.failure = evaluate(observation, result);
  } catch (const InputError& error) {
    result.failure = error.what();
  }
  result.seconds = watch.seconds();
  return result;
}

template <int dim>
SweepResult Runner<dim>::sweep() {
  if (swept_) {
    log_info(name() + ": the sweep is finished");
    reader_.reset();
    return *swept_;
  }
  SweepResult result;
  sweep_back(result);
  if (result.failure.empty())
    write_experiment_result(comm_, folder_, fields_, geometry_.mesh, forward_, result);
  // Other experiments need the memory.
  reader_.reset();
  observation_.reset();
  variant_.discrete.reset();
  variant_.scene.reset();
  return result;
}

template <int dim>
void Runner<dim>::sweep_back(SweepResult& result) {
  const Stopwatch watch;
  DiscreteScene<dim>& discrete = *variant_.discrete;
  StoredRun<dim> states = stored_run();
  auto at = std::make_unique<Sweeping>(*this, states);
  SweepProgress before;
  std::string why;
  if (read_sweep_checkpoint(folder_, at->sweep, at->chain, discrete, *nodes_, before, why)) {
    log_info(fmt::format("{}: the sweep goes on at state {}", name(), at->sweep.next()));
  } else if (!why.empty()) {
    log_warning(fmt::format("{}: the sweep starts anew: {}", name(), why));
    at.reset();
    at = std::make_unique<Sweeping>(*this, states);
  }
  const auto progress = [&] {
    const adjoint::SweepTotals& totals = at->sweep.totals();
    return SweepProgress{before.linear_iterations + totals.linear_iterations,
                         std::max(before.largest_relative_residual, totals.largest_relative_residual),
                         before.objective_correction + totals.objective_correction,
                         before.seconds + watch.seconds()};
  };
  const auto save = [&] {
    write_sweep_checkpoint(folder_, at->sweep, at->chain, discrete, *nodes_, progress());
  };
  const auto advance = [&] {
    try {
      return at->sweep.advance();
    } catch (const Error& error) {
      // While states were computed anew; the sweep has not moved.
      if (error.code() == ExitCode::interrupted) save();
      throw;
    }
  };
  // As often as the run closed a file.
  const GlobalIndex interval = GlobalIndex{scene().output.chunk} * scene().output.every;
  for (GlobalIndex since = 1; at->sweep.next() >= 0; ++since) {
    result.failure = advance();
    if (!result.failure.empty()) return;
    if (at->sweep.next() < 0) break;
    const bool stop = interrupts_.pending();
    if (stop || since >= interval) {
      save();
      since = 0;
    }
    if (stop)
      throw Error(
          ExitCode::interrupted,
          fmt::format("{}: the sweep is interrupted before state {}; run again with --restart to go on",
                      name(), at->sweep.next()));
  }
  result.gradient = at->chain.finish(0);
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (comm_.any(!std::ranges::all_of(result.gradient[k], [](double g) { return std::isfinite(g); })))
      result.failure =
          fmt::format("the derivative by '{}' is not finite: the objective is too large for double "
                      "precision, or not differentiable here",
                      fields_[k].spec->name);
  if (!result.failure.empty()) return;
  const SweepProgress all = progress();
  result.linear_iterations = all.linear_iterations;
  result.largest_relative_residual = all.largest_relative_residual;
  result.objective_correction = all.objective_correction;
  result.seconds = all.seconds;
  log_info(fmt::format("{}: the sweep held {} states at most and repeated {} steps", name(),
                       states.most_states_held(), states.steps_repeated()));
}

template <int dim>
void Runner<dim>::write_field(io::Hdf5Writer& file, const std::string& group, std::size_t field,
                              const SweepResult& sweep) const {
  const auto write = [&](const char* array, const std::vector<double>& values) {
    write_in_file_order(file, group + "/" + array, fields_[field], geometry_.mesh, values);
  };
  std::vector<double> scaled = sweep.gradient[field];
  for (std::size_t i = 0; i < fields_[field].owned_size(); ++i)
    scaled[i] = scaled_derivative(*fields_[field].spec, start_[field][i], scaled[i]);
  write("value", start_[field]);
  write("gradient", sweep.gradient[field]);
  write("gradient_scaled", scaled);
}

} // namespace

std::unique_ptr<ExperimentRun> ExperimentRun::create(const parallel::Communicator& comm, const Study& study,
                                                     int experiment, LoadedScene loaded,
                                                     const Interrupts& interrupts) {
  if (loaded.dim == 2)
    return std::make_unique<Runner<2>>(comm, study, experiment, std::move(loaded), interrupts);
  return std::make_unique<Runner<3>>(comm, study, experiment, std::move(loaded), interrupts);
}

} // namespace recoil::app
