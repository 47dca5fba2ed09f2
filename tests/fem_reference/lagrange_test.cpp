#include "recoil/fem/reference/lagrange.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/fem/reference/tabulation.hpp"
#include "support/finite_difference.hpp"

using namespace recoil::fem;

namespace {

template <int dim>
using Point = Eigen::Matrix<double, dim, 1>;

template <int dim>
Point<dim> random_point(std::mt19937& generator) {
  std::exponential_distribution<double> exponential;
  Eigen::Matrix<double, dim + 1, 1> lambda;
  for (auto& value : lambda) value = exponential(generator);
  return (lambda / lambda.sum()).template tail<dim>();
}

template <int dim>
void check_basis(int order) {
  const LagrangeBasis<dim> basis(order);
  const auto nn = static_cast<std::size_t>(basis.num_nodes());
  ASSERT_EQ(basis.num_nodes(), num_lagrange_nodes(dim, order));
  std::vector<double> values(nn), gradients(nn * dim);
  for (int a = 0; a < basis.num_nodes(); ++a) {
    basis.values(basis.node(a), values);
    for (int b = 0; b < basis.num_nodes(); ++b)
      EXPECT_NEAR(values[static_cast<std::size_t>(b)], a == b ? 1.0 : 0.0, 1e-14);
  }
  // Reproduces every polynomial of its order, and its gradient: products of the coordinates' powers.
  std::mt19937 generator(5);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Point<dim> xi = random_point<dim>(generator);
    basis.values(xi, values);
    basis.gradients(xi, gradients);
    const auto evaluate = [&](const Eigen::VectorXd& x) {
      std::vector<double> v(nn);
      basis.values(x, v);
      return Eigen::VectorXd(Eigen::VectorXd::Map(v.data(), basis.num_nodes()));
    };
    const Eigen::MatrixXd D = Eigen::MatrixXd::Map(gradients.data(), dim, basis.num_nodes()).transpose();
    EXPECT_LT(recoil::testing::jacobian_error(evaluate, xi, D), 1e-9);
    for (int m = 0; m < basis.num_nodes(); ++m) {
      const auto monomial = [&](const Point<dim>& x) {
        double value = 1.0;
        for (int i = 0; i < dim; ++i)
          value *= std::pow(x[i], basis.multi_index(m)[static_cast<std::size_t>(i + 1)]);
        return value;
      };
      double sum = 0.0;
      for (int a = 0; a < basis.num_nodes(); ++a)
        sum += values[static_cast<std::size_t>(a)] * monomial(basis.node(a));
      EXPECT_NEAR(sum, monomial(xi), 1e-13);
    }
  }
}

template <int dim>
void check_facets(int order) {
  const LagrangeBasis<dim> cell(order);
  const LagrangeBasis<dim - 1> facet_basis(order);
  std::mt19937 generator(6);
  std::vector<double> on_cell(static_cast<std::size_t>(cell.num_nodes())),
      on_facet(static_cast<std::size_t>(facet_basis.num_nodes()));
  for (int f = 0; f <= dim; ++f) {
    const std::vector<int> nodes = cell.facet_nodes(f);
    ASSERT_EQ(nodes.size(), on_facet.size());
    const Point<dim - 1> eta = random_point<dim - 1>(generator);
    const Point<dim> xi = facet_to_cell<dim>(f, eta);
    cell.values(xi, on_cell);
    facet_basis.values(eta, on_facet);
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      EXPECT_NEAR(on_cell[static_cast<std::size_t>(nodes[j])], on_facet[j], 1e-14);
      EXPECT_LT((facet_to_cell<dim>(f, facet_basis.node(static_cast<int>(j))) - cell.node(nodes[j])).norm(),
                1e-15);
      on_cell[static_cast<std::size_t>(nodes[j])] = 0.0;
    }
    for (double rest : on_cell) EXPECT_NEAR(rest, 0.0, 1e-14);
  }
}

} // namespace

TEST(LagrangeBasis, IsNodalExactAndDifferentiated) {
  for (int order = 1; order <= 4; ++order) {
    check_basis<1>(order);
    check_basis<2>(order);
    check_basis<3>(order);
  }
}

TEST(LagrangeBasis, RestrictsToTheBasisOfItsFacets) {
  for (int order = 1; order <= 4; ++order) {
    check_facets<2>(order);
    check_facets<3>(order);
  }
}

