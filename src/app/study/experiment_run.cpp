#include "app/study/experiment_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/simulation/forward_run.hpp"
#include "app/study/apply_parameters.hpp"
#include "app/study/experiment_objectives.hpp"
#include "app/study/gradient_chain.hpp"
#include "app/study/stored_run.hpp"
#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/objectives/trajectory_objective.hpp"

namespace recoil::app {

namespace {

/// A number between -1 and 1 from three others (splitmix64): the same on every rank.
double draw(int seed, int parameter, GlobalIndex entry) {
  auto x = static_cast<std::uint64_t>(seed) * 0x9e3779b97f4a7c15ULL +
           static_cast<std::uint64_t>(parameter + 1) * 0xbf58476d1ce4e5b9ULL +
           static_cast<std::uint64_t>(entry + 1) * 0x94d049bb133111ebULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1.0p-52 - 1;
}

/// The composed objective of one experiment as the sweep sees it.
template <int dim>
class ComposedDerivatives final : public adjoint::StateDerivatives {
public:
  ComposedDerivatives(const ExperimentObjectives<dim>& terms, const objectives::Composition& composition,
                      std::vector<parameters::PhysicalGradient<dim>>& gradients)
      : terms_(terms), composition_(composition), gradients_(gradients) {}

  std::size_t num_objectives() const override { return 1; }
  bool add(std::size_t objective, const stepping::StepRecord& record, const stepping::State& state,
           linalg::Vector& du, linalg::Vector& dv) override {
    if (!record.completes_nominal) return false;
    objectives::add_derivatives<dim>(terms_.objectives, static_cast<std::size_t>(record.nominal_step),
                                     {state.u.local(), state.v.local(), record.time}, composition_,
                                     du.write_owned(), dv.write_owned(), gradients_[objective]);
    return true;
  }

private:
  const ExperimentObjectives<dim>& terms_;
  const objectives::Composition& composition_;
  std::vector<parameters::PhysicalGradient<dim>>& gradients_;
};

template <int dim>
class Runner final : public ExperimentRun {
public:
  Runner(const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded)
      : comm_(comm), study_(study), experiment_(experiment), loaded_(std::move(loaded)),
        geometry_(distribute_geometry<dim>(comm, loaded_)),
        fields_(make_parameter_fields(study, experiment, loaded_.file.scene, geometry_)) {
    Scene& scene = loaded_.file.scene;
    scene.output.every = study.sweep.store_every;
    // Restart points are what closes a file.
    if (study.sweep.store_every > 1) scene.output.chunk = 1;
    scene.output.fields.clear();
    for (const auto& field : fields_) start_.push_back(field.start_values());
  }

  std::optional<double> freeze_stiffness() override;
  ForwardResult run(const std::filesystem::path& folder) override;
  ForwardResult run_beside(const Direction& direction, double factor) override;
  SweepResult sweep() override;
  double derivative(const SweepResult& sweep, const Direction& direction) const override;
  std::vector<int> parameters() const override {
    std::vector<int> result;
    for (const auto& field : fields_) result.push_back(field.index);
    return result;
  }
  std::vector<double> start_values(std::size_t field) const override { return start_[field]; }
  bool is_replicated(std::size_t field) const override {
    return fields_[field].extent == ParameterField<dim>::Extent::replicated;
  }

private:
  /// Component of a direction times the size of the value that it changes.
  double component(const Direction& direction, std::size_t k, std::size_t entry) const;
  double size_of(std::size_t k, std::size_t entry) const;
  ParameterValues values_beside(const Direction& direction, double factor) const;

  /// Objectives of a variant and what they have seen.
  struct Observation {
    ExperimentObjectives<dim> terms;
    objectives::Composition composition;
    void operator()(const solvers::AcceptedState& state) {
      if (!state.record.completes_nominal) return;
      objectives::observe<dim>(terms.objectives, static_cast<std::size_t>(state.record.nominal_step),
                               {state.u->local(), state.v->local(), state.record.time}, composition);
    }
    void fill(ForwardResult& result) const {
      for (std::size_t k = 0; k < composition.num_terms(); ++k) result.terms.push_back(composition.value(k));
      result.objective = composition.value();
    }
  };
  Observation observe(DiscreteScene<dim>& discrete) const {
    ExperimentObjectives<dim> terms = make_objectives(study_, experiment_, discrete);
    const std::vector<double> times = observed_state_times(discrete.scene().time);
    objectives::Composition composition(terms.terms, times);
    return {std::move(terms), std::move(composition)};
  }

  const parallel::Communicator& comm_;
  const Study& study_;
  int experiment_;
  LoadedScene loaded_;
  DistributedGeometry<dim> geometry_;
  std::vector<ParameterField<dim>> fields_;
  ParameterValues start_;

