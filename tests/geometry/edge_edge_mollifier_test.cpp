#include "recoil/geometry/edge_edge_mollifier.hpp"

#include <cmath>
#include <random>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

using namespace recoil::geometry;

namespace {

using Points = StencilPoints<3>;

Points random_points(std::mt19937& generator) {
  std::normal_distribution<double> normal;
  Points z;
  for (auto& x : z.reshaped()) x = normal(generator);
  return z;
}

/// Edges of random lengths at an angle whose square is about `sine_squared`.
Points nearly_parallel(std::mt19937& generator, double sine_squared) {
  Points z = random_points(generator);
  const Eigen::Vector3d u = z.col(1) - z.col(0), v = z.col(3) - z.col(2);
  const double sine = std::sqrt(sine_squared);
  z.col(3) = z.col(2) - v.norm() * (u.normalized() + sine * u.cross(v).normalized());
  return z;
}

/// Fourth-order central difference of f along the coordinate i.
template <class Function>
auto difference(const Function& f, const Points& z, int i, double h) {
  const auto at = [&](double shift) {
    Points moved = z;
    moved.reshaped()[i] += shift;
    return f(moved);
  };
  using Value = decltype(f(z));
  const Value value = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
  return value;
}

/// dm/dz = m' dx/dz.
StencilVector<3> mollifier_gradient(const StencilPoints<3>& points, double eps) {
  const MollifierScalars m = edge_edge_mollifier_scalars(edge_cross_squared(points), eps);
  if (!m.is_mollified) return StencilVector<3>::Zero();
  return m.first * edge_cross_squared_gradient(points);
}

/// d2m/dz2 = m'' dx/dz (dx/dz)^T + m' d2x/dz2.
StencilMatrix<3> mollifier_hessian(const StencilPoints<3>& points, double eps) {
  const MollifierScalars m = edge_edge_mollifier_scalars(edge_cross_squared(points), eps);
  if (!m.is_mollified) return StencilMatrix<3>::Zero();
  const StencilVector<3> gradient = edge_cross_squared_gradient(points);
  StencilMatrix<3> hessian = m.first * edge_cross_squared_hessian(points);
  // Entry by entry, so that the result is symmetric to the last bit.
  for (int j = 0; j < 12; ++j)
    for (int i = 0; i < 12; ++i) hessian(i, j) += m.second * (gradient[i] * gradient[j]);
  return hessian;
}

void check_derivatives(const Points& z, double eps) {
  const StencilVector<3> gradient = mollifier_gradient(z, eps);
  const StencilMatrix<3> hessian = mollifier_hessian(z, eps);
  EXPECT_EQ((hessian - hessian.transpose()).cwiseAbs().maxCoeff(), 0.0);
  for (int i = 0; i < 12; ++i) {
    const double slope =
        difference([&](const Points& p) { return edge_edge_mollifier(p, eps).value; }, z, i, 1e-4);
    EXPECT_NEAR(gradient[i], slope, 1e-8 * (1.0 + gradient.norm()));
    const StencilVector<3> column =
        difference([&](const Points& p) { return mollifier_gradient(p, eps); }, z, i, 1e-4);
    EXPECT_LT((hessian.col(i) - column).norm(), 1e-8 * hessian.norm());
  }
}

} // namespace

TEST(EdgeEdgeMollifier, DerivativesAgreeWithDifferences) {
  std::mt19937 generator(1);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Points z = nearly_parallel(generator, 1e-3 * std::uniform_real_distribution(0.2, 0.8)(generator));
    const double eps = edge_edge_mollifier_eps(z);
    ASSERT_TRUE(edge_edge_mollifier(z, eps).is_mollified);
    check_derivatives(z, eps);
  }
}

// The quadratic form of x itself, also where the mollifier is far from active.
TEST(EdgeEdgeMollifier, CrossProductDerivativesAgreeWithDifferences) {
  std::mt19937 generator(2);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Points z = random_points(generator);
    const StencilVector<3> gradient = edge_cross_squared_gradient(z);
    const StencilMatrix<3> hessian = edge_cross_squared_hessian(z);
    for (int i = 0; i < 12; ++i) {
      EXPECT_NEAR(gradient[i], difference(edge_cross_squared, z, i, 1e-3), 1e-9 * (1.0 + gradient.norm()));
      EXPECT_LT((hessian.col(i) - difference(edge_cross_squared_gradient, z, i, 1e-3)).norm(),
                1e-9 * hessian.norm());
    }
  }
}

TEST(EdgeEdgeMollifier, DerivativesByRestShapeAgreeWithDifferences) {
  std::mt19937 generator(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Points rest = random_points(generator);
    const double eps = edge_edge_mollifier_eps(rest),
                 x = eps * std::uniform_real_distribution(0.05, 0.9)(generator);
    const StencilVector<3> gradient = edge_edge_mollifier_eps_gradient(rest);
    for (int i = 0; i < 12; ++i)
      EXPECT_NEAR(gradient[i], difference(edge_edge_mollifier_eps, rest, i, 1e-3), 1e-9 * gradient.norm());
    const double h = 1e-5 * eps;
    const MollifierScalars m = edge_edge_mollifier_scalars(x, eps);
    const MollifierScalars up = edge_edge_mollifier_scalars(x, eps + h),
                           down = edge_edge_mollifier_scalars(x, eps - h);
    EXPECT_NEAR(m.value_by_eps * eps, (up.value - down.value) / (2.0 * h) * eps, 1e-8);
    EXPECT_NEAR(m.first_by_eps * eps * eps, (up.first - down.first) / (2.0 * h) * eps * eps, 1e-8);
    const MollifierScalars right = edge_edge_mollifier_scalars(x + h, eps),
                           left = edge_edge_mollifier_scalars(x - h, eps);
    EXPECT_NEAR(m.first * eps, (right.value - left.value) / (2.0 * h) * eps, 1e-8);
    EXPECT_NEAR(m.second * eps * eps, (right.first - left.first) / (2.0 * h) * eps * eps, 1e-8);
  }
}

TEST(EdgeEdgeMollifier, RunsFromZeroToOne) {
  std::mt19937 generator(4);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    const Points z = nearly_parallel(generator, 2e-3 * repeat / 1000.0);
    const double eps = edge_edge_mollifier_eps(z), x = edge_cross_squared(z);
    const MollifierValue m = edge_edge_mollifier(z, eps);
    EXPECT_EQ(m.is_mollified, x < eps);
    EXPECT_GE(m.value, 0.0);
    EXPECT_LE(m.value, 1.0);
    EXPECT_EQ(m.value, edge_edge_mollifier_scalars(x, eps).value);
  }
  Points parallel;
  parallel << 0, 1, 0, 2, 0, 0, 1, 1, 0, 0, 0, 0;
  EXPECT_EQ(edge_edge_mollifier(parallel, edge_edge_mollifier_eps(parallel)).value, 0.0);
  // C^1 at the end of its range, and off for perpendicular edges.
  const MollifierScalars end = edge_edge_mollifier_scalars(std::nextafter(1.0, 0.0), 1.0);
  EXPECT_NEAR(end.value, 1.0, 1e-15);
  EXPECT_NEAR(end.first, 0.0, 1e-15);
  const MollifierScalars off = edge_edge_mollifier_scalars(2.0, 1.0);
  EXPECT_EQ(off.value, 1.0);
  EXPECT_EQ(off.first, 0.0);
  EXPECT_EQ(off.value_by_eps, 0.0);
  EXPECT_EQ(edge_edge_mollifier_scalars(0.0, 0.0).value, 1.0);
}
