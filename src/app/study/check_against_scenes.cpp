#include "app/study/check_against_scenes.hpp"

#include <algorithm>

#include "app/study/objectives/objective_type.hpp"
#include "app/study/parameters/parameter_kind.hpp"
#include "app/study/scene_facts.hpp"
#include "recoil/app/scene/build.hpp"

namespace recoil::app {
namespace {

/// More passes than one end where they end: only the fixed point has a derivative.
void check_friction_passes(const ExperimentScene& at) {
  const ContactSpec& contact = at.scene.contact;
  const bool rubbed = has_friction(at.scene) || at.has_parameter("friction");
  if (contact.enabled && rubbed && contact.friction_iterations > 1)
    at.fail(at.experiment.where, "scene",
            at.scene.file.string() +
                " has solver/contact/friction_iterations = " + std::to_string(contact.friction_iterations) +
                ", and a fixed number of passes > 1 has no derivative; use 1, or -1 (until converged)");
}

/// The last pass of converged friction drops the term; any other solution is stationary only with it.
void check_regularization(const ExperimentScene& at) {
  const Scene& scene = at.scene;
  const bool rubbed = scene.contact.enabled && (has_friction(scene) || at.has_parameter("friction"));
  if (scene.time.kind != TimeKind::statics || scene.solver.lagged_regularization_weight <= 0 ||
      scene.solver.lagged_regularization_iterations <= 0 || (rubbed && scene.contact.friction_iterations < 0))
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
  if (at.scene.solver.allow_out_of_iterations) warn("solver/nonlinear/allow_out_of_iterations");
  if (at.scene.solver.stop == StopRule::step) warn("solver/nonlinear/stop = \"step\"");
}

bool is_deformable(const Scene& scene, const std::string& name) {
  const mesh::GeometrySpec* body = find_geometry(scene, name);
  return body && !body->is_obstacle;
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
    const bool found = std::ranges::any_of(
        observed, [&](std::size_t index) { return is_deformable(scenes[index], marker.body); });
    if (!found)
      check_body(scenes[observed.front()], marker.body,
                 marker.where.of("body") + ": experiment '" + study.experiments[observed.front()].name + "'");
  }
}

std::string number_with_unit(double time) { return nlohmann::json(time).dump() + " s"; }

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
    for (const double t : list->times)
      if (t < time.t0 - slack || t > end + slack)
        at.fail(objective.where, "time",
                number_with_unit(t) + " is not reached: the scene runs from " + number_with_unit(time.t0) +
                    " to " + number_with_unit(end));
  }
}

void check_objective(const ExperimentScene& at, const ObjectiveSpec& objective) {
  require_deformable(at, objective.bodies, objective.where.of("body"));
  check_times(at, objective);
  objective.check(at);
}

} // namespace

void ExperimentScene::fail(const Places& places, const std::string& key, const std::string& what) const {
  throw InputError(places.of(key) + ": experiment '" + experiment.name + "'", what);
}

bool ExperimentScene::has(const ParameterSpec& parameter) const { return parameter.acts_in(index); }

bool ExperimentScene::has_parameter(const std::string& kind) const {
  return std::ranges::any_of(study.parameters, [&](const ParameterSpec& parameter) {
    return parameter.kind->name == kind && has(parameter);
  });
}

void require_deformable(const ExperimentScene& at, const std::vector<std::string>& bodies,
                        const std::string& where) {
  for (const std::string& body : bodies)
    check_body(at.scene, body, where + ": experiment '" + at.experiment.name + "'");
}

std::vector<std::string> check_study_against_scenes(const Study& study, std::span<const Scene> scenes) {
  RECOIL_ASSERT(scenes.size() == study.experiments.size());
  std::vector<ExperimentScene> experiments;
  for (std::size_t i = 0; i < scenes.size(); ++i)
    experiments.push_back({study, study.experiments[i], static_cast<int>(i), scenes[i]});
  std::vector<std::string> warnings;
  for (const ParameterSpec& parameter : study.parameters)
    for (const int index : parameter.experiments) parameter.kind->check(experiments[index], parameter);
  for (const auto& objective : study.objectives)
    check_objective(experiments[objective->experiment], *objective);
  check_marker_bodies(study, scenes, warnings);
  for (const ExperimentScene& at : experiments) {
    check_friction_passes(at);
    check_regularization(at);
    warn_of_accuracy(at, warnings);
  }
  return warnings;
}

} // namespace recoil::app
