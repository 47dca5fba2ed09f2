#include "recoil/potentials/bonds/bond.hpp"

#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace recoil::potentials {
namespace {

using Eigen::Vector3d;
using Eigen::Vector4d;
using geometry::Quaternion;

class Random {
public:
  explicit Random(int seed) : engine_(seed) {}
  double number() { return std::uniform_real_distribution(-1.0, 1.0)(engine_); }
  Vector3d vector(double size) { return size * Vector3d(number(), number(), number()); }
  Quaternion rotation() { return Quaternion(number(), number(), number(), number()).normalized(); }

private:
  std::mt19937 engine_;
};

TEST(Quaternions, KeepTheIdentitiesOfTheirTangents) {
  Random random(1);
  for (int k = 0; k < 100; ++k) {
    const Quaternion q = random.rotation(), p = random.rotation();
    const auto G = geometry::left_tangent(q), right = geometry::right_tangent(q);
    const auto I3 = Eigen::Matrix3d::Identity();
    const auto I4 = Eigen::Matrix4d::Identity();
    EXPECT_LT((G * q).norm() + (right * q).norm(), 1e-15);
    EXPECT_LT((G * G.transpose() - I3).norm() + (right * right.transpose() - I3).norm(), 1e-14);
    EXPECT_LT((G.transpose() * G - I4 + q * q.transpose()).norm(), 1e-14);
    EXPECT_LT((geometry::product(geometry::conjugate(q), p).head<3>() - G * p).norm(), 1e-15);
    EXPECT_LT((geometry::product(p, geometry::conjugate(q)).head<3>() - right * p).norm(), 1e-15);
    const Vector3d x = random.vector(2);
    Quaternion pure;
    pure << x, 0;
    const Quaternion turned = geometry::product(geometry::product(q, pure), geometry::conjugate(q));
    EXPECT_LT((geometry::rotation_matrix(q) * x - turned.head<3>()).norm(), 1e-15 * 10);
  }
}

TEST(Quaternions, ExponentialAndLogarithmAreInverse) {
  Random random(2);
  for (const double size : {0.0, 1e-12, 1e-7, 1e-5, 1e-3, 0.1, 1.0, 1.8}) {
    const Vector3d a = random.vector(size);
    const Quaternion q = geometry::quaternion_exponential(a);
    EXPECT_NEAR(q.norm(), 1, 1e-15);
    EXPECT_LE((geometry::quaternion_logarithm(q) - a).norm(), 1e-15 * a.norm());
    EXPECT_LE((geometry::quaternion_logarithm(-q) - a).norm(), 1e-15 * a.norm()) << "the same rotation";
    EXPECT_LE((geometry::rotation_matrix(q) * a - a).norm(), 1e-15 * a.norm());
  }
}

const BondForm forms[] = {{}, {0.9, ShearEnergy::angle, true}};

/// A bond, bent, sheared, twisted and stretched by about `size`.
struct DeformedBond {
  BondShape shape;
  BondStiffness stiffness;
  Particle i, j;

