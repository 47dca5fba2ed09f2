#include "recoil/geometry/closest_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "geometry/distance_oracle.hpp"

using namespace recoil::geometry;

namespace {

using Generator = std::mt19937_64;

double uniform(Generator& generator, double low, double high) {
  return std::uniform_real_distribution(low, high)(generator);
}

template <int dim>
StencilPoints<dim> random_points(Generator& generator) {
  std::normal_distribution<double> normal;
  StencilPoints<dim> z;
  for (auto& x : z.reshaped()) x = normal(generator);
  return z;
}

template <int dim>
StencilPoints<dim> grid_points(Generator& generator) {
  StencilPoints<dim> z;
  for (auto& x : z.reshaped()) x = static_cast<double>(generator() % 3) - 1.0;
  return z;
}

/// Parallel, collinear, coplanar, duplicate, needle-shaped, almost touching and far from the origin, exactly
/// or up to a perturbation of any size.
template <int dim>
StencilPoints<dim> degenerate_points(Generator& generator) {
  const auto factor = [&] { return uniform(generator, -1.5, 1.5); };
  StencilPoints<dim> z = generator() & 1 ? random_points<dim>(generator) : grid_points<dim>(generator);
  switch (generator() % 6) {
  case 0:
    z.col(3) = z.col(2) + factor() * (z.col(1) - z.col(0));
    break; // parallel edges
  case 1:
    z.col(generator() % 4) = z.col(generator() % 4);
    break; // duplicate
  case 2:
    z.col(3) = z.col(1) + factor() * (z.col(2) - z.col(1));
    break; // needle
  case 3:
    z.col(0) = z.col(1) + factor() * (z.col(2) - z.col(1));
    break; // on an edge's line
  case 4:
    z.col(0) = z.col(1) + factor() * (z.col(2) - z.col(1)) + factor() * (z.col(3) - z.col(1));
    break;
  default:
    break;
  }
  if (generator() & 1) z += std::pow(10.0, uniform(generator, -18.0, -2.0)) * random_points<dim>(generator);
  if (generator() % 4 == 0) z.array() += 1000.0;
  if (generator() % 8 == 0) z *= std::pow(10.0, uniform(generator, -12.0, 12.0));
  return z;
}

template <int dim>
double extent(StencilKind kind, const StencilPoints<dim>& z) {
  double result = 0.0;
  for (int i = 0; i < num_points(kind); ++i) result = std::max(result, (z.col(i) - z.col(0)).norm());
  return result;
}

template <int dim>
void check_against_oracle(StencilKind kind, const StencilPoints<dim>& z, double& worst) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const recoil::test::DistanceOracle<recoil::test::Quad, dim> oracle(kind);
  const double exact = static_cast<double>(oracle.distance(oracle.convert(z, num_points(kind))));
  const ClosestPoints<dim> closest = closest_points<dim>(kind, z);
  ASSERT_TRUE(std::isfinite(closest.distance_squared));
  ASSERT_EQ(distance_squared<dim>(kind, z), closest.distance_squared);
  ASSERT_NEAR(closest.separation.squaredNorm(), closest.distance_squared,
              4.0 * epsilon * closest.distance_squared);

  // Actual points of the primitives.
  const int first = num_first_points(kind);
  ASSERT_NEAR(closest.weights.head(first).sum(), 1.0, 4.0 * epsilon);
  ASSERT_NEAR(closest.weights.tail(4 - first).sum(), -1.0, 4.0 * epsilon);
  ASSERT_GE(closest.weights.head(first).minCoeff(), -epsilon);
  ASSERT_LE(closest.weights.tail(4 - first).maxCoeff(), epsilon);
  const double size = extent<dim>(kind, z);
  Eigen::Matrix<double, dim, 1> c = Eigen::Matrix<double, dim, 1>::Zero();
  for (int i = 1; i < num_points(kind); ++i) c += closest.weights[i] * (z.col(i) - z.col(0));
  ASSERT_LE((c - closest.separation).norm(), 8.0 * epsilon * size);

  const double error =
      size > 0.0 ? std::abs(std::sqrt(closest.distance_squared) - exact) / (epsilon * size) : 0.0;
  worst = std::max(worst, error);
  ASSERT_LE(error, 8.0) << "kind " << int(kind) << " exact " << exact << " got "
                        << std::sqrt(closest.distance_squared) << "\n"
                        << z;
}

template <int dim>
std::vector<StencilKind> kinds() {
  if (dim == 2) return {StencilKind::vertex_vertex, StencilKind::vertex_edge};
  return {StencilKind::vertex_vertex, StencilKind::vertex_edge, StencilKind::vertex_face,
          StencilKind::edge_edge};
}

