#include "app/study/check_against_scenes.hpp"

namespace recoil::app {
namespace {

std::string number_with_unit(double time) { return nlohmann::json(time).dump() + " s"; }

void check_times(const ExperimentScene& at, const ObjectiveSpec& objective) {
  using namespace objectives;
  const TimeSpec& time = at.scene.time;
  const bool is_static = time.kind == TimeKind::statics;
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

} // namespace

void check_objective(const ExperimentScene& at, const ObjectiveSpec& objective) {
  require_deformable(at, objective.bodies, objective.where.of("body"));
  check_times(at, objective);
  objective.check(at);
}

} // namespace recoil::app
