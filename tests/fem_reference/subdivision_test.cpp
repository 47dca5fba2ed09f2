#include <algorithm>
#include <map>
#include <set>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/fem/reference/lagrange.hpp"

using namespace recoil::fem;

namespace {

template <int dim>
void check_subdivision(int order) {
  const LagrangeBasis<dim> basis(order);
  const auto cells = subdivide_cell<dim>(order);
  int count = 1;
  double cell_volume = 1.0;
  for (int i = 0; i < dim; ++i) {
    count *= order;
    cell_volume /= order;
  }
  ASSERT_EQ(cells.size(), static_cast<std::size_t>(count));
  // Equal volumes that fill the cell, positive orientation, and each facet shared by two sub-cells or on the
  // boundary.
  std::map<std::set<int>, int> facets;
  for (const auto& cell : cells) {
    Eigen::Matrix<double, dim, dim> edges;
    for (int i = 0; i < dim; ++i)
      edges.col(i) = basis.node(cell[static_cast<std::size_t>(i + 1)]) - basis.node(cell[0]);
    EXPECT_NEAR(edges.determinant(), cell_volume, 1e-14);
    for (int left_out : cell) {
      std::set<int> facet(cell.begin(), cell.end());
      facet.erase(left_out);
      ++facets[facet];
    }
  }
  std::set<std::set<int>> boundary, expected;
  for (const auto& [facet, sharing] : facets) {
    EXPECT_LE(sharing, 2);
    if (sharing == 1) boundary.insert(facet);
  }
  for (int f = 0; f <= dim; ++f) {
    const auto parts = subdivide_facet<dim>(order, f);
    EXPECT_EQ(parts.size(), static_cast<std::size_t>(count / order));
    for (const auto& part : parts) {
      expected.insert(std::set<int>(part.begin(), part.end()));
      for (int corner : part) EXPECT_EQ(basis.multi_index(corner)[static_cast<std::size_t>(f)], 0);
      // Oriented like the facet itself.
      Eigen::Matrix<double, dim, dim> fan;
      fan.col(0) = basis.node(part[0]) - basis.node(f);
      for (std::size_t i = 1; i < dim; ++i)
        fan.col(static_cast<Eigen::Index>(i)) = basis.node(part[i]) - basis.node(part[0]);
      EXPECT_GT(outward_sign(f) * fan.determinant(), 0.0);
    }
  }
  EXPECT_EQ(boundary, expected);
}

} // namespace

TEST(Subdivision, FillsTheCellConformingly) {
  for (int order = 1; order <= 4; ++order) {
    check_subdivision<2>(order);
    check_subdivision<3>(order);
  }
}

TEST(Subdivision, SegmentsFollowEachOther) {
  const std::vector<std::array<int, 2>> expected{{0, 2}, {2, 3}, {3, 1}};
  auto segments = subdivide_cell<1>(3);
  ASSERT_EQ(segments.size(), 3u);
  for (const auto& segment : expected)
    EXPECT_NE(std::find(segments.begin(), segments.end(), segment), segments.end());
}

// VTK: mid-edge nodes on edges (0,1), (1,2), (2,0) and, in 3D, (0,3), (1,3), (2,3).
TEST(VtkNodes, SitAtTheMiddleOfVtkEdges) {
  const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  for (const bool mirrored : {false, true}) {
    const auto check_edges = [&](const auto& basis, int dim) {
      const std::vector<int> nodes = vtk_nodes(dim, 2, mirrored);
      ASSERT_EQ(nodes.size(), static_cast<std::size_t>(basis.num_nodes()));
      for (std::size_t e = 0; e + static_cast<std::size_t>(dim) + 1 < nodes.size(); ++e) {
        const auto a = static_cast<std::size_t>(edges[e][0]), b = static_cast<std::size_t>(edges[e][1]);
        const auto middle = (0.5 * (basis.node(nodes[a]) + basis.node(nodes[b]))).eval();
        EXPECT_LT((basis.node(nodes[static_cast<std::size_t>(dim) + 1 + e]) - middle).norm(), 1e-15);
      }
      const std::vector<int> linear = vtk_nodes(dim, 1, mirrored);
      EXPECT_TRUE(std::equal(linear.begin(), linear.end(), nodes.begin()));
      EXPECT_EQ(linear.back(), mirrored ? dim - 1 : dim);
    };
    check_edges(LagrangeBasis<2>(2), 2);
    check_edges(LagrangeBasis<3>(2), 3);
  }
  EXPECT_THROW(vtk_nodes(2, 3), recoil::InputError);
}