template <int dim>
void compare_with_oracle(int count) {
  Generator generator(11);
  double worst = 0.0;
  for (StencilKind kind : kinds<dim>())
    for (int repeat = 0; repeat < count; ++repeat) {
      check_against_oracle<dim>(kind, random_points<dim>(generator), worst);
      check_against_oracle<dim>(kind, degenerate_points<dim>(generator), worst);
      if (::testing::Test::HasFatalFailure()) return;
    }
  ::testing::Test::RecordProperty("worst_error_in_eps_of_extent", std::to_string(worst));
  std::printf("worst error of the distance: %.2f eps of the extent\n", worst);
}

/// Which vertices carry the closest points: names a sub-case.
template <int dim>
int sub_case(const ClosestPoints<dim>& closest) {
  int mask = 0;
  for (int i = 0; i < 4; ++i) mask |= (closest.weights[i] != 0.0) << i;
  return mask;
}

constexpr double step = 1e-4;

template <int dim>
StencilPoints<dim> moved(const StencilPoints<dim>& z, int i, double by) {
  StencilPoints<dim> result = z;
  result.reshaped()[i] += by;
  return result;
}

/// Fourth-order central difference.
template <int dim, class Function>
auto difference(const Function& f, const StencilPoints<dim>& z, int i) {
  using Value = decltype(f(z));
  const Value value = (8.0 * (f(moved<dim>(z, i, step)) - f(moved<dim>(z, i, -step))) -
                       (f(moved<dim>(z, i, 2.0 * step)) - f(moved<dim>(z, i, -2.0 * step)))) /
                      (12.0 * step);
  return value;
}

/// Keeps away from the borders between sub-cases, where Hessians jump, and from singular configurations.
template <int dim>
bool is_generic(StencilKind kind, const StencilPoints<dim>& z) {
  const auto closest = closest_points<dim>(kind, z);
  if (closest.distance_squared < 1e-2) return false;
  for (int i = 0; i < 4; ++i)
    if (closest.weights[i] != 0.0 && std::abs(closest.weights[i]) < 0.02) return false;
  if constexpr (dim == 3) {
    if (closest.num_free == 2) {
      const Eigen::Matrix<double, 3, 2> C = z * closest.tangents;
      if (C.col(0).cross(C.col(1)).norm() < 0.2) return false;
    }
  }
  for (int i = 0; i < dim * num_points(kind); ++i)
    for (double by : {-2.0 * step, 2.0 * step})
      if (sub_case<dim>(closest_points<dim>(kind, moved<dim>(z, i, by))) != sub_case<dim>(closest))
        return false;
  return true;
}

template <int dim>
void check_derivatives(StencilKind kind, const StencilPoints<dim>& z) {
  const auto closest = closest_points<dim>(kind, z);
  const auto gradient = distance_squared_gradient<dim>(closest);
  const auto hessian = distance_squared_hessian<dim>(closest, z);
  const auto sliding = closest_parameter_derivatives<dim>(closest, z);
  ASSERT_EQ((hessian - hessian.transpose()).cwiseAbs().maxCoeff(), 0.0);
  for (int i = 0; i < 4 * dim; ++i) {
    const bool used = i < dim * num_points(kind);
    const double slope =
        used ? difference<dim>([&](const auto& p) { return distance_squared<dim>(kind, p); }, z, i) : 0.0;
    ASSERT_NEAR(gradient[i], slope, 1e-8 * (1.0 + gradient.norm()));
    const auto column = difference<dim>(
        [&](const auto& p) { return distance_squared_gradient<dim>(closest_points<dim>(kind, p)); }, z, i);
    ASSERT_LT((hessian.col(i) - column).norm(), 1e-7 * hessian.norm());
    const Eigen::Vector4d weights =
        difference<dim>([&](const auto& p) { return closest_points<dim>(kind, p).weights; }, z, i);
    ASSERT_LT((closest.tangents * sliding.col(i) - weights).norm(), 1e-7 * (1.0 + sliding.norm()));
  }
}

template <int dim>
void check_all_sub_cases(StencilKind kind, std::size_t num_sub_cases) {
  Generator generator(12);
  std::map<int, int> seen;
  for (int repeat = 0; repeat < 6000; ++repeat) {
    const StencilPoints<dim> z = random_points<dim>(generator);
    if (!is_generic<dim>(kind, z)) continue;
    if (++seen[sub_case<dim>(closest_points<dim>(kind, z))] > 100) continue;
    check_derivatives<dim>(kind, z);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(seen.size(), num_sub_cases);
  for (const auto& [mask, count] : seen) EXPECT_GE(count, 30) << "sub-case " << mask;
}

/// Force and torque of the gradient vanish, rigid modes with constant velocity are null vectors of the
/// Hessian.
template <int dim>
void check_rigid_motion(StencilKind kind) {
  Generator generator(13);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const StencilPoints<dim> z = random_points<dim>(generator);
    const auto closest = closest_points<dim>(kind, z);
    const auto gradient = distance_squared_gradient<dim>(closest);
    const auto hessian = distance_squared_hessian<dim>(closest, z);
    const StencilPoints<dim> forces = gradient.reshaped(dim, 4);
    ASSERT_LT(forces.rowwise().sum().norm(), 1e-13 * (1.0 + gradient.norm()));
    const Eigen::Matrix<double, dim, dim> moment = forces * z.transpose();
    ASSERT_LT((moment - moment.transpose()).norm(), 1e-13 * (1.0 + z.norm()) * (1.0 + gradient.norm()));
    const StencilVector<dim> shift = random_points<dim>(generator).col(0).eval().template replicate<4, 1>();
    ASSERT_LT((hessian * shift).norm(), 1e-12 * hessian.norm() * shift.norm());

    Eigen::Matrix<double, dim, dim> rotation;
    if constexpr (dim == 2)
      rotation = Eigen::Rotation2Dd(uniform(generator, -3.0, 3.0)).toRotationMatrix();
    else
      rotation = Eigen::Quaterniond::UnitRandom().toRotationMatrix();
    const StencilPoints<dim> turned = rotation * z;
    ASSERT_NEAR(distance_squared<dim>(kind, turned), closest.distance_squared, 1e-14 * z.squaredNorm());
  }
}

} // namespace

