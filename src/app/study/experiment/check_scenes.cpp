#include <algorithm>

#include "app/study/experiment/experiment_kind.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/elastodynamics/element_kind.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/app/study/experiment/check_scenes.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

void check_parameter_dimension(const ParameterSpec& parameter, int dim) {
  const ParameterKind& quantity = *parameter.kind;
  if (quantity.components != Components::basis && !parameter.initial_file)
    require_count(parameter.initial.size(), num_components(quantity.components, dim), dim,
                  parameter.where.of(parameter.tie ? "tie" : "initial"),
                  std::string("the initial value of ") + quantity.name);
  if (parameter.prior)
    for (const auto* list : {&parameter.prior->mean, &parameter.prior->sd})
      if (list->size() > 1)
        require_count(list->size(), num_components(quantity.components, dim), dim,
                      parameter.where.of("prior"), std::string("the prior of ") + quantity.name);
  if (parameter.basis) parameter.basis->check_dimension(dim, parameter.where.of("basis"));
}

/// A marker belongs to an experiment that looks at markers; which one, its body tells.
void check_marker_dimensions(const Study& study, std::span<const int> dims) {
  std::vector<int> observed;
  for (const auto& objective : study.objectives)
    if (objective->type->uses_markers) observed.push_back(dims[objective->experiment]);
  for (const MarkerSpec& marker : study.markers)
    if (!marker.id && !observed.empty() && !holds(observed, std::ssize(marker.rest)))
      require_count(marker.rest.size(), observed.front(), observed.front(), marker.where.of("rest"),
                    "the position of a marker");
}

/// More passes than one end where they end: only the fixed point has a derivative.
void check_friction_passes(const ExperimentScene& at) {
  const ContactSpec& contact = at.scene.contact;
  const bool frictional = has_friction(at.scene) || has_parameter(at, "friction");
  if (contact.enabled && frictional && contact.friction_iterations > 1)
    at.fail(at.experiment.where, "scene",
            at.scene.file.string() +
                " has solver/contact/friction_iterations = " + std::to_string(contact.friction_iterations) +
                ", and a fixed number of passes > 1 has no derivative; use 1, or -1 (until converged)");
}

/// The last pass of converged friction drops the term; any other solution is stationary only with it.
void check_regularization(const ExperimentScene& at) {
  const Scene& scene = at.scene;
  const bool frictional = scene.contact.enabled && (has_friction(scene) || has_parameter(at, "friction"));
  if (scene.time.kind != TimeKind::statics || elements_of(scene).solver.lagged_regularization_weight <= 0 ||
      elements_of(scene).solver.lagged_regularization_iterations <= 0 ||
      (frictional && scene.contact.friction_iterations < 0))
    return;
  at.fail(
      at.experiment.where, "scene",
      scene.file.string() +
          " has solver/advanced/lagged_regularization_weight > 0, whose term stays in the solution and has "
          "no derivative; set it to 0, or converge friction with solver/contact/friction_iterations = -1");
}

void warn_of_accuracy(const ExperimentScene& at, std::vector<std::string>& warnings) {
  const auto warn = [&](const std::string& what) {
    warnings.push_back(at.experiment.where.of("scene") + ": " + at.scene.file.string() + " has " + what +
                       ": gradients are as exact as the states are stationary");
  };
  if (elements_of(at.scene).solver.allow_out_of_iterations) warn("solver/nonlinear/allow_out_of_iterations");
  if (elements_of(at.scene).solver.stop == StopRule::step) warn("solver/nonlinear/stop = \"step\"");
}

