#pragma once

#include <array>
#include <span>

#include <Eigen/Core>

#include "recoil/base/types.hpp"

/// Potentials of the elements of a shell. Gradients are by the positions of the vertices in their order.
namespace recoil::solvers::async_contact {

template <int n>
using Points = Eigen::Matrix<double, 3, n>;

/// A triangle that resists stretching by St Venant-Kirchhoff's law in its plane: with F from the rest shape
/// and strain e = 1/2 (F^T F - I),
///
///     V = A Yh / (2 (1 - nu^2)) ((1 - nu) tr e^2 + nu (tr e)^2)
///
/// for rest area A, Young's modulus Y, thickness h and Poisson's ratio nu.
struct Membrane {
  std::array<LocalIndex, 3> vertices;
  Eigen::Matrix2d
      inverse_rest;   ///< inverse of the rest edges x1 - x0, x2 - x0 in coordinates of the plane [1/m]
  double area;        ///< A [m^2]
  double stiffness;   ///< Yh [N/m]
  double poisson;     ///< nu
  double damping = 0; ///< Yh of the Rayleigh dissipation, for strain rates [N s/m]
  double step = 0;    ///< of its clock [s]
};

/// The triangle with its rest shape at `rest`. Area and inverse are infinite or zero if it is degenerate.
Membrane make_membrane(const std::array<LocalIndex, 3>& vertices, const Points<3>& rest, double stiffness,
                       double poisson);

double energy(const Membrane& membrane, const Points<3>& x);
/// dV/dx [N], with the trace of the strain in `trace`.
Points<3> gradient(const Membrane& membrane, const Points<3>& x, double* trace = nullptr);
/// Green's strain e.
Eigen::Matrix2d strain(const Membrane& membrane, const Points<3>& x);
/// Half the rate of dissipation's derivative by the velocities: dR/dv of R = V with the strain rate in place
/// of the strain and `damping` in place of Yh [N]; its product with velocities is 2 R.
Points<3> damping_gradient(const Membrane& membrane, const Points<3>& x, const Eigen::Matrix2d& strain_rate);
/// Upper bound of the squared frequency of the element at rest [1/s^2] where its lightest vertex has
/// `least_mass`: A Yh / (1 - nu) |G|^2 / m with the matrix norm of the gradients G of its linear functions.
double squared_frequency(const Membrane& membrane, double least_mass);

/// Two triangles that share the edge x0 x1, with the opposite vertices x2 and x3, bent by the angle theta
/// (surface::fold_angle): V = c (theta - theta0)^2 with c = 3 k |e|^2 / (A1 + A2) for a bending stiffness k,
/// rest length |e| of the edge and rest areas. A plate of flexural rigidity D has k = D / 6 [Grinspun et al.
/// 2003].
struct BendingHinge {
  std::array<LocalIndex, 4> vertices;
  double coefficient; ///< c [J]
  double rest_angle;  ///< theta0
  double damping = 0; ///< c of the Rayleigh dissipation, for angular rates [J s]
  double yield_angle; ///< greatest |theta - theta0| without plastic flow; infinite: elastic
  double step = 0;    ///< [s]
};

BendingHinge make_hinge(const std::array<LocalIndex, 4>& vertices, const Points<4>& rest,
                        double bending_stiffness);

/// Gradient of the angle theta [1/m], whose columns sum to zero, with the angle itself in `angle`.
Points<4> angle_gradient(const Points<4>& x, double* angle = nullptr);
double energy(const BendingHinge& hinge, const Points<4>& x);
Points<4> gradient(const BendingHinge& hinge, const Points<4>& x);
/// 2 c sum_a |d theta/dx_a|^2 / m_a at `rest` [1/s^2].
double squared_frequency(const BendingHinge& hinge, const Points<4>& rest,
                         const Eigen::Vector4d& inverse_masses);

/// A hyperelastic law of bodies of volume by pointers to functions of a deformation gradient and parameters.
struct SolidLaw {
  int num_parameters;
  double (*energy_density)(const Eigen::Matrix3d& F, const double* parameters);       ///< [J/m^3]
  Eigen::Matrix3d (*first_piola)(const Eigen::Matrix3d& F, const double* parameters); ///< [Pa]
  double (*greatest_modulus)(const double* parameters); ///< bound of the tangent's norm at rest [Pa]
};

/// A linear tetrahedron.
struct Solid {
  static constexpr std::size_t max_parameters = 16;
  std::array<LocalIndex, 4> vertices;
  Eigen::Matrix3d inverse_rest; ///< inverse of the rest edges x_i - x0 [1/m]
  double volume;                ///< at rest [m^3]
  const SolidLaw* law;
  std::array<double, max_parameters> parameters;
  double step = 0; ///< [s]
};

/// The tetrahedron with its rest shape at `rest`; its volume is not positive if that is degenerate or turned.
Solid make_solid(const std::array<LocalIndex, 4>& vertices, const Points<4>& rest, const SolidLaw* law,
                 std::span<const double> parameters);

double energy(const Solid& solid, const Points<4>& x);
/// dV/dx [N], with the deformation gradient in `F`.
Points<4> gradient(const Solid& solid, const Points<4>& x, Eigen::Matrix3d* F = nullptr);
/// Upper bound of the squared frequency of the element at rest [1/s^2], as of a Membrane.
double squared_frequency(const Solid& solid, double least_mass);

/// V = k/2 (|x1 - x0| - L)^2.
struct Spring {
  std::array<LocalIndex, 2> vertices;
  double length, stiffness; ///< L [m], k [N/m]
  double damping = 0;       ///< force per rate of length [N s/m]
  double step = 0;          ///< [s]
};

double energy(const Spring& spring, const Points<2>& x);
Points<2> gradient(const Spring& spring, const Points<2>& x);

} // namespace recoil::solvers::async_contact