  DeformedBond(int seed, double size, const BondForm& form = {})
      : stiffness(bond_stiffness(3.0, 1.1, 0.4, 0.9, form)) {
    Random random(seed);
    i.p = random.vector(1);
    j.p = i.p + 0.9 * random.vector(1).normalized();
    shape = bond_shape(i.p, j.p);
    const Quaternion common = random.rotation();
    const Vector3d shift = random.vector(3);
    for (Particle* end : {&i, &j}) {
      end->q = geometry::product(common, geometry::quaternion_exponential(random.vector(size)));
      end->p = geometry::rotation_matrix(common) * (end->p + random.vector(0.3 * size)) + shift;
    }
    if (seed % 3 == 0) j.q = -j.q; // the same rotation
  }
  double energy() const { return bond_energy(shape, stiffness, i, j); }
};

BondVector moved(const DeformedBond& bond, DeformedBond& to, const BondVector& d, double h) {
  to = bond;
  to.i.p += h * d.segment<3>(0);
  to.i.q += h * d.segment<4>(3);
  to.j.p += h * d.segment<3>(7);
  to.j.q += h * d.segment<4>(10);
  return bond_gradient(to.shape, to.stiffness, to.i, to.j);
}

TEST(Bond, DerivativesAgreeWithDifferences) {
  for (int seed = 0; seed < 120; ++seed) {
    DeformedBond bond(seed, seed % 60 < 30 ? 0.05 : 1.0, forms[seed / 60]);
    if (seed % 2 == 1) bond.i.q *= 0.7, bond.j.q *= 1.3; // as between two states
    const BondDerivatives at = bond_derivatives(bond.shape, bond.stiffness, bond.i, bond.j);
    EXPECT_EQ(at.gradient, bond_gradient(bond.shape, bond.stiffness, bond.i, bond.j));
    EXPECT_LT((at.hessian - at.hessian.transpose()).norm(), 1e-14 * at.hessian.norm());
    Random random(seed + 100);
    BondVector d;
    for (double& entry : d) entry = random.number();
    const double h = 1e-5;
    DeformedBond plus = bond, minus = bond;
    const BondVector difference = (moved(bond, plus, d, h) - moved(bond, minus, d, -h)) / (2 * h);
    EXPECT_NEAR((plus.energy() - minus.energy()) / (2 * h), at.gradient.dot(d), 1e-8) << seed;
    EXPECT_LT((difference - at.hessian * d).norm(), 1e-7 * at.hessian.norm()) << seed;
  }
}

TEST(Bond, ForcesHaveTheirGradients) {
  for (int seed = 0; seed < 120; ++seed) {
    DeformedBond bond(seed, seed % 60 < 30 ? 0.05 : 1.0, forms[seed / 60]);
    if (seed % 2 == 1) bond.i.q *= 0.7, bond.j.q *= 1.3;
    const BondForceGradients gradients = bond_force_gradients(bond.shape, bond.stiffness, bond.i, bond.j);
    Random random(seed + 200);
    BondVector d;
    for (double& entry : d) entry = random.number();
    const auto at = [&](double h) {
      DeformedBond to = bond;
      moved(bond, to, d, h);
      const BondForces forces = bond_forces(to.shape, to.stiffness, to.i, to.j);
      return Vector4d(forces.normal, forces.shear, forces.twist, forces.bending);
    };
    const double h = 1e-4;
    const Vector4d difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    for (int k = 0; k < 4; ++k) {
      EXPECT_NEAR(gradients.col(k).dot(d), difference[k], 1e-6 * gradients.col(k).norm() * d.norm())
          << "seed " << seed << ", force " << k;
      EXPECT_LT(std::abs(gradients.col(k).segment<4>(3).dot(bond.i.q)) +
                    std::abs(gradients.col(k).segment<4>(10).dot(bond.j.q)),
                1e-13);
    }
  }
}

TEST(Bond, ForcesThatVanishHaveNoGradient) {
  const DeformedBond bond(4, 0.0);
  const BondShape shape = bond_shape({0, 0, 0}, {1, 0, 0});
  const Particle i{{0, 0, 0}, geometry::identity_quaternion()}, j{{1, 0, 0}, geometry::identity_quaternion()};
  const BondForceGradients gradients = bond_force_gradients(shape, bond.stiffness, i, j);
  EXPECT_NEAR(gradients.col(0).norm(), std::sqrt(2.0) * bond.stiffness.stretch, 1e-12);
  EXPECT_EQ(gradients.rightCols<3>().norm(), 0);
}

TEST(Bond, SeesTheRotationOfAQuaternionAlone) {
  for (int seed = 0; seed < 20; ++seed) {
    const DeformedBond bond(seed, 0.5);
    const BondVector g = bond_gradient(bond.shape, bond.stiffness, bond.i, bond.j);
    EXPECT_LT(std::abs(g.segment<4>(3).dot(bond.i.q)) + std::abs(g.segment<4>(10).dot(bond.j.q)), 1e-14);
    DeformedBond other = bond;
    other.i.q *= -2.5;
    EXPECT_NEAR(other.energy(), bond.energy(), 1e-15 * 10);
  }
}

TEST(Bond, RigidMotionsCostNothingAndForcesBalance) {
  for (int seed = 0; seed < 20; ++seed) {
    const DeformedBond at_rest(seed, 0.0), bond(seed, 0.7);
    EXPECT_LT(at_rest.energy(), 1e-28);
    Random random(seed);
    const Quaternion q = random.rotation();
    const Eigen::Matrix3d R = geometry::rotation_matrix(q);
    DeformedBond turned = bond;
    for (Particle* end : {&turned.i, &turned.j}) {
      end->p = R * end->p + Vector3d(3, -2, 1);
      end->q = geometry::product(q, end->q);
    }
    EXPECT_NEAR(turned.energy(), bond.energy(), 1e-14 * bond.energy());
    const BondVector g = bond_gradient(bond.shape, bond.stiffness, bond.i, bond.j);
    EXPECT_LT((g.segment<3>(0) + g.segment<3>(7)).norm(), 1e-15 * g.norm() * 10);
    // A turn dq = 1/2 G_r(q)' w about all axes of space, of both ends about the origin.
    const Vector3d torque = bond.i.p.cross(g.segment<3>(0)) + bond.j.p.cross(g.segment<3>(7)) +
                            0.5 * (geometry::right_tangent(bond.i.q) * g.segment<4>(3) +
                                   geometry::right_tangent(bond.j.q) * g.segment<4>(10));
    EXPECT_LT(torque.norm(), 1e-14 * g.norm() * 10);
  }
}

/// Of the angle, in long double, whose rounding spoils the curvature of small ones.
TEST(ShearEnergy, OfTheAngleIsThatOfItsFormulas) {
  for (const long double theta :
       {1e-3L, 0.01L, 0.0999L, 0.1L, 0.1001L, 0.101L, 0.5L, 1.0L, 2.0L, 3.0L, 3.14L}) {
    const long double s = std::sin(theta), half = std::sin(theta / 2);
    const ShearTerms at = angle_terms(double(4 * half * half));
    EXPECT_NEAR(at.value / double(theta * theta / 2), 1, 1e-13) << double(theta);
    // There y has lost the digits of 4 - y.
    const double near_reversal = theta > 3 ? 1e-9 : 0;
    EXPECT_NEAR(at.slope / double(theta / s), 1, 1e-14 + near_reversal) << double(theta);
    EXPECT_NEAR(at.curvature / double((s - theta * std::cos(theta)) / (s * s * s)), 1, 2e-13 + near_reversal)
        << double(theta);
  }
  for (const double theta : {0.0, 1e-200, 1e-9, 1e-6, 1e-4}) {
    const double square = theta * theta;
    const ShearTerms at = angle_terms(square);
    EXPECT_NEAR(at.value, square / 2, 1e-8 * square);
    EXPECT_NEAR(at.slope, 1 + square / 6, 1e-15);
    EXPECT_NEAR(at.curvature, 1.0 / 3 + 2 * square / 15, 1e-15);
  }
  const ShearTerms reversed = angle_terms(4);
  EXPECT_NEAR(reversed.value, std::numbers::pi * std::numbers::pi / 2, 1e-13);
  EXPECT_TRUE(std::isfinite(reversed.slope) && std::isfinite(reversed.curvature));
}

/// A bond that resists shear alone, whose centre line is turned by theta from its rest direction.
TEST(ShearEnergy, OfTheAngleHasItsDerivativesAtAnyAngle) {
  for (const double theta : {1e-9, 1e-8, 1e-6, 1e-4, 1e-2, 0.09, 0.11, 0.5, 1.0, 1.6, 2.0}) {
    DeformedBond bond(4, 0.0);
    const double k = 1.3, L = 1.1;
    bond.stiffness = {0, k, 0, 0, ShearEnergy::angle};
    const Eigen::Matrix3d R = geometry::rotation_matrix(bond.i.q);
    const Vector3d D = R * bond.shape.frame.row(0).transpose(),
                   aside = R * bond.shape.frame.row(1).transpose(),
                   off_plane = R * bond.shape.frame.row(2).transpose();
    bond.j.p = bond.i.p + L * (std::cos(theta) * D + std::sin(theta) * aside);
    EXPECT_NEAR(bond.energy() / (k * theta * theta / 2), 1, 1e-6) << theta;
    EXPECT_NEAR(bond_forces(bond.shape, bond.stiffness, bond.i, bond.j).shear / (k * theta / L), 1, 1e-6)
        << theta;

    const BondDerivatives at = bond_derivatives(bond.shape, bond.stiffness, bond.i, bond.j);
    const Vector3d along = std::cos(theta) * aside - std::sin(theta) * D;
    const auto by_end = at.hessian.block<3, 3>(7, 7);
    EXPECT_NEAR(at.gradient.segment<3>(7).dot(along) / (k * theta / L), 1, 1e-6) << theta;
    EXPECT_NEAR(along.dot(by_end * along) / (k / (L * L)), 1, 1e-6) << theta;
    EXPECT_NEAR(off_plane.dot(by_end * off_plane), k / (L * L) * theta / std::tan(theta), 1e-6 * k) << theta;

    BondVector d;
    Random random(17);
    for (double& entry : d) entry = random.number();
    const double h = 1e-4;
    std::array<DeformedBond, 4> to{bond, bond, bond, bond};
    const std::array shares{h, -h, 2 * h, -2 * h};
    std::array<BondVector, 4> g;
    for (int s = 0; s < 4; ++s) g[s] = moved(bond, to[s], d, shares[s]);
    const double slope =
        (8 * (to[0].energy() - to[1].energy()) - (to[2].energy() - to[3].energy())) / (12 * h);
    const BondVector change = (8 * (g[0] - g[1]) - (g[2] - g[3])) / (12 * h);
    EXPECT_NEAR(slope, at.gradient.dot(d), 1e-6 * at.gradient.norm() * d.norm()) << theta;
    EXPECT_LT((change - at.hessian * d).norm(), 1e-6 * at.hessian.norm()) << theta;
  }
}

TEST(Bond, HasTheStiffnessOfItsForm) {
  const BondStiffness plain = bond_stiffness(7, 3, 0.2, 0.8),
                      other = bond_stiffness(7, 3, 0.2, 0.8, forms[1]);
  EXPECT_EQ(other.stretch, plain.stretch);
  EXPECT_DOUBLE_EQ(other.shear, 0.9 * plain.shear);
  EXPECT_DOUBLE_EQ(other.twist, plain.twist / 4);
  EXPECT_DOUBLE_EQ(other.bend, plain.bend / 4);
  const BondStiffness doubled = 2 * other;
  EXPECT_EQ(doubled.bend, 2 * other.bend);
  EXPECT_EQ(doubled.shear_energy, ShearEnergy::angle);
}

/// Both ends turn by half of an angle about an axis of the bond, against each other, or move along it.
TEST(Bond, ResistsAsABeamOfItsCrossSection) {
  const double E = 7, G = 3, r = 0.2, l = 0.8, pi = std::numbers::pi, small = 1e-4;
  const double S = pi * r * r, I = pi * std::pow(r, 4) / 4;
  const BondShape shape = bond_shape({0, 0, 0}, {0, l, 0});
  const BondStiffness stiffness = bond_stiffness(E, G, r, l);
  const auto energy = [&](const Vector3d& turn, const Vector3d& shift) {
    const Particle i{{0, 0, 0}, geometry::quaternion_exponential(-turn / 2)},
        j{Vector3d(0, l, 0) + shift, geometry::quaternion_exponential(turn / 2)};
    return bond_energy(shape, stiffness, i, j);
  };
  const double square = small * small;
  const Vector3d zero = Vector3d::Zero();
  EXPECT_NEAR(energy(small * Vector3d::UnitY(), zero) / (0.5 * 2 * G * I / l * square), 1, 1e-7);
  EXPECT_NEAR(energy(small * Vector3d::UnitX(), zero) / (0.5 * E * I / l * square), 1, 1e-7);
  EXPECT_NEAR(energy(small * Vector3d(0.6, 0, 0.8), zero) / (0.5 * E * I / l * square), 1, 1e-7);
  EXPECT_NEAR(energy(zero, small * Vector3d::UnitY()) / (0.5 * E * S / l * square), 1, 1e-7);
  EXPECT_NEAR(energy(zero, small * Vector3d::UnitX()) / (0.5 * G * S / l * square), 1, 1e-7);
  const Particle i{{0, 0, 0}, geometry::identity_quaternion()},
      j{{small, l, 0}, geometry::identity_quaternion()};
  EXPECT_NEAR(bond_forces(shape, stiffness, i, j).shear / (G * S * small / l), 1, 1e-7);
  const Particle pressed{{0, l - small, 0}, geometry::identity_quaternion()};
  EXPECT_NEAR(bond_forces(shape, stiffness, i, pressed).normal / (-E * S * small / l), 1, 1e-10);
  const Particle bent{{0, l, 0}, geometry::quaternion_exponential(small * Vector3d(1, 2, 2))};
  EXPECT_NEAR(bond_forces(shape, stiffness, i, bent).twist / (2 * small * 2 * G * I / l), 1, 1e-6);
  EXPECT_NEAR(bond_forces(shape, stiffness, i, bent).bending / (std::sqrt(5.0) * small * E * I / l), 1, 1e-6);
}

} // namespace
} // namespace recoil::potentials