TEST(LagrangeBasis, OutwardSignTurnsNormalsOutwards) {
  for (int f = 0; f < 3; ++f) {
    const auto v = facet_vertices<2>(f);
    const LagrangeBasis<2> basis(1);
    const Eigen::Vector2d edge = basis.node(v[1]) - basis.node(v[0]);
    const Eigen::Vector2d normal = outward_sign(f) * Eigen::Vector2d(edge[1], -edge[0]);
    EXPECT_GT(normal.dot(basis.node(v[0]) - basis.node(f)), 0.0);
  }
  for (int f = 0; f < 4; ++f) {
    const auto v = facet_vertices<3>(f);
    const LagrangeBasis<3> basis(1);
    const Eigen::Vector3d a = basis.node(v[1]) - basis.node(v[0]), b = basis.node(v[2]) - basis.node(v[0]);
    const Eigen::Vector3d normal =
        outward_sign(f) *
        Eigen::Vector3d(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
    EXPECT_GT(normal.dot(basis.node(v[0]) - basis.node(f)), 0.0);
  }
}

TEST(LagrangeBasis, RefusesOtherOrders) {
  EXPECT_THROW(LagrangeBasis<2>(0), recoil::InputError);
  EXPECT_THROW(LagrangeBasis<3>(5), recoil::InputError);
}

TEST(Tabulation, HoldsValuesGradientsAndWeights) {
  const LagrangeBasis<3> basis(3);
  const auto rule = simplex_quadrature<3>(4);
  const Tabulation<3> table = tabulate(basis, rule);
  ASSERT_EQ(table.num_points, rule.size());
  ASSERT_EQ(table.num_nodes, 20);
  std::vector<double> values(20), gradients(60);
  for (int q = 0; q < table.num_points; ++q) {
    basis.values(rule.points[static_cast<std::size_t>(q)], values);
    basis.gradients(rule.points[static_cast<std::size_t>(q)], gradients);
    for (int a = 0; a < 20; ++a) EXPECT_EQ(table.value(q)[a], values[static_cast<std::size_t>(a)]);
    for (int i = 0; i < 60; ++i) EXPECT_EQ(table.gradient(q)[i], gradients[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(table.weights, rule.weights);
}

// Divergence theorem on the reference cell: int d phi_a/d xi_j = sum over facets of int phi_a n_j.
TEST(Tabulation, FacetAndCellIntegralsSatisfyTheDivergenceTheorem) {
  for (int order = 1; order <= 4; ++order) {
    const LagrangeBasis<3> basis(order);
    const Tabulation<3> cell = tabulate(basis, simplex_quadrature<3>(order));
    std::vector<Eigen::Vector3d> balance(static_cast<std::size_t>(basis.num_nodes()),
                                         Eigen::Vector3d::Zero());
    for (int q = 0; q < cell.num_points; ++q)
      for (int a = 0; a < basis.num_nodes(); ++a)
        balance[static_cast<std::size_t>(a)] +=
            cell.weights[static_cast<std::size_t>(q)] * Eigen::Vector3d::Map(cell.gradient(q) + 3 * a);
    double size = 0.0;
    for (const Eigen::Vector3d& integral : balance) size += integral.norm();
    EXPECT_GT(size, 1e-2);
    for (int f = 0; f < 4; ++f) {
      const QuadratureRule<2> rule = simplex_quadrature<2>(order);
      std::vector<Eigen::Vector3d> points;
      for (const Eigen::Vector2d& point : rule.points) points.push_back(facet_to_cell<3>(f, point));
      const Tabulation<3> facet = tabulate(basis, std::span<const Eigen::Vector3d>(points));
      // Area vectors: facet 0 is the slanted one, the others are normal to the axes.
      const Eigen::Vector3d normal =
          f == 0 ? Eigen::Vector3d(1, 1, 1) : Eigen::Vector3d(-Eigen::Vector3d::Unit(f - 1));
      for (int q = 0; q < facet.num_points; ++q)
        for (int a = 0; a < basis.num_nodes(); ++a)
          balance[static_cast<std::size_t>(a)] -=
              rule.weights[static_cast<std::size_t>(q)] * facet.value(q)[a] * normal;
    }
    for (const Eigen::Vector3d& rest : balance) EXPECT_LT(rest.norm(), 1e-14);
  }
}
