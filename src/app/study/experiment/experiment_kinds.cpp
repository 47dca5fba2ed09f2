#include <array>

#include "app/study/experiment/experiment_kind.hpp"

namespace recoil::app {

/// The rows of check_scenes.cpp and particle_experiment.cpp.
ExperimentKind experiments_on_meshes(), experiments_on_particles();

std::span<const ExperimentKind> experiment_kinds() {
  static const std::array kinds{
      experiments_on_meshes(),
      experiments_on_particles(),
  };
  return kinds;
}

} // namespace recoil::app
