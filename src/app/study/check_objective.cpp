#include <algorithm>

#include "app/scene/build.hpp"
#include "app/study/check_against_scenes.hpp"

namespace recoil::app {
namespace {

std::string number_with_unit(double time) { return nlohmann::json(time).dump() + " s"; }

void check_times(const ExperimentScene& at, const ObjectiveSpec& objective) {
  const TimeSpec& time = at.scene.time;
  const bool is_static = time.kind == TimeKind::statics;
  if (!objective.time) return;
  if (is_static && (std::holds_alternative<TimeIntegral>(*objective.time) ||
                    std::holds_alternative<TimeList>(*objective.time)))
    at.fail(objective.where, "time", "a static scene has one state; write \"final\", or leave it out");
  if (const auto* list = std::get_if<StepList>(&*objective.time); list && list->steps.back() > time.steps)
    at.fail(objective.where, "time",
            "step " + std::to_string(list->steps.back()) + " is not run: the scene has " +
                std::to_string(time.steps) + " steps");
  if (const auto* list = std::get_if<TimeList>(&*objective.time)) {
    const double end = time.t0 + time.steps * time.dt, slack = 1e-9 * time.dt;
    for (const double t : list->times)
      if (t < time.t0 - slack || t > end + slack)
        at.fail(objective.where, "time",
                number_with_unit(t) + " is not reached: the scene runs from " + number_with_unit(time.t0) +
                    " to " + number_with_unit(end));
  }
}

void check_markers(const ExperimentScene& at, const ObjectiveSpec& objective) {
  const auto bodies = deformable_names(at.scene);
  const bool found = std::ranges::any_of(at.study.markers, [&](const MarkerSpec& marker) {
    return std::ranges::find(bodies, marker.body) != bodies.end();
  });
  if (!found)
    at.fail(objective.where, "type",
            "no marker sits on a body of this experiment; bodies there: '" + bodies.front() +
                (bodies.size() > 1 ? "' to '" + bodies.back() + "'" : "'"));
}

void check_contact_force_norm(const ExperimentScene& at, const ObjectiveSpec& objective) {
  const auto* list = objective.time ? std::get_if<StepList>(&*objective.time) : nullptr;
  if (at.scene.time.kind == TimeKind::statics && list && list->steps.front() == 0)
    at.fail(objective.where, "time",
            "contact_force_norm is known for the solution of a static scene only, step 1, not for its start");
}

} // namespace

void check_objective(const ExperimentScene& at, const ObjectiveSpec& objective) {
  const std::string name = info(objective.type).name;
  require_deformable(at, objective.bodies, objective.where.of("body"));
  check_times(at, objective);
  switch (objective.type) {
  case ObjectiveType::markers:
    check_markers(at, objective);
    break;
  case ObjectiveType::contact_force_norm:
    if (!at.scene.contact.enabled)
      at.fail(objective.where, "type",
              name + " needs contact: set contact/enabled to true in " + at.scene.file.string());
    check_contact_force_norm(at, objective);
    break;
  case ObjectiveType::velocity:
    if (at.scene.time.kind != TimeKind::dynamic)
      at.fail(objective.where, "type",
              name + " needs a scene that moves in time, this one is " +
                  (at.scene.time.kind == TimeKind::statics ? "static" : "quasistatic"));
    break;
  default:
    break;
  }
}

} // namespace recoil::app
