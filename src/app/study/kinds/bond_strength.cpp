#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"

namespace recoil::app {
namespace {

ParameterKind strength(const char* name, const char* doc, const ParticleActions& actions) {
  return {.name = name,
          .unit = "Pa",
          .takes = {"body", "per"},
          .per = {Per::global, Per::body},
          .range = positive,
          .doc = doc,
          .constant = name,
          .is_strength = true,
          .check =
              [](const ExperimentScene& at, const ParameterSpec& parameter) {
                at.fail(parameter,
                        std::string(parameter.kind->name) +
                            " is of bonded particles, and this scene is of finite elements; say by "
                            "`experiment` which scenes are meant");
              },
          .by_dimension = {},
          .on_particles = &actions};
}

} // namespace

std::vector<ParameterKind> bond_strength_parameters() {
  return {
      strength("tensile_strength",
               "`tensile_strength` of bonded particles, in scenes with a `damage_width`; each bond has its "
               "Weibull factor times the value, or, per bond, the value itself.",
               bond_tensile_strength),
      strength("shear_strength", "`shear_strength`, likewise.", bond_shear_strength)};
}

} // namespace recoil::app
