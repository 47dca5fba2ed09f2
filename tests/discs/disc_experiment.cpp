#include "discs/disc_experiment.hpp"

#include <algorithm>
#include <numbers>

#include "app/study/experiment/parameter_chains.hpp"
#include "discs/disc_kind.hpp"
#include "discs/disc_scene.hpp"
#include "discs/disc_step.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"

namespace recoil::discs {
namespace {

/// A kind of parameters that discs have, and what it changes.
struct DiscParameter {
  const char* kind;
  Parameter changes;
  double factor; ///< d(what it changes)/d(its value), of unit thickness
  parameters::Quantity quantity;
  const char* key; ///< of solver/discs
  double DiscSpec::*member;
};
const DiscParameter disc_parameters[] = {{"density",
                                          mass,
                                          std::numbers::pi* radius* radius,
                                          {"mass", parameters::Place::scene},
                                          "mass",
                                          &DiscSpec::mass},
                                         {"young_modulus",
                                          stiffness,
                                          1,
                                          {"stiffness", parameters::Place::scene},
                                          "stiffness",
                                          &DiscSpec::stiffness}};

const DiscParameter* find_parameter(const app::ParameterSpec& spec) {
  const auto found = std::ranges::find(disc_parameters, std::string(spec.kind->name), &DiscParameter::kind);
  return found == std::end(disc_parameters) ? nullptr : found;
}

void check_parameter(const app::ExperimentScene& at, const app::ParameterSpec& parameter) {
  if (!find_parameter(parameter))
    at.fail(parameter,
            std::string(parameter.kind->name) + " is no parameter of discs; take density or young_modulus");
  if (parameter.per != app::Per::global || !parameter.bodies.empty())
    at.fail(parameter.where, "per", "all discs have the same value; leave out `per` and `body`");
}

/// Zero, an entry for each of the parameters.
template <class Arrays>
Arrays no_entries() {
  std::vector<parameters::Quantity> quantities;
  for (const DiscParameter& parameter : disc_parameters) quantities.push_back(parameter.quantity);
  return Arrays({{parameters::Place::scene, 1}}, quantities);
}

/// The mean of the centres: all discs have one mass.
class CenterOfDiscs final : public objectives::Observable<2> {
public:
  explicit CenterOfDiscs(const linalg::VectorLayout& layout)
      : Observable(*layout.comm, 2, one_point(*layout.comm)), num_owned_(layout.num_owned) {}

  std::vector<objectives::Quantity> depends_on() const override {
    return {objectives::quantities::displacement};
  }
  std::vector<double> values(const objectives::ObservedState& state) override { return mean(state.u, 4); }
  std::vector<double> tangent(const objectives::ObservedState&, std::span<const double> du,
                              std::span<const double>, const parameters::PhysicalDirection<2>&) override {
    return mean(du, 3);
  }
  void add_products(const objectives::ObservedState&, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<2>&) override {
    const std::vector<double> by_mean = on_all(y);
    for (std::size_t k = 0; k < num_owned_; ++k)
      for (std::size_t i = 0; i < 2; ++i) du[3 * k + i] += by_mean[i] / num_discs;
  }

private:
  /// Of the first two numbers of each disc.
  std::vector<double> mean(std::span<const double> z, std::size_t width) const {
    Vector2d sum = Vector2d::Zero();
    for (std::size_t k = 0; k < num_owned_; ++k) sum += Vector2d(z[width * k], z[width * k + 1]) / num_discs;
    comm().sum(std::span<double>(sum.data(), 2));
    return on_first(sum);
  }

  std::size_t num_owned_;
};

constexpr app::ObservableKind observable_kinds[] = {app::ObservableKind::center_of_mass};

class ObservablesOnDiscs final : public app::Observables<2> {
public:
  ObservablesOnDiscs(const app::Scene& scene, const DiscSolver& solver)
      : Observables(*solver.layout()->comm, scene, false), layout_(*solver.layout()) {}
  Made center_of_mass(const char*, const Bodies&) const override {
    return std::make_unique<CenterOfDiscs>(layout_);
  }

private:
  const linalg::VectorLayout& layout_;
};

class ExperimentOnDiscs final : public app::FieldExperiment<2> {
public:
  ExperimentOnDiscs(const parallel::Communicator& comm, const app::Study& study, int experiment,
                    app::LoadedScene loaded, const app::Interrupts& interrupts)
      : FieldExperiment(comm, study, experiment, std::move(loaded), interrupts) {
    for (int i = 0; i < int(study.parameters.size()); ++i) {
      if (!study.parameters[i].acts_in(experiment)) continue;
      auto& field = fields_.emplace_back();
      field.spec = &study.parameters[i];
      field.index = i;
      app::SlotBuilder<2>::replicate(field, 1);
    }
    read_start();
    objectives_ = app::open_objectives(app::Specimen<2>(comm, study, experiment, scene()));
    require_budget();
  }