/// Every marker sits on a body of an experiment that looks at markers.
void check_marker_bodies(const Study& study, std::span<const Scene> scenes,
                         std::vector<std::string>& warnings) {
  std::vector<std::size_t> observed;
  for (const auto& objective : study.objectives)
    if (objective->type->uses_markers) observed.push_back(objective->experiment);
  for (const MarkerSpec& marker : study.markers) {
    if (observed.empty()) {
      warnings.push_back(marker.where.entry + ": no objective of type markers looks at '" + marker.name +
                         "'");
      continue;
    }
    const auto sits_in = [&](std::size_t index) {
      return holds(deformable_names(scenes[index]), marker.body);
    };
    const bool found = std::ranges::any_of(observed, sits_in);
    for (const std::size_t index : observed)
      if (marker.id && sits_in(index) &&
          !holds(experiment_kind(scenes[index]).observables, ObservableKind::point_ids))
        throw InputError(marker.where.of("id") + ": experiment '" + study.experiments[index].name + "'",
                         "only bonded particles have ids; give the marker a position, `rest`");
    if (!found)
      check_body(scenes[observed.front()], marker.body,
                 marker.where.of("body") + ": experiment '" + study.experiments[observed.front()].name + "'");
  }
}

void check_times(const ExperimentScene& at, const ObjectiveSpec& objective) {
  using namespace objectives;
  const TimeSpec& time = at.scene.time;
  const bool is_static = time.kind == TimeKind::statics;
  if (is_static && objective.once_per_observation)
    at.fail(objective.where, "time", "a static scene has one state; write \"final\", or leave it out");
  if (!objective.time) return;
  if (is_static && (std::holds_alternative<WholeTime>(*objective.time) ||
                    std::holds_alternative<ChosenTimes>(*objective.time)))
    at.fail(objective.where, "time", "a static scene has one state; write \"final\", or leave it out");
  if (const auto* list = std::get_if<ChosenSteps>(&*objective.time); list && list->steps.back() > time.steps)
    at.fail(objective.where, "time",
            "step " + std::to_string(list->steps.back()) + " is not run: the scene has " +
                std::to_string(time.steps) + " steps");
  if (const auto* list = std::get_if<ChosenTimes>(&*objective.time)) {
    const double end = time.t0 + time.steps * time.dt, slack = 1e-9 * time.dt;
    const auto with_unit = [&](double t) { return nlohmann::json(t).dump() + " " + at.scene.units.time; };
    for (const double t : list->times)
      if (t < time.t0 - slack || t > end + slack)
        at.fail(objective.where, "time",
                with_unit(t) + " is not reached: the scene runs from " + with_unit(time.t0) + " to " +
                    with_unit(end));
  }
}

/// What the objective asks for can be seen of the scenes of the solver.
void require_observables(const ExperimentScene& at, const ObjectiveSpec& objective) {
  const ExperimentKind& kind = experiment_kind(at.scene);
  const std::string type = objective.type->name;
  if (!holds(kind.observables, objective.type->asks)) {
    std::vector<std::string> possible;
    for (const ObjectiveType& other : objective_types())
      if (holds(kind.observables, other.asks)) possible.emplace_back(other.name);
    at.fail(objective.where, "type",
            type + " asks for " + name_of(objective.type->asks) + ", which " + kind.solver->scene.things +
                " do not have; take " + list_names(possible, "or"));
  }
  for (const auto& [key, asked] : objective.asks_also())
    if (!holds(kind.observables, asked))
      at.fail(objective.where, key,
              "`" + key + "` asks for " + name_of(asked) + ", which " + kind.solver->scene.things +
                  " do not have; leave it out");
}

/// Objectives of pairs do not tell a body from its copies in the next cells.
void refuse_pairs_of_copies(const ExperimentScene& at, const ObjectiveSpec& objective) {
  const ObservableKind asked = objective.type->asks;
  if (at.scene.contact.enabled && at.scene.contact.periodic &&
      (asked == ObservableKind::contact_forces || asked == ObservableKind::surfaces))
    at.fail(objective.where, "type",
            objective.type->name +
                std::string(" does not know the pairs with the next cell (contact/periodic in ") +
                at.scene.file.string() + "); take homogenized_stress, or leave one of the two out");
}

