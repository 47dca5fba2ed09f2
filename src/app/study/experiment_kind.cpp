#include "app/study/experiment_kind.hpp"

#include <algorithm>
#include <array>

namespace recoil::app {

/// Of check_study.cpp.
ExperimentKind experiments_on_meshes();

const ExperimentKind& experiment_kind(const Scene& scene) {
  static const std::array kinds{experiments_on_meshes()};
  return *std::ranges::find(kinds, scene.solver.type, &ExperimentKind::solver);
}

} // namespace recoil::app
