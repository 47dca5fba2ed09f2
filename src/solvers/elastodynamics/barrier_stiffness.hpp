#pragma once

#include <optional>

#include "recoil/linalg/vector.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::solvers {

/// The factor K of the barrier in the incremental potential of one solve, and what Newton's method may make
/// of it.
struct BarrierStiffness {
  double value = 1;
  double largest = 1;       ///< doubling ends here
  double tiny_distance = 0; ///< below it a shrinking distance doubles the value [m]; 0 = never
};

/// options.barrier_stiffness in the units of the energy of contact [J per unit barrier]. @pre it is given.
double physical_barrier_stiffness(const ElastodynamicsOptions& options);

/// K of the state that `problem.contact` was last updated with: scale * options.barrier_stiffness where that
/// is given, else the adaptive value that balances the barrier with the other forces there, within bounds set
/// by mass and size [Li et al. 2020, supplement; docs/architecture.md]. `gradient_without_contact`: that of
/// inertia and of scale * (elastic energy and loads), prescribed entries included. Collective.
template <int dim>
BarrierStiffness barrier_stiffness(const ElastodynamicsProblem<dim>& problem,
                                   const ElastodynamicsOptions& options, double scale,
                                   const linalg::Vector& gradient_without_contact);

} // namespace recoil::solvers