TEST(ClosestPoints, EqualTheOracleInThePlane) { compare_with_oracle<2>(20000); }
TEST(ClosestPoints, EqualTheOracleInSpace) { compare_with_oracle<3>(15000); }

TEST(ClosestPoints, DerivativesAgreeWithDifferencesInEverySubCase) {
  check_all_sub_cases<2>(StencilKind::vertex_vertex, 1);
  check_all_sub_cases<2>(StencilKind::vertex_edge, 3);
  check_all_sub_cases<3>(StencilKind::vertex_vertex, 1);
  check_all_sub_cases<3>(StencilKind::vertex_edge, 3);
  check_all_sub_cases<3>(StencilKind::vertex_face, 7);
  check_all_sub_cases<3>(StencilKind::edge_edge, 9);
}

TEST(ClosestPoints, RigidMotionChangesNothing) {
  for (StencilKind kind : kinds<2>()) check_rigid_motion<2>(kind);
  for (StencilKind kind : kinds<3>()) check_rigid_motion<3>(kind);
}

// Exchanging the edges, or the ends of an edge, is the same query.
TEST(ClosestPoints, OrderOfPointsChangesNothing) {
  Generator generator(14);
  for (int repeat = 0; repeat < 20000; ++repeat) {
    const StencilPoints<3> z = repeat % 2 ? degenerate_points<3>(generator) : random_points<3>(generator);
    const auto check = [&](StencilKind kind, const Eigen::Vector4i& order) {
      if (HasFatalFailure()) return;
      const double before = std::sqrt(distance_squared<3>(kind, z));
      const double after = std::sqrt(distance_squared<3>(kind, StencilPoints<3>(z(Eigen::all, order))));
      ASSERT_NEAR(before, after, 4e-15 * extent<3>(kind, z));
    };
    check(StencilKind::edge_edge, {2, 3, 0, 1});
    check(StencilKind::edge_edge, {1, 0, 2, 3});
    check(StencilKind::vertex_face, {0, 2, 3, 1});
    check(StencilKind::vertex_face, {0, 1, 3, 2});
  }
}

TEST(ClosestPoints, UnusedColumnsAreNotRead) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  StencilPoints<3> z;
  z << 0.3, 0, 1, nan, 2, 0, 0, nan, 0, 0, 0, nan;
  const auto closest = closest_points<3>(StencilKind::vertex_edge, z);
  EXPECT_DOUBLE_EQ(closest.distance_squared, 4.0);
  EXPECT_EQ(closest.weights, Eigen::Vector4d(1.0, -0.7, -0.3, 0.0));
  EXPECT_TRUE(distance_squared_hessian<3>(closest, z).allFinite());
  EXPECT_TRUE(closest_parameter_derivatives<3>(closest, z).allFinite());
}

// Derivatives of parallel edges are those of a vertex-edge or vertex-vertex pair: with the edge C, |Gamma|^2
// <= 2 and |B| <= sqrt(2) (|c| + |C|). Which of two equally near pairs it is depends on rounding, so C may be
// the shorter edge.
TEST(ClosestPoints, ParallelEdgesHaveFiniteDerivatives) {
  Generator generator(15);
  for (int repeat = 0; repeat < 5000; ++repeat) {
    StencilPoints<3> z = random_points<3>(generator);
    z.col(3) = z.col(2) + uniform(generator, -2.0, 2.0) * (z.col(1) - z.col(0));
    const auto closest = closest_points<3>(StencilKind::edge_edge, z);
    ASSERT_LE(closest.num_free, 1);
    const double edge = std::min((z.col(1) - z.col(0)).norm(), (z.col(3) - z.col(2)).norm());
    const double ratio = 1 + std::sqrt(closest.distance_squared) / edge;
    ASSERT_LT(distance_squared_hessian<3>(closest, z).norm(), 4 * (std::sqrt(3.0) + ratio * ratio));
  }
}
