#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"

namespace recoil::app {

std::vector<ParameterKind> particle_force_parameters() {
  return {{.name = "particle_force",
           .unit = "N",
           .components = Components::vector,
           .takes = {"boundary"},
           .needs = {"boundary"},
           .doc = "`value` of the `particle_forces` with this id, in scenes of bonded particles.",
           .check =
               [](const ExperimentScene& at, const ParameterSpec& parameter) {
                 at.fail(parameter, "particle_force acts on bonded particles, and this scene is of finite "
                                    "elements; take traction, or say by `experiment` which scenes are meant");
               },
           .by_dimension = {},
           .on_particles = &force_on_particles}};
}

} // namespace recoil::app
