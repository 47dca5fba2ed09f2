#pragma once

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// The critical time step [s] of leapfrog by one bond, T = 2 / sqrt(lambda) with lambda = 17.9 k_n / m: k_n =
/// E S / l0, m the smaller mass of both ends. 17.9 is the largest eigenvalue in units of k_n / m that the
/// Bloch matrices of M^-1 V'' have, with rotations, in an hcp lattice of equal spheres in touch with nu = 0.3
/// (10.3 if particles did not rotate). A shear correction kappa above 1 multiplies lambda by kappa, more than
/// it can raise an eigenvalue. Bonds much longer than the particles are wide (k_t l0^2 / I above that of
/// spheres in touch) are stiffer against rotation, and T is too large there. Of a bond with the damping time
/// tau, whose rates are those of the last sub-step, it is T^2 / (tau + sqrt(tau^2 + T^2)). Not collective.
double critical_time_step(const BondedParticles& problem, LocalIndex bond);

/// The smallest of all bonds, infinite without any. Collective.
double bond_time_step(const BondedParticles& problem);

/// 2 / sqrt(lambda) of the largest eigenvalue lambda that bonds give M^-1 times the Hessian of V + D, D their
/// damping in steps of length dt, infinite without any. Collective.
double bond_time_scale(const BondedParticles& problem, double dt);

/// The critical time step of leapfrog by contact, infinite without: T = 0.17 t_c, t_c = pi / sqrt(lambda) the
/// time that two spheres touch which hit each other, lambda = k max(1 / m_1 + 1 / m_2, n / (4 m_1)), k the
/// stiffness of the penalty, m_1 and m_2 the smallest masses of spheres that move, n the largest number of
/// triangles that one touches at once (SphereContact::most_triangles_at_once(), of the largest radius). The
/// penalty is as stiff however deep and fast a sphere comes, and impulses of friction and rolling friction,
/// which never turn a motion round, need no shorter steps. Springs along contacts have 3.5 times the
/// eigenvalue at nu = 0, 2.9 times at 0.3, of the normal stiffness 2 E* a of Hertz' law, but a is a fraction
/// of the radius. A sphere that all its twelve neighbours press is stable up to 1.8 T; 0.17 is for accuracy:
/// where a sub-step h meets the beginning or the end of a contact, its energy is off by up to lambda h^2 / 4,
/// so that 0.2 T, a 29th of t_c, is exact to 0.3 % per collision. Collective.
double contact_time_step(const BondedParticles& problem);

/// The smaller one of both. Where bonded particles are pressed in contact their stiffnesses add: up to 0.7 of
/// it is stable whatever they do. Collective.
double critical_time_step(const BondedParticles& problem);

/// critical_time_step() if no bond were damped: what tells waves that steps resolve from those that they do
/// not. Collective.
double undamped_time_step(const BondedParticles& problem);

} // namespace recoil::solvers
