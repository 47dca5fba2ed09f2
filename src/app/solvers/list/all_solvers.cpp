#include "recoil/app/solvers/list/all_solvers.hpp"

#include "recoil/app/solvers/async_contact/async_kind.hpp"
#include "recoil/app/solvers/bonded_particles/particle_kind.hpp"
#include "recoil/app/solvers/elastodynamics/element_kind.hpp"

namespace recoil::app {

const SolverKinds& all_solvers() {
  static const SolverKinds kinds({
      &elastodynamics,
      &bonded_particles,
      &async_contact,
  });
  return kinds;
}

} // namespace recoil::app