void require_cell(const ExperimentScene& at, const ObjectiveSpec& objective) {
  if (objective.type->asks != ObservableKind::cell_stress) return;
  if (const char* reason = experiment_kind(at.scene).lacks_cell_stress(at.scene))
    at.fail(objective.where, "type", objective.type->name + std::string(" ") + reason);
}

void check_objective(const ExperimentScene& at, const ObjectiveSpec& objective) {
  require_deformable(at, objective.bodies, objective.where.of("body"));
  check_times(at, objective);
  require_observables(at, objective);
  refuse_pairs_of_copies(at, objective);
  require_cell(at, objective);
  objective.check(at);
}

void check_scene_of_mesh(const ExperimentScene& at, std::vector<std::string>& warnings) {
  check_friction_passes(at);
  check_regularization(at);
  warn_of_accuracy(at, warnings);
}

std::unique_ptr<ExperimentModel> create_on_mesh(const parallel::Communicator& comm, const Study& study,
                                                int experiment, LoadedScene loaded,
                                                const Interrupts& interrupts) {
  if (loaded.dim == 2)
    return std::make_unique<ExperimentOnMesh<2>>(comm, study, experiment, std::move(loaded), interrupts);
  return std::make_unique<ExperimentOnMesh<3>>(comm, study, experiment, std::move(loaded), interrupts);
}

} // namespace

ExperimentKind experiments_on_meshes() {
  return {&elastodynamics,
          observables_on_meshes(),
          check_scene_of_mesh,
          [](const ExperimentScene& at, const ParameterSpec& parameter) {
            parameter.kind->row_for(parameter.per).check(at, parameter);
          },
          [](const Scene& scene) { return elements_of(scene).periodic ? nullptr : lacks_cell; },
          create_on_mesh};
}

const ExperimentKind& experiment_kind(const Scene& scene) {
  const auto kinds = experiment_kinds();
  const auto found = std::ranges::find_if(
      kinds, [&](const ExperimentKind& kind) { return scene.solver == kind.solver->scene.name; });
  if (found == kinds.end())
    throw InputError(scene.file.string() + " (/solver/type)",
                     "studies do not know runs of \"" + scene.solver + "\"; take a scene of another solver");
  return *found;
}

void check_study_dimensions(const Study& study, std::span<const int> dims) {
  RECOIL_ASSERT(dims.size() == study.experiments.size());
  for (const ParameterSpec& parameter : study.parameters)
    for (const int index : parameter.experiments) check_parameter_dimension(parameter, dims[index]);
  for (const auto& objective : study.objectives) objective->check_dimension(dims[objective->experiment]);
  check_marker_dimensions(study, dims);
}

std::vector<std::string> check_study_against_scenes(const Study& study, std::span<const Scene> scenes) {
  RECOIL_ASSERT(scenes.size() == study.experiments.size());
  std::vector<ExperimentScene> experiments;
  for (int i = 0; i < std::ssize(scenes); ++i)
    experiments.push_back({study, study.experiments[i], i, scenes[i]});
  std::vector<std::string> warnings;
  for (const ExperimentScene& at : experiments)
    if (at.scene.units != study.units)
      at.fail(at.experiment.where, "scene",
              at.scene.file.string() + " is in " + at.scene.units.names() + ", the study is in " +
                  study.units.names() +
                  "; write the `units` of the scenes, the same in all, in the study, too");
  for (const ParameterSpec& parameter : study.parameters)
    for (const int index : parameter.experiments)
      experiment_kind(scenes[index]).check_parameter(experiments[index], parameter);
  for (const auto& objective : study.objectives)
    check_objective(experiments[objective->experiment], *objective);
  check_marker_bodies(study, scenes, warnings);
  for (const ExperimentScene& at : experiments) experiment_kind(at.scene).check_scene(at, warnings);
  return warnings;
}

} // namespace recoil::app
