#pragma once

#include <Eigen/Core>

#include "recoil/geometry/quaternion.hpp"
#include "recoil/potentials/bonds/shear_energy.hpp"

/// The elastic bond of two particles, after [Lu, Cao, Li, Hu, Implicit bonded discrete element method with
/// manifold optimization], with the corrections that its energies need (docs/bonded_particles.md): it resists
/// stretch, shear, twist and bending. A chain of bonds is a Timoshenko beam with one integration point per
/// element. Energies are those of degree 0 in the quaternions: they see q / |q|.
namespace recoil::potentials {

/// Position [m] and orientation of a particle, a quaternion that need not be a unit.
struct Particle {
  Eigen::Vector3d p;
  geometry::Quaternion q;
};

/// Position and orientation of both particles: (p_i, q_i, p_j, q_j).
using BondVector = Eigen::Matrix<double, 14, 1>;
using BondMatrix = Eigen::Matrix<double, 14, 14>;

/// The shape in which a bond exerts nothing.
struct BondShape {
  double length = 0;         ///< l0, of the centre line [m]
  Eigen::Matrix3d frame;     ///< R0: row 0 is the axis of twist, rows 1 and 2 are those of bending, at rest
  Eigen::Vector3d direction; ///< d0, that of row 0 in a bond at rest
  Eigen::Vector3d turn = Eigen::Vector3d::Zero(); ///< t0, of the ends against each other
};

/// The shape of a bond with a centre line from p_i to p_j. @pre the points differ.
BondShape bond_shape(const Eigen::Vector3d& p_i, const Eigen::Vector3d& p_j);

/// What the energy of a bond depends on besides its moduli and its section.
struct BondForm {
  double shear_correction = 1; ///< kappa
  ShearEnergy shear_energy = ShearEnergy::smooth;
  /// Twist and bending as the paper writes them, 1/2 t0' K t0 with t0 = t / 2: a quarter of the stiffness.
  bool half_turns = false;

  /// Moments of stresses over those that the bond transmits: the paper takes K t0, its energy transmits
  /// K t0 / 2.
  double stress_moments() const { return half_turns ? 2 : 1; }
};

/// What a bond resists with.
struct BondStiffness {
  double stretch = 0; ///< k_n = E S / l0 [N/m]
  double shear = 0;   ///< k_t l0^2 = kappa G S l0 [J]
  double twist = 0;   ///< G J / l0 [J]
  double bend = 0;    ///< E I / l0 [J]
  ShearEnergy shear_energy = ShearEnergy::smooth;
};

/// The stiffness of a bond with `factor` times the energy.
inline BondStiffness operator*(double factor, const BondStiffness& k) {
  return {factor * k.stretch, factor * k.shear, factor * k.twist, factor * k.bend, k.shear_energy};
}

/// The stiffness of a round cross section: S = pi r^2, I = pi r^4 / 4, J = 2 I; twist and bend are a quarter
/// of what is said above with half turns. Linear in the moduli, so that its derivative by one is what it is
/// of 1 and 0.
/// @param young_modulus, shear_modulus E, G [Pa].
/// @param radius r of the cross section [m]. @param length l0 [m].
BondStiffness bond_stiffness(double young_modulus, double shear_modulus, double radius, double length,
                             const BondForm& form = {});

/// V = 1/2 k_n (L - l0)^2 + k_t l0^2 f(n . D) + 1/2 t' K t [J]: L and n are length and direction of the
/// centre line, D = R(q_i + s q_j) d0 is the rest direction turned by the mean rotation, f is that of
/// ShearEnergy, t = 2 s R0 G_l(q_j) q_i - t0 the relative rotation of the ends (for small angles its vector,
/// in the frame at rest), K = diag(twist, bend, bend), s the sign of q_i . q_j.
double bond_energy(const BondShape& shape, const BondStiffness& stiffness, const Particle& i,
                   const Particle& j);

/// The gradient of the energy of a bond; that by a quaternion is orthogonal to it.
BondVector bond_gradient(const BondShape& shape, const BondStiffness& stiffness, const Particle& i,
                         const Particle& j);

/// Gradient and Hessian, symmetric.
struct BondDerivatives {
  BondVector gradient;
  BondMatrix hessian;
};
BondDerivatives bond_derivatives(const BondShape& shape, const BondStiffness& stiffness, const Particle& i,
                                 const Particle& j);

/// The shape of a bond that exerts nothing where its ends are at i and j: its length L, g = R(q_i + s q_j)' n
/// and t + t0, which rigid motions leave as they are. By ShearEnergy::smooth its energy is that of the
/// distance of these strains from those of other ends, 1/2 k_n dL^2 + 1/2 k_t l0^2 |dg|^2 + 1/2 dt' K dt.
BondShape bond_shape_at(const BondShape& shape, const Particle& i, const Particle& j);

/// Gradients of the strains (L, g, t); those by a quaternion are orthogonal to it.
using BondStrainGradients = Eigen::Matrix<double, 14, 7>;
BondStrainGradients bond_strain_gradients(const BondShape& shape, const Particle& i, const Particle& j);
/// What these strains are multiplied by in that energy: k_n, three times k_t l0^2, and K.
Eigen::Matrix<double, 7, 1> strain_stiffness(const BondStiffness& stiffness);

/// Forces and moments that a bond transmits.
struct BondForces {
  double normal = 0;  ///< k_n (L - l0), positive in tension [N]
  double shear = 0;   ///< |dV_shear/dp| [N]
  double twist = 0;   ///< |(K t)_0| [N m]
  double bending = 0; ///< |(K t)_12| [N m]
};
BondForces bond_forces(const BondShape& shape, const BondStiffness& stiffness, const Particle& i,
                       const Particle& j);

/// Gradients of bond_forces(), in the order of its members; those by a quaternion are orthogonal to it. Where
/// a modulus vanishes it has a kink, and its gradient here is zero.
using BondForceGradients = Eigen::Matrix<double, 14, 4>;
BondForceGradients bond_force_gradients(const BondShape& shape, const BondStiffness& stiffness,
                                        const Particle& i, const Particle& j);

} // namespace recoil::potentials