  // Of run().
  Variant<dim> variant_;
  std::unique_ptr<checkpoint::RunFolder> folder_;
  std::unique_ptr<ForwardRun<dim>> forward_;
  std::unique_ptr<Observation> observation_;
  std::vector<stepping::StepRecord> records_;
};

template <int dim>
std::optional<double> Runner<dim>::freeze_stiffness() {
  ContactSpec& contact = loaded_.file.scene.contact;
  if (!contact.enabled || contact.barrier_stiffness) return {};
  Variant<dim> pilot = make_variant(loaded_.file.scene, geometry_, fields_, start_);
  auto& solver = pilot.discrete->solver();
  while (solver.step() < loaded_.file.scene.time.steps)
    if (const solvers::StepReport report = solver.advance([](const auto&) {}); !report.accepted)
      throw Error(ExitCode::no_solution,
                  fmt::format("{}: the pilot run that finds the barrier stiffness fails in step {}: {}",
                              study_.experiments[static_cast<std::size_t>(experiment_)].name,
                              solver.step() + 1, report.failure));
  const double unit = contact.use_convergent_formulation && contact.use_physical_barrier
                          ? solver.problem().contact->parameters().dhat
                          : 1;
  contact.barrier_stiffness = unit * solver.totals().largest_barrier_stiffness;
  return contact.barrier_stiffness;
}

template <int dim>
ForwardResult Runner<dim>::run(const std::filesystem::path& folder) {
  const Stopwatch watch;
  variant_ = make_variant(loaded_.file.scene, geometry_, fields_, start_);
  folder_ = std::make_unique<checkpoint::RunFolder>(checkpoint::RunFolder::create(comm_, folder));
  observation_ = std::make_unique<Observation>(observe(*variant_.discrete));
  forward_ = std::make_unique<ForwardRun<dim>>(comm_, *variant_.discrete, *folder_, watch,
                                               [this](const solvers::AcceptedState& state) {
                                                 (*observation_)(state);
                                                 records_.push_back(state.record);
                                               });
  ForwardResult result;
  const ExitCode code = forward_->start();
  result.seconds = watch.seconds();
  result.newton_iterations = variant_.discrete->solver().totals().newton_iterations;
  if (code == ExitCode::interrupted)
    result.failure = "interrupted";
  else if (code != ExitCode::done)
    result.failure = fmt::format("the forward run fails after step {}", variant_.discrete->solver().step());
  else
    observation_->fill(result);
  return result;
}

template <int dim>
double Runner<dim>::size_of(std::size_t k, std::size_t entry) const {
  const ParameterField<dim>& field = fields_[k];
  if (field.spec->basis) return (geometry_.mesh.max_corner - geometry_.mesh.min_corner).norm();
  if (const double value = std::abs(start_[k][entry]); value > 0) return value;
  double largest = 0;
  for (const double value : field.spec->initial) largest = std::max(largest, std::abs(value));
  return largest > 0 ? largest : 1;
}

template <int dim>
double Runner<dim>::component(const Direction& direction, std::size_t k, std::size_t entry) const {
  const ParameterField<dim>& field = fields_[k];
  const auto width = static_cast<std::size_t>(field.components);
  const int owner = field.spec->tie.value_or(field.index);
  if (direction.only >= 0 && owner != direction.only) return 0;
  const GlobalIndex number =
      field.slot_ids[entry / width] * field.components + static_cast<GlobalIndex>(entry % width);
  return draw(direction.seed, owner, number) * size_of(k, entry);
}

template <int dim>
ParameterValues Runner<dim>::values_beside(const Direction& direction, double factor) const {
  ParameterValues values = start_;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::size_t entry = 0; entry < values[k].size(); ++entry)
      values[k][entry] += factor * component(direction, k, entry);
  return values;
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
ForwardResult Runner<dim>::run_beside(const Direction& direction, double factor) {
  const Stopwatch watch;
  ForwardResult result;
  try {
    Variant<dim> variant =
        make_variant(loaded_.file.scene, geometry_, fields_, values_beside(direction, factor));
    Observation observation = observe(*variant.discrete);
    auto& solver = variant.discrete->solver();
    const stepping::State& first = solver.history().newest();
    observation({records_.front(), &first.u, &first.v, nullptr, nullptr});
    while (solver.step() < loaded_.file.scene.time.steps) {
      const solvers::StepReport report = solver.advance([&](const solvers::AcceptedState& state) {
        const auto id = static_cast<std::size_t>(state.record.id);
        result.same_steps = result.same_steps && id < records_.size() && state.record == records_[id];
        observation(state);
      });
      if (report.accepted) continue;
      result.failure = fmt::format("step {} fails: {}", solver.step() + 1, report.failure);
      return result;
    }
    result.newton_iterations = solver.totals().newton_iterations;
    observation.fill(result);
  } catch (const InputError& error) {
    result.failure = error.what();
  }
  result.seconds = watch.seconds();
  return result;
}

template <int dim>
SweepResult Runner<dim>::sweep() {
  const Stopwatch watch;
  SweepResult result;
  StoredRun<dim> states(comm_, folder_->trajectory(), forward_->nodes(), variant_.discrete->solver());
  GradientChain<dim> chain(*variant_.discrete, fields_, 1);
  ComposedDerivatives<dim> derivatives(observation_->terms, observation_->composition,
                                       chain.products().gradients);
  const auto step = variant_.discrete->solver().recorded_step(
      static_cast<GlobalIndex>(states.records().size()), chain.products());
  adjoint::ReverseSweep sweep(states.records(), states, derivatives, *step, {study_.sweep.tolerance});
  while (sweep.next() >= 0 && result.failure.empty()) result.failure = sweep.advance();
  result.linear_iterations = sweep.totals().linear_iterations;
  result.largest_relative_residual = sweep.totals().largest_relative_residual;
  if (result.failure.empty()) result.gradient = chain.finish(0);
  result.seconds = watch.seconds();
  return result;
}

} // namespace

std::unique_ptr<ExperimentRun> ExperimentRun::create(const parallel::Communicator& comm, const Study& study,
                                                     int experiment, LoadedScene loaded) {
  if (loaded.dim == 2) return std::make_unique<Runner<2>>(comm, study, experiment, std::move(loaded));
  return std::make_unique<Runner<3>>(comm, study, experiment, std::move(loaded));
}

} // namespace recoil::app
