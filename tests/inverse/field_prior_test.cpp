#include <cmath>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "inverse/strip_mesh.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/field_prior.hpp"

namespace recoil::inverse {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd covariance_of(const FieldPrior& prior) {
  const MatrixXd root = matrix_of(prior.size(), [&](const auto& y) { return prior.colour(y); });
  return root * root.transpose();
}

TEST(FieldPrior, HasTheMapsOfItsPrecision) {
  const FieldPrior prior(strip_mesh(2, {7, 4}), 0.8, 0.3);
  const std::size_t n = prior.size();
  const MatrixXd L = matrix_of(n, [&](const auto& x) { return prior.whiten(x); });
  const MatrixXd inverse = matrix_of(n, [&](const auto& y) { return prior.colour(y); });
  const double size = L.norm();
  EXPECT_LE((L * inverse - MatrixXd::Identity(n, n)).norm(), 1e-10);
  EXPECT_LE((matrix_of(n, [&](const auto& y) { return prior.whiten_transposed(y); }) - L.transpose()).norm(),
            1e-13 * size);
  EXPECT_LE(
      (matrix_of(n, [&](const auto& x) { return prior.colour_transposed(x); }) - inverse.transpose()).norm(),
      1e-12 * inverse.norm());
}

TEST(FieldPrior, HasTheDeviationAskedForEverywhere) {
  for (const ElementMesh& mesh : {strip_mesh(2, {9, 5}), strip_mesh(3, {4, 3, 2})}) {
    const FieldPrior prior(mesh, 1.5, 0.4);
    const MatrixXd covariance = covariance_of(prior);
    for (Index i = 0; i < covariance.rows(); ++i) EXPECT_NEAR(covariance(i, i), 0.16, 1e-12);
  }
}

/// Matern's covariances far from the boundary: kappa r K_1(kappa r) in 2D, exp(-kappa r) in 3D, where the
/// elements are a third as long as the correlations.
TEST(FieldPrior, HasTheCorrelationsOfAMaternField) {
  const double length = 2.4;
  const auto check = [&](int dim, const ElementMesh& mesh, double tolerance, auto matern) {
    const FieldPrior prior(mesh, length, 1);
    const std::size_t middle = element_nearest(mesh, std::vector<double>(dim, 0.0));
    std::vector<double> unit(prior.size(), 0.0);
    unit[middle] = 1;
    const std::vector<double> covariance = prior.colour(prior.colour_transposed(unit));
    int seen = 0;
    for (std::size_t other = 0; other < mesh.size(); ++other) {
      const double r = (centroid_of(mesh, other) - centroid_of(mesh, middle)).norm();
      if (r < 0.8 || r > 2.4) continue;
      ++seen;
      EXPECT_NEAR(covariance[other], matern(r), tolerance) << dim << "D, r = " << r;
    }
    EXPECT_GT(seen, 50);
  };
  check(2, strip_mesh(2, {24, 24}, 0.4), 0.035, [&](double r) {
    const double x = std::sqrt(8.0) / length * r;
    return x * std::cyl_bessel_k(1, x);
  });
  check(3, strip_mesh(3, {8, 8, 8}, 0.8), 0.13, [&](double r) { return std::exp(-2 / length * r); });
}

TEST(FieldPrior, RefusesAnElementWithoutVolume) {
  ElementMesh mesh = strip_mesh(2, {2, 2});
  mesh.cells[1] = mesh.cells[0];
  EXPECT_THROW(FieldPrior(mesh, 1, 1), InputError);
}

} // namespace
} // namespace recoil::inverse
