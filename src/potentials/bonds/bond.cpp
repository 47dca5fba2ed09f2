#include "recoil/potentials/bonds/bond.hpp"

#include <cmath>
#include <numbers>

namespace recoil::potentials {

namespace {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;
using geometry::Quaternion;
using Matrix34 = Eigen::Matrix<double, 3, 4>;

// Where the parts of (p_i, q_i, p_j, q_j) begin.
constexpr int begin_pi = 0, begin_qi = 3, begin_pj = 7, begin_qj = 10;

/// What the energies of a bond see of its ends.
struct Pose {
  double length; ///< L [m]
  Vector3d n;
  Quaternion a, b; ///< the unit quaternions of i and j
  double norm_a, norm_b;
  double s;
  Quaternion m; ///< a + s b
  double mu;    ///< m . m
  Eigen::Matrix<double, 4, 3>
      S_m; ///< columns S_k m with D_k = m' S_k m / mu, S_k = -Q_l(e_k) Q_r(d0) symmetric
  Vector3d D, t;
};

Pose pose(const BondShape& shape, const Particle& i, const Particle& j) {
  Pose at;
  at.n = j.p - i.p;
  at.length = at.n.norm();
  at.n /= at.length;
  at.norm_a = i.q.norm();
  at.norm_b = j.q.norm();
  at.a = i.q / at.norm_a;
  at.b = j.q / at.norm_b;
  at.s = at.a.dot(at.b) < 0 ? -1 : 1;
  at.m = at.a + at.s * at.b;
  at.mu = at.m.squaredNorm();
  Quaternion d0;
  d0 << shape.direction, 0;
  const Quaternion w = geometry::product(at.m, d0);
  at.S_m << geometry::cross_matrix(w.head<3>()) - w[3] * Matrix3d::Identity(), w.head<3>().transpose();
  at.D = at.S_m.transpose() * at.m / at.mu;
  at.t = 2 * at.s * shape.frame * (geometry::left_tangent(at.b) * at.a) - shape.turn;
  return at;
}

/// How D changes with m.
Matrix34 direction_by_mean(const Pose& at) {
  return 2 / at.mu * (at.S_m.transpose() - at.D * at.m.transpose());
}
/// How t changes with a and with b.
Matrix34 turn_by_a(const BondShape& shape, const Pose& at) {
  return 2 * at.s * shape.frame * geometry::left_tangent(at.b);
}
Matrix34 turn_by_b(const BondShape& shape, const Pose& at) {
  return -2 * at.s * shape.frame * geometry::left_tangent(at.a);
}

/// S(n) = sum_k n_k S_k.
Matrix4d shear_form(const BondShape& shape, const Vector3d& n) {
  Matrix4d S;
  for (int k = 0; k < 4; ++k) {
    Quaternion d0;
    d0 << shape.direction, 0;
    Quaternion along;
    along << n, 0;
    S.col(k) = -geometry::product(along, geometry::product(Quaternion::Unit(k), d0));
  }
  return S;
}

/// M(w) with G_l(q)' w = M(w) q, antisymmetric.
Matrix4d moment_form(const Vector3d& w) {
  Matrix4d M;
  M << -geometry::cross_matrix(w), w, -w.transpose(), 0;
  return M;
}

/// By p_j - p_i, a and b, all taken for free.
struct FreeGradient {
  Vector3d by_line;
  Quaternion by_a, by_b;
};

FreeGradient free_gradient(const BondShape& shape, const BondStiffness& k, const Pose& at) {
  const double sigma = at.n.dot(at.D);
  const Vector3d stretch = k.stretch * (at.length - shape.length) * at.n,
                 shear = -k.shear / at.length * (at.D - sigma * at.n);
  const Quaternion by_m = -2 * k.shear / at.mu * (at.S_m * at.n - sigma * at.m);
  const Vector3d moment = Vector3d(k.twist, k.bend, k.bend).cwiseProduct(at.t),
                 w = 2 * at.s * shape.frame.transpose() * moment;
  return {stretch + shear, by_m + geometry::left_tangent(at.b).transpose() * w,
          at.s * by_m - geometry::left_tangent(at.a).transpose() * w};
}

struct FreeHessian {
  Matrix3d line;
  Matrix34 line_m; ///< of the shear energy, by m
  Matrix4d a, ab, b;
};

FreeHessian free_hessian(const BondShape& shape, const BondStiffness& k, const Pose& at) {
  const double sigma = at.n.dot(at.D), L = at.length;
  const Matrix3d nn = at.n * at.n.transpose(), across = Matrix3d::Identity() - nn;
  FreeHessian H;
  H.line =
      k.stretch * (nn + (1 - shape.length / L) * across) +
      k.shear / (L * L) * (at.D * at.n.transpose() + at.n * at.D.transpose() + sigma * (across - 2 * nn));
  const Matrix34 D_by_m = direction_by_mean(at);
  H.line_m = -k.shear / L * across * D_by_m;
  const Quaternion sigma_by_m = D_by_m.transpose() * at.n;
  const Matrix4d m_m = -2 * k.shear / at.mu *
                       (shear_form(shape, at.n) - sigma * Matrix4d::Identity() -
                        at.m * sigma_by_m.transpose() - sigma_by_m * at.m.transpose());
  const Matrix3d K = Vector3d(k.twist, k.bend, k.bend).asDiagonal();
  const Matrix34 by_a = turn_by_a(shape, at), by_b = turn_by_b(shape, at);
  H.a = m_m + by_a.transpose() * K * by_a;
  H.b = m_m + by_b.transpose() * K * by_b;
  H.ab =
      at.s * m_m + by_a.transpose() * K * by_b + moment_form(2 * at.s * shape.frame.transpose() * K * at.t);
  return H;
}

/// P / |q| with P = I - q q' / |q|^2: how the unit quaternion changes with q.
Matrix4d by_quaternion(const Quaternion& unit, double norm) {
  return (Matrix4d::Identity() - unit * unit.transpose()) / norm;
}

/// d2 f(q / |q|) / dq2 of a function f of the unit quaternion with these derivatives.
Matrix4d degree_zero_hessian(const Matrix4d& f_qq, const Quaternion& f_q, const Quaternion& unit,
                             double norm) {
  const Matrix4d P = Matrix4d::Identity() - unit * unit.transpose();
  const Quaternion tangential = P * f_q;
  return (P * f_qq * P - unit.dot(f_q) * P - unit * tangential.transpose() - tangential * unit.transpose()) /
         (norm * norm);
}

BondVector assemble(const FreeGradient& g, const Pose& at) {
  BondVector gradient;
  gradient << -g.by_line, by_quaternion(at.a, at.norm_a) * g.by_a, g.by_line,
      by_quaternion(at.b, at.norm_b) * g.by_b;
  return gradient;
}

// By the angle the energy in shear is k_t l0^2 f(sigma), sigma = n . D: its gradient is that of the smooth
// form with -f' k_t, and its Hessian has f'' times the square of the gradient of sigma, too.

ShearTerms terms_at(const Pose& at) {
  // 2 (1 - n . D) without cancellation, as both are units.
  return angle_terms((at.n - at.D).squaredNorm());
}

BondStiffness smooth_tangent(const BondStiffness& k, const ShearTerms& terms) {
  return {k.stretch, terms.slope * k.shear, k.twist, k.bend, ShearEnergy::smooth};
}

BondVector sigma_gradient(const Pose& at) {
  const Vector3d by_line = (at.D - at.n.dot(at.D) * at.n) / at.length;
  const Quaternion by_m = direction_by_mean(at).transpose() * at.n;
  return assemble({by_line, by_m, at.s * by_m}, at);
}

BondMatrix assemble(const FreeHessian& H, const FreeGradient& g, const Pose& at) {
  const Matrix4d A = by_quaternion(at.a, at.norm_a), B = by_quaternion(at.b, at.norm_b);
  const Matrix34 line_a = H.line_m * A, line_b = at.s * H.line_m * B;
  const Matrix4d ab = A * H.ab * B;
  BondMatrix result;
  result.block<3, 3>(begin_pi, begin_pi) = result.block<3, 3>(begin_pj, begin_pj) = H.line;
  result.block<3, 3>(begin_pi, begin_pj) = result.block<3, 3>(begin_pj, begin_pi) = -H.line;
  result.block<3, 4>(begin_pi, begin_qi) = -line_a;
  result.block<3, 4>(begin_pi, begin_qj) = -line_b;
  result.block<3, 4>(begin_pj, begin_qi) = line_a;
  result.block<3, 4>(begin_pj, begin_qj) = line_b;
  result.block<4, 3>(begin_qi, begin_pi) = -line_a.transpose();
  result.block<4, 3>(begin_qj, begin_pi) = -line_b.transpose();
  result.block<4, 3>(begin_qi, begin_pj) = line_a.transpose();
  result.block<4, 3>(begin_qj, begin_pj) = line_b.transpose();
  result.block<4, 4>(begin_qi, begin_qi) = degree_zero_hessian(H.a, g.by_a, at.a, at.norm_a);
  result.block<4, 4>(begin_qj, begin_qj) = degree_zero_hessian(H.b, g.by_b, at.b, at.norm_b);
  result.block<4, 4>(begin_qi, begin_qj) = ab;
  result.block<4, 4>(begin_qj, begin_qi) = ab.transpose();
  return result;
}

} // namespace

BondShape bond_shape(const Vector3d& p_i, const Vector3d& p_j) {
  BondShape shape;
  const Vector3d line = p_j - p_i;
  shape.length = line.norm();
  const Vector3d d0 = line / shape.length;
  // The axis farthest from the line.
  int farthest;
  d0.cwiseAbs().minCoeff(&farthest);
  const Vector3d e1 = d0.cross(Vector3d::Unit(farthest)).normalized();
  shape.frame << d0.transpose(), e1.transpose(), d0.cross(e1).transpose();
  shape.direction = d0;
  return shape;
}

BondStiffness bond_stiffness(double young_modulus, double shear_modulus, double radius, double length,
                             const BondForm& form) {
  const double area = std::numbers::pi * radius * radius, inertia = area * radius * radius / 4,
               turns = form.half_turns ? 0.25 : 1;
  return {young_modulus * area / length, form.shear_correction * shear_modulus * area * length,
          turns * shear_modulus * 2 * inertia / length, turns * young_modulus * inertia / length,
          form.shear_energy};
}

double bond_energy(const BondShape& shape, const BondStiffness& k, const Particle& i, const Particle& j) {
  const Pose at = pose(shape, i, j);
  const double stretch = at.length - shape.length;
  // 1 - n . D without cancellation, as both are units.
  double shear = (at.n - at.D).squaredNorm() / 2;
  if (k.shear_energy == ShearEnergy::angle) shear = angle_terms(2 * shear).value;
  return k.stretch * stretch * stretch / 2 + k.shear * shear +
         (k.twist * at.t[0] * at.t[0] + k.bend * (at.t[1] * at.t[1] + at.t[2] * at.t[2])) / 2;
}

BondVector bond_gradient(const BondShape& shape, const BondStiffness& k, const Particle& i,
                         const Particle& j) {
  const Pose at = pose(shape, i, j);
  if (k.shear_energy == ShearEnergy::angle)
    return bond_gradient(shape, smooth_tangent(k, terms_at(at)), i, j);
  return assemble(free_gradient(shape, k, at), at);
}

namespace {

BondDerivatives smooth_derivatives(const BondShape& shape, const BondStiffness& k, const Particle& i,
                                   const Particle& j) {
  const Pose at = pose(shape, i, j);
  const FreeGradient g = free_gradient(shape, k, at);
  return {assemble(g, at), assemble(free_hessian(shape, k, at), g, at)};
}

} // namespace

BondDerivatives bond_derivatives(const BondShape& shape, const BondStiffness& k, const Particle& i,
                                 const Particle& j) {
  if (k.shear_energy == ShearEnergy::smooth) return smooth_derivatives(shape, k, i, j);
  const Pose at = pose(shape, i, j);
  const ShearTerms terms = terms_at(at);
  const BondVector by_ends = sigma_gradient(at);
  BondDerivatives result = smooth_derivatives(shape, smooth_tangent(k, terms), i, j);
  result.hessian += k.shear * terms.curvature * by_ends * by_ends.transpose();
  return result;
}

BondShape bond_shape_at(const BondShape& shape, const Particle& i, const Particle& j) {
  const Pose at = pose(shape, i, j);
  return {at.length, shape.frame, geometry::rotation_matrix(at.m.normalized()).transpose() * at.n,
          at.t + shape.turn};
}

BondStrainGradients bond_strain_gradients(const BondShape& shape, const Particle& i, const Particle& j) {
  const Pose at = pose(shape, i, j);
  BondStrainGradients gradients;
  gradients.col(0) = assemble({at.n, Quaternion::Zero(), Quaternion::Zero()}, at);
  BondShape along = shape;
  for (int k = 0; k < 3; ++k) {
    along.direction = Vector3d::Unit(k);
    gradients.col(1 + k) = sigma_gradient(pose(along, i, j));
  }
  const Matrix34 by_a = turn_by_a(shape, at), by_b = turn_by_b(shape, at);
  for (int k = 0; k < 3; ++k)
    gradients.col(4 + k) = assemble({Vector3d::Zero(), by_a.row(k).transpose(), by_b.row(k).transpose()}, at);
  return gradients;
}

Eigen::Matrix<double, 7, 1> strain_stiffness(const BondStiffness& k) {
  Eigen::Matrix<double, 7, 1> result;
  result << k.stretch, Vector3d::Constant(k.shear), k.twist, k.bend, k.bend;
  return result;
}

BondForces bond_forces(const BondShape& shape, const BondStiffness& k, const Particle& i, const Particle& j) {
  const Pose at = pose(shape, i, j);
  if (k.shear_energy == ShearEnergy::angle) return bond_forces(shape, smooth_tangent(k, terms_at(at)), i, j);
  return {k.stretch * (at.length - shape.length), k.shear / at.length * (at.D - at.n.dot(at.D) * at.n).norm(),
          k.twist * std::abs(at.t[0]), k.bend * at.t.tail<2>().norm()};
}

BondForceGradients bond_force_gradients(const BondShape& shape, const BondStiffness& k, const Particle& i,
                                        const Particle& j) {
  const Pose at = pose(shape, i, j);
  if (k.shear_energy == ShearEnergy::angle) {
    const ShearTerms terms = terms_at(at);
    BondForceGradients result = bond_force_gradients(shape, smooth_tangent(k, terms), i, j);
    // The shear force is -f' k_t l0^2 / L |D - sigma n|.
    const double sine = (at.D - at.n.dot(at.D) * at.n).norm();
    result.col(1) -= k.shear * terms.curvature * sine / at.length * sigma_gradient(at);
    return result;
  }
  const double sigma = at.n.dot(at.D);
  const Vector3d across = at.D - sigma * at.n;
  const auto direction_of = [](const Vector3d& w) { return w.isZero(0) ? w : Vector3d(w.normalized()); };
  const Vector3d along_shear = direction_of(across), along_twist = direction_of({at.t[0], 0, 0}),
                 along_bending = direction_of({0, at.t[1], at.t[2]});
  const auto of_turn = [&](double stiffness, const Vector3d& along) {
    return FreeGradient{Vector3d::Zero(), stiffness * turn_by_a(shape, at).transpose() * along,
                        stiffness * turn_by_b(shape, at).transpose() * along};
  };
  const double per_length = k.shear / at.length;
  const Quaternion shear_by_m = per_length * direction_by_mean(at).transpose() * along_shear;
  BondForceGradients gradients;
  gradients << assemble({k.stretch * at.n, Quaternion::Zero(), Quaternion::Zero()}, at),
      assemble({-per_length / at.length * (sigma * along_shear + across.norm() * at.n), shear_by_m,
                at.s * shear_by_m},
               at),
      assemble(of_turn(k.twist, along_twist), at), assemble(of_turn(k.bend, along_bending), at);
  return gradients;
}

} // namespace recoil::potentials
