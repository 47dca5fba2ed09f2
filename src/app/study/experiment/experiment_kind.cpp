#include "app/study/experiment/experiment_kind.hpp"

#include <algorithm>
#include <array>

namespace recoil::app {

/// The rows of check_scenes.cpp and particle_experiment.cpp.
ExperimentKind experiments_on_meshes(), experiments_on_particles();

const ExperimentKind& experiment_kind(const Scene& scene) {
  static const std::array kinds{experiments_on_meshes(), experiments_on_particles()};
  return *std::ranges::find(kinds, scene.solver.type, &ExperimentKind::solver);
}

} // namespace recoil::app
