#pragma once

#include <array>
#include <span>
#include <utility>

#include "recoil/linalg/vector.hpp"

namespace recoil::solvers {

template <int dim>
struct ElastodynamicsProblem;

/// Energy and momentum balance of a run [J, kg m/s, kg m^2/s]; works and dissipations are sums over all steps
/// so far, each computed from its own forces times the displacement increment, never as a remainder: kinetic
/// + elastic + barrier - (initial sum) = external_work - dissipated_friction - dissipated_damping -
/// dissipated_integrator, up to the residual of Newton's method.
struct Ledger {
  double kinetic = 0, elastic = 0, barrier = 0;
  double external_work = 0; ///< of loads and of what moves prescribed nodes and obstacles
  double dissipated_friction = 0, dissipated_damping = 0;
  double dissipated_integrator = 0; ///< numerical: of the BDF formula, of forces taken at the end of the
                                    ///< step, of barrier stiffness changes
  std::array<double, 3> linear_momentum{};
  std::array<double, 3> angular_momentum{}; ///< about the origin; 2D: last entry

  /// Energies, works and dissipations under the names that files have for them.
  static constexpr auto energies() {
    return std::to_array<std::pair<const char*, double Ledger::*>>(
        {{"kinetic", &Ledger::kinetic},
         {"elastic", &Ledger::elastic},
         {"barrier", &Ledger::barrier},
         {"external_work", &Ledger::external_work},
         {"dissipated_friction", &Ledger::dissipated_friction},
         {"dissipated_damping", &Ledger::dissipated_damping},
         {"dissipated_integrator", &Ledger::dissipated_integrator}});
  }
};

/// Energies and momenta of a state, without works. Collective.
template <int dim>
Ledger measure_state(const ElastodynamicsProblem<dim>& problem, const linalg::Vector& u,
                     const linalg::Vector& v);

/// What a step adds.
template <int dim>
struct StepForLedger {
  const linalg::Vector *u, *v, *u_previous, *v_previous;
  const linalg::Vector* acceleration; ///< null without inertia
};

/// The ledger after a step that started with `before`. The potentials must still be in the step (begin_step),
/// contact updated to its end; `barrier_stiffness` is the physical one of the step [J].
/// @param support_forces empty, or a zero for each owned component: the force [N] (2D: per unit thickness)
/// that each prescribed one exerts on the bodies, the gradient of all terms plus the inertia M a, is added.
/// Collective.
template <int dim>
Ledger close_step(const ElastodynamicsProblem<dim>& problem, const Ledger& before,
                  const StepForLedger<dim>& step, double barrier_stiffness,
                  std::span<double> support_forces = {});

} // namespace recoil::solvers
