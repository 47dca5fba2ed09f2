#pragma once

#include <Eigen/Core>

#include "recoil/particles/packing.hpp"

namespace recoil::particles {

/// Stiffness in Voigt notation [Pa], order xx yy zz yz xz xy, engineering shear strains.
using Stiffness = Eigen::Matrix<double, 6, 6>;

/// Elastic tensor, along lattice axes, of an infinite lattice whose neighbours are bonded by cylinders of the
/// particles' radius r, S = pi r^2, l0 = 2 r, with k_n = E S / l0 and k_t = G S / l0, G = E / (2 (1 + nu)):
///
///     W(eps) = 1 / (number of particles * cell volume) * min over u, w of
///              sum over bonds of 1/2 k_n (n.d)^2 + 1/2 k_t |(I - n n^T) d - l0 w x n|^2,
///     d = l0 eps n + u_j - u_i,
///
/// the quadratic part of 1/2 k_n (l - l0)^2 + 1/2 k_t l0^2 theta^2, theta being the angle between the centre
/// line and the rest direction that the particles carry along. The displacements u of the particles of a cell
/// relative to each other (hcp has two) and the rotation w that they share adjust themselves. That all rotate
/// alike, so that bonds neither bend nor twist, is exact: both lattices have a point symmetry between any two
/// neighbours of different kind, which leaves rotations as they are. Independent of r.
///
/// Poisson's ratios of either lattice stay far below those of most solids, whatever nu >= 0 is.
/// @throws InputError unless E > 0 and -1 < nu <= 1/2.
Stiffness effective_stiffness(LatticeKind kind, double young, double poisson);

/// 1 / (m m : S : m m) [Pa] with the compliance S: ratio of stress to strain in pulling along the unit vector
/// m.
double young_modulus(const Stiffness& stiffness, const Eigen::Vector3d& along);

/// Contraction along the unit vector `across` per extension along `along` when pulled along `along`.
double poisson_ratio(const Stiffness& stiffness, const Eigen::Vector3d& along, const Eigen::Vector3d& across);

} // namespace recoil::particles
