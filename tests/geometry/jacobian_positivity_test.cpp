#include "recoil/geometry/inversion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

using recoil::geometry::JacobianPositivity;
using recoil::geometry::SimplexLattice;

namespace {

template <int dim>
using Positions = Eigen::Matrix<double, Eigen::Dynamic, dim, Eigen::RowMajor>;

template <int dim>
Positions<dim> reference_nodes(const SimplexLattice<dim>& lattice) {
  Positions<dim> nodes(lattice.size(), dim);
  for (int a = 0; a < lattice.size(); ++a)
    for (int i = 0; i < dim; ++i)
      nodes(a, i) =
          static_cast<double>(lattice.multi_index(a)[static_cast<std::size_t>(i + 1)]) / lattice.order();
  return nodes;
}

// Reference gradients of all Lagrange polynomials at many points, by differentiating each product of linear
// factors.
template <int dim>
struct Sampler {
  explicit Sampler(const SimplexLattice<dim>& lattice, int resolution) {
    // Every composition of the resolution into dim + 1 parts.
    std::vector<std::array<double, dim + 1>> points;
    std::array<int, dim + 1> part{};
    auto extend = [&](auto&& self, std::size_t position, int left) -> void {
      if (position == dim) {
        part[dim] = left;
        std::array<double, dim + 1> lambda;
        for (std::size_t i = 0; i <= dim; ++i) lambda[i] = static_cast<double>(part[i]) / resolution;
        points.push_back(lambda);
        return;
      }
      for (int p = 0; p <= left; ++p) {
        part[position] = p;
        self(self, position + 1, left - p);
      }
    };
    extend(extend, 0, resolution);
    const int k = lattice.order();
    for (const auto& lambda : points) {
      Positions<dim> gradient = Positions<dim>::Zero(lattice.size(), dim);
      for (int a = 0; a < lattice.size(); ++a)
        for (std::size_t v = 0; v <= dim; ++v)
          for (int skipped = 0; skipped < lattice.multi_index(a)[v]; ++skipped) {
            double product = static_cast<double>(k) / (skipped + 1);
            for (std::size_t w = 0; w <= dim; ++w)
              for (int s = 0; s < lattice.multi_index(a)[w]; ++s)
                if (w != v || s != skipped) product *= (k * lambda[w] - s) / (s + 1);
            for (std::size_t j = 0; j < dim; ++j)
              gradient(a, static_cast<Eigen::Index>(j)) +=
                  (v == j + 1 ? product : 0.0) - (v == 0 ? product : 0.0);
          }
      gradients.push_back(gradient);
    }
  }

  double smallest(const Positions<dim>& x) const {
    double value = std::numeric_limits<double>::infinity();
    for (const auto& gradient : gradients)
      value = std::min(value, Eigen::Matrix<double, dim, dim>(x.transpose() * gradient).determinant());
    return value;
  }

  std::vector<Positions<dim>> gradients;
};

template <int dim>
void check_random_elements(int order, int repeats) {
  const SimplexLattice<dim> lattice(order);
  const JacobianPositivity<dim> positivity(order);
  const Sampler<dim> sampler(lattice, dim == 2 ? 30 : 12);
  const Positions<dim> reference = reference_nodes(lattice);
  std::mt19937 generator(static_cast<unsigned>(17 * order + dim));
  std::normal_distribution<double> normal;
  int positive = 0, negative = 0, undecided = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Positions<dim> x = reference;
    const double amplitude = (0.1 + 0.9 * (repeat % 11) / 10.0) / (order * order);
    for (auto& value : x.reshaped()) value += amplitude * normal(generator);
    // Any affine image with a fresh orientation: also sheared, flat and far from the origin.
    Eigen::Matrix<double, dim, dim> map;
    for (auto& value : map.reshaped()) value = normal(generator);
    const double det = map.determinant(), rest_sign = repeat % 2 ? 1.0 : -1.0;
    const double smallest = sampler.smallest(x);
    if (det * rest_sign < 0.0) map.row(0) *= -1.0;
    x = ((x * map.transpose()).rowwise() + Eigen::Matrix<double, 1, dim>::Constant(100.0)).eval();
    const bool proven = positivity.is_positive(x.data(), rest_sign);
    if (proven) {
      ++positive;
      ASSERT_GT(smallest, 0.0) << order << " " << repeat;
    } else if (smallest > 0.0) {
      // The determinant of the undeformed element is 1.
      EXPECT_LT(smallest, 0.02) << order << " " << repeat;
      ++undecided;
    } else {
      ++negative;
    }
    // The mirror image is inverted.
    EXPECT_FALSE(positivity.is_positive(x.data(), -rest_sign) && proven);
  }
  EXPECT_GT(positive, repeats / 10);
  EXPECT_GT(negative, repeats / 10);
  EXPECT_LT(undecided, repeats / 20);
}

} // namespace

