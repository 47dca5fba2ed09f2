#pragma once

#include <span>

#include <Eigen/Core>

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// The mean Cauchy stress [Pa] of a cell at u, in tension positive, by the forces f that bonds transmit along
/// their lines l from end to end [Love 1927; Christoffersen, Mehrabadi, Nemat-Nasser 1981],
///
///     sigma = 1 / (det F V) sum f l',
///
/// V the volume at rest and F of the states that terms look at (CellMotion::now()). Their damping, and the
/// motion of particles against each other, are left out. Where forces on every particle add up to zero,
/// det F sigma F^-T is the derivative of the energy by F over V, the first Piola-Kirchhoff stress. `u` has 7
/// numbers a particle, ghosts current. The same on all ranks. Collective. @pre there is a cell.
Eigen::Matrix3d cell_stress(const BondedParticles& problem, std::span<const double> u);

} // namespace recoil::solvers
