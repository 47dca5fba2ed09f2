#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"

namespace recoil::app {
namespace {

void check_adhesion(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (!at.scene.contact.adhesion_enabled)
    at.fail(parameter, parameter.kind->name + std::string(" is not used: no adhesion is enabled in ") +
                           at.scene.file.string() + "; set contact/adhesion/adhesion_enabled");
}

void check_tangential(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_adhesion(at, parameter);
  if (!at.scene.contact.tangential_adhesion)
    at.fail(parameter, "tangential_adhesion_coefficient is not used: " + at.scene.file.string() +
                           " has none; write contact/adhesion/tangential_adhesion_coefficient there");
  require_sliding(at, parameter);
}

template <int dim>
ParameterActions<dim> adhesion_actions() {
  return {.apply = [](const auto&, FieldValues values,
                      const auto& to) { to.scene.contact.adhesion_strength = values[0]; },
          .write = [](const auto&, FieldValues values,
                      auto& to) { to.json["contact"]["adhesion"]["adhesion_strength"] = values[0]; },
          .weights = [](const auto&, const TakeWeight& take) { take(0, 0, 1); }};
}

template <int dim>
ParameterActions<dim> tangential_actions() {
  return {.apply = [](const auto&, FieldValues values,
                      const auto& to) { to.scene.contact.tangential_adhesion = values[0]; },
          .write =
              [](const auto&, FieldValues values, auto& to) {
                to.json["contact"]["adhesion"]["tangential_adhesion_coefficient"] = values[0];
              },
          .weights = [](const auto& of,
                        const TakeWeight& take) { take(0, 0, tangential_adhesion_unit(of.scene())); }};
}

} // namespace

std::vector<ParameterKind> adhesion_parameters() {
  return {{.name = "adhesion_strength",
           .unit = "Pa",
           .range = non_negative,
           .doc = "`contact/adhesion/adhesion_strength`.",
           .quantities = {parameters::quantities::adhesion_strength},
           .check = check_adhesion,
           .by_dimension = {adhesion_actions<2>(), adhesion_actions<3>()}},
          {.name = "tangential_adhesion_coefficient",
           .range = non_negative,
           .doc = "`contact/adhesion/tangential_adhesion_coefficient`, which the scene has to have.",
           .quantities = {parameters::quantities::tangential_adhesion},
           .check = check_tangential,
           .by_dimension = {tangential_actions<2>(), tangential_actions<3>()}}};
}

} // namespace recoil::app
