#include "recoil/potentials/laws/follower_pressure.hpp"

#include <array>
#include <functional>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "support/finite_difference.hpp"

using namespace recoil::potentials;
using namespace recoil::testing;

namespace {

template <int dim>
using Corners = typename ConeVolume<dim>::Corners;

template <int dim>
void check_derivatives() {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Corners<dim> x = Corners<dim>::Random();
    const auto unpack = [](const Eigen::VectorXd& flat) {
      return Corners<dim>(flat.reshaped<Eigen::RowMajor>(dim, dim));
    };
    const Eigen::VectorXd flat = x.template reshaped<Eigen::RowMajor>();
    const Eigen::VectorXd g = ConeVolume<dim>::gradient(x).template reshaped<Eigen::RowMajor>();
    const Eigen::MatrixXd H = ConeVolume<dim>::hessian(x);
    EXPECT_GT(g.norm(), 1e-3);
    EXPECT_GT(H.norm(), 1e-3);
    EXPECT_EQ(H, H.transpose());
    // Opaque functions: gcc 12 sees out-of-bounds reads in Eigen when it inlines all of this.
    const std::function<double(const Eigen::VectorXd&)> value = [&](const Eigen::VectorXd& y) {
      return ConeVolume<dim>::value(unpack(y));
    };
    const std::function<Eigen::VectorXd(const Eigen::VectorXd&)> gradient = [&](const Eigen::VectorXd& y) {
      return Eigen::VectorXd(ConeVolume<dim>::gradient(unpack(y)).template reshaped<Eigen::RowMajor>());
    };
    EXPECT_LT(gradient_error(value, flat, g), 1e-9);
    EXPECT_LT(jacobian_error(gradient, flat, H), 1e-9);
  }
}

} // namespace

TEST(FollowerPressure, DerivativesAgreeWithFiniteDifferences) {
  check_derivatives<2>();
  check_derivatives<3>();
}

TEST(FollowerPressure, ConesOfAClosedSurfaceSumToItsVolumeAndToThePressureForces) {
  // A random tetrahedron far from the origin, outward faces; its nodal forces are those of p n A / 3 per
  // corner.
  Eigen::Matrix<double, 4, 3> x = Eigen::Matrix<double, 4, 3>::Random();
  x.rowwise() += Eigen::RowVector3d(3.0, -2.0, 5.0);
  Eigen::Matrix3d edges;
  for (int i = 0; i < 3; ++i) edges.col(i) = (x.row(i + 1) - x.row(0)).transpose();
  if (edges.determinant() < 0.0) x.row(2).swap(x.row(3));
  const std::array<std::array<int, 3>, 4> faces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
  double volume = 0.0;
  Eigen::Matrix<double, 4, 3> gradient = Eigen::Matrix<double, 4, 3>::Zero(), force = gradient;
  for (const auto& face : faces) {
    Corners<3> corners;
    for (int a = 0; a < 3; ++a) corners.row(a) = x.row(face[static_cast<std::size_t>(a)]);
    volume += ConeVolume<3>::value(corners);
    const Corners<3> g = ConeVolume<3>::gradient(corners);
    const Eigen::RowVector3d normal =
        (corners.row(1) - corners.row(0)).cross(corners.row(2) - corners.row(0)) / 6.0;
    for (int a = 0; a < 3; ++a) {
      gradient.row(face[static_cast<std::size_t>(a)]) += g.row(a);
      force.row(face[static_cast<std::size_t>(a)]) += normal;
    }
  }
  EXPECT_NEAR(volume, std::abs(edges.determinant()) / 6.0, 1e-13);
  EXPECT_GT(force.norm(), 1e-2);
  EXPECT_LT((gradient - force).norm(), 1e-13);
}

TEST(FollowerPressure, InnerVerticesOfAnOpenCurveFeelTheNormalForce) {
  Eigen::Matrix<double, 3, 2> x;
  x << 3.0, 1.0, 2.5, 2.0, 1.0, 2.2; // counter-clockwise about the origin: normals point outwards
  Eigen::RowVector2d middle = Eigen::RowVector2d::Zero(), force = middle;
  for (int f = 0; f < 2; ++f) {
    const Corners<2> corners = x.middleRows<2>(f);
    middle += ConeVolume<2>::gradient(corners).row(1 - f);
    const Eigen::RowVector2d edge = x.row(f + 1) - x.row(f);
    force += 0.5 * Eigen::RowVector2d(edge[1], -edge[0]);
  }
  EXPECT_LT((middle - force).norm(), 1e-15);
  EXPECT_GT(middle[0], 0.0);
  EXPECT_GT(ConeVolume<2>::value(x.topRows<2>()), 0.0);
}
