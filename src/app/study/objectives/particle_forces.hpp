#pragma once

#include "recoil/objectives/observable.hpp"
#include "recoil/solvers/bdem/problem.hpp"

/// Forces and energies of bonded particles, as ObservablesOnParticles has them: at states, with bonds and
/// contact as they were in the step that led there. `problem` must outlive them.
namespace recoil::app {

using ParticleObservable = std::unique_ptr<objectives::Observable<3>>;

/// The displacement of a particle, or the force on it, among numbers along the tangent spaces.
template <class Number>
auto shift_of(std::span<Number> z, std::size_t k) {
  using Vector = std::conditional_t<std::is_const_v<Number>, const Eigen::Vector3d, Eigen::Vector3d>;
  return Eigen::Map<Vector>(z.data() + 6 * k);
}

/// R = sum_k d . (dV/dp_k + dC/dp_k - m_k g - f_k) over some owned particles, V the energy of bonds and C
/// contact with friction, of which there is none in the initial state: the force along d, of unit length,
/// that holds them; their inertia is not part of it. Depends on the moduli of bonds, coefficients of
/// friction, particle_mass, gravity_vector, particle_loads and, where bonds soften, on internal_variables.
/// Contact is left at the end of the step that was looked at, here and below. Collective.
ParticleObservable observe_holding_force(const solvers::BondedParticles& problem,
                                         const Eigen::Vector3d& direction,
                                         const std::vector<LocalIndex>& held);
/// R = -sum_k d . dC/dp_k over all particles, C of the pairs with an obstacle, by its number as contact
/// counts: the force on what touches it. Collective. @pre there is contact.
ParticleObservable observe_obstacle_force(const solvers::BondedParticles& problem,
                                          const Eigen::Vector3d& direction, std::int32_t obstacle);
/// The forces of the barrier on some owned particles. Not collective. @pre there is contact.
ParticleObservable observe_particle_contact(const solvers::BondedParticles& problem,
                                            std::vector<std::size_t> owned);
/// The energy of the bonds of some bodies, which have flags by number. Depends on their moduli and, where
/// they soften, on internal_variables. Not collective.
ParticleObservable observe_bond_energy(const solvers::BondedParticles& problem, std::vector<char> bodies);

/// The mean first Piola-Kirchhoff stress of a cell that repeats, 9 numbers row by row [Pa]: the derivative of
/// the energy of bonds by its deformation over its volume at rest V, 1 / V sum f L', f the forces of bonds
/// and L their lines at rest from end to end. Depends as observe_bond_energy(). Not collective. @pre there is
/// a cell.
ParticleObservable observe_cell_of_bonds(const solvers::BondedParticles& problem);

} // namespace recoil::app
