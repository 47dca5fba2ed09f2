#pragma once

#include <Eigen/Core>

#include "recoil/particles/packing.hpp"

namespace recoil::particles {

/// Stiffness in Voigt notation [Pa], order xx yy zz yz xz xy, engineering shear strains.
using Stiffness = Eigen::Matrix<double, 6, 6>;

/// Elastic tensor, along lattice axes, of an infinite lattice whose neighbours are bonded by cylinders of the
/// particles' radius r, S = pi r^2, l0 = 2 r, with k_n = E S / l0 and k_t = kappa G S / l0, G = E / (2 (1 +
/// nu)):
///
///     1/2 eps : C : eps = 1 / (number of particles * cell volume)
///                         * min over u of sum over bonds of 1/2 k_n (n.d)^2 + 1/2 k_t |(I - n n^T) d|^2,
///     d = l0 eps n + u_j - u_i,
///
/// the quadratic part of 1/2 k_n (l - l0)^2 + 1/2 k_t l0^2 theta^2, theta being the angle between the centre
/// line and the rest direction that the particles carry along. The particles of a cell (hcp has two) are
/// displaced by u relative to each other. Particles do not rotate under a symmetric strain, and bonds neither
/// bend nor twist: the sum of n n^T over the bonds of a particle is isotropic in both lattices, and so strain
/// causes no moment. Independent of r.
///
/// Poisson's ratios of either lattice stay far below those of most solids, whatever nu >= 0 is.
/// @param shear_correction kappa.
/// @throws InputError unless E > 0, -1 < nu <= 1/2 and kappa > 0.
Stiffness effective_stiffness(LatticeKind kind, double young, double poisson, double shear_correction = 1);

/// 1 / (m m : S : m m) [Pa] with the compliance S: ratio of stress to strain in pulling along the unit vector
/// m.
double young_modulus(const Stiffness& stiffness, const Eigen::Vector3d& along);

/// d young_modulus(effective_stiffness(kind, young, poisson, shear_correction), along) / d poisson [Pa].
/// @throws as the latter.
double young_modulus_by_poisson(LatticeKind kind, double young, double poisson, const Eigen::Vector3d& along,
                                double shear_correction = 1);

/// Bulk and shear modulus [Pa] of an isotropic body that is a mean of all orientations of the lattice: Hill's
/// mean of the bounds of Voigt (equal strain) and Reuss (equal stress). K is exact for fcc.
struct IsotropicModuli {
  double bulk, shear;
};
IsotropicModuli hill_moduli(const Stiffness& stiffness);

/// Contraction along the unit vector `across` per extension along `along` when pulled along `along`.
double poisson_ratio(const Stiffness& stiffness, const Eigen::Vector3d& along, const Eigen::Vector3d& across);

} // namespace recoil::particles
