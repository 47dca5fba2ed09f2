#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"

namespace recoil::app {
namespace {

void check_adhesion(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (!at.scene.contact.adhesion_enabled)
    at.fail(parameter, "adhesion_strength is not used: no adhesion is enabled in " + at.scene.file.string() +
                           "; set contact/adhesion/adhesion_enabled");
}

template <int dim>
ParameterActions<dim> adhesion_actions() {
  return {.apply = [](const auto&, FieldValues values,
                      const auto& to) { to.scene.contact.adhesion_strength = values[0]; },
          .write = [](const auto&, FieldValues values,
                      auto& to) { to.json["contact"]["adhesion"]["adhesion_strength"] = values[0]; },
          .weights = [](const auto&, const TakeWeight& take) { take(0, 0, 1); }};
}

} // namespace

std::vector<ParameterKind> adhesion_parameters() {
  return {{.name = "adhesion_strength",
           .unit = "Pa",
           .range = non_negative,
           .doc = "`contact/adhesion/adhesion_strength`.",
           .quantities = {parameters::quantities::adhesion_strength},
           .check = check_adhesion,
           .by_dimension = {adhesion_actions<2>(), adhesion_actions<3>()}}};
}

} // namespace recoil::app