  std::unique_ptr<app::ObservedProblem<2>> observed_at(const app::ParameterValues& values) const override;
  int history() const override { return 2; }
  const app::OpenObjectives<2>& objectives() const { return objectives_; }
  DiscSpec discs_with(const app::ParameterValues& values) const {
    DiscSpec spec = app::part_of<DiscScene>(scene()).spec;
    for (std::size_t k = 0; k < fields_.size(); ++k) {
      const DiscParameter& parameter = *find_parameter(*fields_[k].spec);
      spec.*parameter.member = parameter.factor * values[k][0];
    }
    return spec;
  }
  void write_scene(const app::ParameterValues& values, const std::filesystem::path& folder) const override {
    const DiscSpec spec = discs_with(values);
    nlohmann::json json = nlohmann::json::parse(app::scene_as_run(loaded_.file));
    for (const DiscParameter& parameter : disc_parameters)
      json["solver"]["discs"][parameter.key] = spec.*parameter.member;
    app::SceneData(comm_, folder, name()).commit(json);
  }

private:
  app::OpenObjectives<2> objectives_;
};

class ProblemOnDiscs final : public app::ObservedProblem<2> {
public:
  ProblemOnDiscs(const ExperimentOnDiscs& model, const app::ParameterValues& values)
      : ObservedProblem(model), model_(model), solver_(model.comm(), model.discs_with(values).parameters()),
        observation_(model.objectives(), ObservablesOnDiscs(model.scene(), solver_)) {}

  stepping::Solver& solver() override { return solver_; }
  const app::Observation<2>& observation() const override { return observation_; }
  app::GradientChain<2> gradient_chain() override {
    return {weights(), model_.comm(), no_entries<parameters::PhysicalGradient<2>>()};
  }
  app::TangentChain<2> tangent_chain(std::vector<app::ParameterValues> directions) override {
    return {weights(), no_entries<parameters::PhysicalDirection<2>>(), std::move(directions)};
  }
  /// Ranks add the same, of which the first one's counts.
  ReverseStep reverse_step(GlobalIndex, stepping::SweepProducts<2>& products) override {
    return std::make_unique<DiscStep>(
        solver_.parameters(), [&products, counts = model_.comm().rank() == 0](std::size_t k, double share) {
          for (const DiscParameter& parameter : disc_parameters)
            if (counts && parameter.changes == k)
              products.gradients[0].numbers(parameter.quantity)[0] += share;
        });
  }
  TangentStep tangent_step(GlobalIndex, stepping::SweepDirections<2>& directions) override {
    std::vector<Parameters> changes;
    for (const auto& change : directions.changes) {
      Parameters& dq = changes.emplace_back(num_parameters);
      for (const DiscParameter& parameter : disc_parameters)
        dq[parameter.changes] = change.numbers(parameter.quantity)[0];
    }
    return std::make_unique<DiscStep>(solver_.parameters(), nullptr, std::move(changes));
  }
  std::unique_ptr<app::RunOutput> make_output() override { return std::make_unique<DiscOutput>(solver_); }
  std::int64_t fingerprint() const override { return solver_.layout()->offset; }

private:
  app::Observation<2>& observed() override { return observation_; }
  app::ParameterWeights<2> weights() const {
    app::ParameterWeights<2> weights{model_.fields()};
    for (std::size_t k = 0; k < model_.fields().size(); ++k) {
      const DiscParameter& parameter = *find_parameter(*model_.fields()[k].spec);
      weights.all.push_back(
          {k,
           app::Enters::terms,
           {parameter.quantity},
           [factor = parameter.factor](const auto&, const auto&, const app::TakeWeight& take) {
             take(0, 0, factor);
           }});
    }
    return weights;
  }

  const ExperimentOnDiscs& model_;
  DiscSolver solver_;
  app::Observation<2> observation_;
};

std::unique_ptr<app::ObservedProblem<2>>
ExperimentOnDiscs::observed_at(const app::ParameterValues& values) const {
  return std::make_unique<ProblemOnDiscs>(*this, values);
}

} // namespace

app::ExperimentKind experiments_on_discs() {
  return {
      &disc_kind,
      observable_kinds,
      [](const app::ExperimentScene&, std::vector<std::string>&) {},
      check_parameter,
      nullptr,
      [](const parallel::Communicator& comm, const app::Study& study, int experiment, app::LoadedScene loaded,
         const app::Interrupts& interrupts) -> std::unique_ptr<app::ExperimentModel> {
        return std::make_unique<ExperimentOnDiscs>(comm, study, experiment, std::move(loaded), interrupts);
      }};
}

} // namespace recoil::discs