TEST(JacobianPositivity, AgreesWithDenseSamplingOnTriangles) {
  for (int order = 2; order <= 4; ++order) check_random_elements<2>(order, 600);
}

TEST(JacobianPositivity, AgreesWithDenseSamplingOnTetrahedra) {
  for (int order = 2; order <= 4; ++order) check_random_elements<3>(order, 200);
}

TEST(JacobianPositivity, LinearElementsHaveTheSignOfTheirDeterminant) {
  const JacobianPositivity<2> positivity(1);
  const double x[] = {0, 0, 1, 0, 0, 1}, mirrored[] = {0, 0, 0, 1, 1, 0}, flat[] = {0, 0, 1, 1, 2, 2};
  EXPECT_TRUE(positivity.is_positive(x, 1.0));
  EXPECT_FALSE(positivity.is_positive(x, -1.0));
  EXPECT_TRUE(positivity.is_positive(mirrored, -0.5));
  EXPECT_FALSE(positivity.is_positive(flat, 1.0));
}

// x = (xi + c xi^2 - .., eta): the determinant is linear in xi and changes sign between nodes only at the far
// end.
TEST(JacobianPositivity, SeesInversionBetweenQuadraturePoints) {
  const SimplexLattice<2> lattice(2);
  const JacobianPositivity<2> positivity(2);
  for (const double c : {0.49, 0.51}) {
    Positions<2> x = reference_nodes(lattice);
    for (int a = 0; a < 6; ++a) x(a, 0) -= c * x(a, 0) * x(a, 0); // det = 1 - 2 c xi
    EXPECT_EQ(positivity.is_positive(x.data(), 1.0), c < 0.5) << c;
  }
}

// det = 1.01 - 4 xi (1 - xi) .. has its minimum 0.01 inside: provable only by subdivision.
TEST(JacobianPositivity, ProvesASmallInteriorMinimum) {
  for (const double lift : {0.01, -0.01}) {
    const SimplexLattice<2> lattice(3);
    const JacobianPositivity<2> positivity(3);
    Positions<2> x = reference_nodes(lattice);
    for (int a = 0; a < lattice.size(); ++a) {
      const double s = x(a, 0);
      x(a, 0) = (1.0 + lift) * s - 2.0 * s * s + 4.0 / 3.0 * s * s * s;
    }
    EXPECT_EQ(positivity.is_positive(x.data(), 1.0), lift > 0.0) << lift;
  }
}

TEST(JacobianPositivity, IsFalseForNonFiniteAndCollapsedElements) {
  const SimplexLattice<3> lattice(4);
  const JacobianPositivity<3> positivity(4);
  Positions<3> x = reference_nodes(lattice);
  EXPECT_TRUE(positivity.is_positive(x.data(), 1.0));
  Positions<3> damaged = x;
  damaged(30, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(positivity.is_positive(damaged.data(), 1.0));
  damaged(30, 1) = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(positivity.is_positive(damaged.data(), 1.0));
  EXPECT_FALSE(positivity.is_positive(Positions<3>(0.0 * x).data(), 1.0));
  x.col(2).setZero();
  EXPECT_FALSE(positivity.is_positive(x.data(), 1.0));
  EXPECT_THROW(JacobianPositivity<2>(0), recoil::InputError);
  EXPECT_THROW(JacobianPositivity<2>(5), recoil::InputError);
}
