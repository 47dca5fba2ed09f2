#pragma once

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// The critical time step [s] of leapfrog by one bond, T = 2 / sqrt(lambda) with lambda = 17.9 k_n / m: k_n =
/// E S / l0, m the smaller mass of both ends. 17.9 is the largest eigenvalue in units of k_n / m that the
/// Bloch matrices of M^-1 V'' have, with rotations, in an hcp lattice of equal spheres in touch with nu = 0.3
/// (10.3 if particles did not rotate). A shear correction kappa above 1 multiplies lambda by kappa, more than
/// it can raise an eigenvalue. Bonds much longer than the particles are wide (k_t l0^2 / I above that of
/// spheres in touch) are stiffer against rotation, and T is too large there. Not collective.
double critical_time_step(const BondedParticles& problem, LocalIndex bond);

/// The smallest of all bonds, infinite without any. Collective.
double critical_time_step(const BondedParticles& problem);

} // namespace recoil::solvers
