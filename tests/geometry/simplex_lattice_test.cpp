#include "recoil/geometry/simplex_lattice.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

using recoil::geometry::SimplexLattice;

namespace {

template <int dim>
void check_lattice(int order) {
  const SimplexLattice<dim> lattice(order);
  int expected = 1;
  for (int i = 1; i <= dim; ++i) expected = expected * (order + i) / i;
  ASSERT_EQ(lattice.size(), expected);
  for (int p = 0; p < lattice.size(); ++p) {
    const auto& alpha = lattice.multi_index(p);
    EXPECT_EQ(std::accumulate(alpha.begin(), alpha.end(), 0), order);
    EXPECT_EQ(lattice.index(alpha), p);
  }
  // Entities list their own points: positive exactly at their vertices, descending.
  int counted = 0;
  for (int e = 0; e <= dim; ++e)
    for (int entity = 0; entity < lattice.num_entities(e); ++entity) {
      const auto vertices = lattice.entity_vertices(e, entity);
      ASSERT_EQ(vertices.size(), static_cast<std::size_t>(e + 1));
      const int first = lattice.first_point(e, entity);
      EXPECT_EQ(first, counted);
      for (int i = 0; i < lattice.points_per_entity(e); ++i, ++counted) {
        const auto& alpha = lattice.multi_index(first + i);
        int on_vertices = 0;
        for (int v : vertices) {
          EXPECT_GT(alpha[static_cast<std::size_t>(v)], 0);
          on_vertices += alpha[static_cast<std::size_t>(v)];
        }
        EXPECT_EQ(on_vertices, order);
        if (i > 0) {
          EXPECT_GT(lattice.multi_index(first + i - 1), alpha);
        }
      }
    }
  EXPECT_EQ(counted, lattice.size());
}

} // namespace

TEST(SimplexLattice, PointsOfEveryOrderAreGroupedByEntity) {
  for (int order = 1; order <= 9; ++order) {
    check_lattice<1>(order);
    check_lattice<2>(order);
    check_lattice<3>(order);
  }
}

TEST(SimplexLattice, QuadraticTetrahedronByHand) {
  const SimplexLattice<3> lattice(2);
  using Alpha = SimplexLattice<3>::MultiIndex;
  const Alpha expected[] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 2}, {1, 1, 0, 0},
                            {1, 0, 1, 0}, {1, 0, 0, 1}, {0, 1, 1, 0}, {0, 1, 0, 1}, {0, 0, 1, 1}};
  for (int p = 0; p < 10; ++p) EXPECT_EQ(lattice.multi_index(p), expected[p]) << p;
}

TEST(SimplexLattice, FacetPointsFollowTheFacetsOwnLattice) {
  for (int order = 1; order <= 4; ++order) {
    const SimplexLattice<3> cell(order);
    const SimplexLattice<2> face(order);
    for (int f = 0; f < 4; ++f) {
      const std::vector<int> points = cell.facet_points(f);
      ASSERT_EQ(points.size(), static_cast<std::size_t>(face.size()));
      for (int p = 0; p < face.size(); ++p) {
        const auto& alpha = cell.multi_index(points[static_cast<std::size_t>(p)]);
        EXPECT_EQ(alpha[static_cast<std::size_t>(f)], 0);
        std::size_t i = 0;
        for (std::size_t v = 0; v < 4; ++v)
          if (v != static_cast<std::size_t>(f)) {
            EXPECT_EQ(alpha[v], face.multi_index(p)[i++]);
          }
      }
    }
  }
}

TEST(SimplexLattice, OrderZeroHasOnePointAndOtherOrdersAreRefused) {
  EXPECT_EQ(SimplexLattice<3>(0).size(), 1);
  EXPECT_EQ(SimplexLattice<3>(0).index({0, 0, 0, 0}), 0);
  EXPECT_THROW(SimplexLattice<2>(-1), recoil::InputError);
  EXPECT_THROW(SimplexLattice<2>(13), recoil::InputError);
}
