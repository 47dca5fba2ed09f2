#include <array>

#include "discs/disc_experiment.hpp"
#include "discs/disc_kind.hpp"
#include "recoil/app/solvers/bonded_particles/particle_kind.hpp"
#include "recoil/app/solvers/elastodynamics/element_kind.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"

/// The lists of solvers and of experiments, in place of those of recoil: with a line more.
namespace recoil::app {

const SolverKinds& all_solvers() {
  static const SolverKinds kinds({
      &elastodynamics,
      &bonded_particles,
      &discs::disc_kind,
  });
  return kinds;
}

/// The rows of check_scenes.cpp and particle_experiment.cpp.
ExperimentKind experiments_on_meshes(), experiments_on_particles();

std::span<const ExperimentKind> experiment_kinds() {
  static const std::array kinds{
      experiments_on_meshes(),
      experiments_on_particles(),
      discs::experiments_on_discs(),
  };
  return kinds;
}

} // namespace recoil::app
