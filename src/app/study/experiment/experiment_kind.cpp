#include "app/study/experiment/experiment_kind.hpp"

#include <algorithm>
#include <array>

#include "recoil/base/error.hpp"

namespace recoil::app {

/// The rows of check_scenes.cpp and particle_experiment.cpp.
ExperimentKind experiments_on_meshes(), experiments_on_particles();

const ExperimentKind& experiment_kind(const Scene& scene) {
  static const std::array kinds{experiments_on_meshes(), experiments_on_particles()};
  const auto found = std::ranges::find_if(
      kinds, [&](const ExperimentKind& kind) { return scene.solver == kind.solver->scene.name; });
  if (found == kinds.end())
    throw InputError(scene.file.string() + " (/solver/type)",
                     "studies do not know runs of \"" + scene.solver + "\"; take a scene of another solver");
  return *found;
}

} // namespace recoil::app
