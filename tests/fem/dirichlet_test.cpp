#include "recoil/fem/dirichlet.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "support/box_mesh.hpp"

namespace recoil::fem {
namespace {

DirichletCondition condition(std::vector<std::int32_t> ids, std::array<bool, 3> components, double factor) {
  DirichletCondition result;
  result.ids = std::move(ids);
  result.components = components;
  result.value = [factor](int component, const ExpressionPoint& point) {
    return factor * (component + 1) * (point.x + 10 * point.t);
  };
  return result;
}

class Dirichlet : public testing::TestWithParam<int> {};

TEST_P(Dirichlet, HoldsTheChosenComponentsOnAllRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  mesh::SimplexMesh whole;
  whole.dim = 2;
  if (comm.rank() == 0) whole = test::box_mesh(2, 4, 1);
  const auto mesh = mesh::distribute<2>(comm, whole);
  const int order = GetParam();
  const FunctionSpace<2> space(mesh, {order});
  // Side 1 (-x) fixes x, side 3 (+x) both.
  const DirichletDofs<2> dofs(
      space, {condition({1}, {true, false, false}, 1), condition({3}, {true, true, false}, 2)});
  EXPECT_EQ(dofs.num_global(), 3 * (4 * order + 1));
  linalg::Vector u(space.layout());
  u.fill(-1);
  dofs.set_values(0.5, 0.25, u);
  for (LocalIndex node = 0; node < space.num_nodes(); ++node) {
    const double x = space.node_positions()[static_cast<std::size_t>(node)][0];
    const bool left = x<-0.5 + 1e-12, right = x> 0.5 - 1e-12;
    for (int i = 0; i < 2; ++i) {
      const auto entry = static_cast<std::size_t>(node * 2 + i);
      const bool held = right || (left && i == 0);
      EXPECT_EQ(dofs.flags()[entry] != 0, held);
      const double expected = held ? 0.25 * (right ? 2 : 1) * (i + 1) * (x + 5) : -1;
      EXPECT_NEAR(u.local()[entry], expected, 1e-14);
    }
  }
}

TEST_P(Dirichlet, VerticesOneByOneStandBetweenFacetsAndPoints) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double free = std::numeric_limits<double>::quiet_NaN();
  mesh::SimplexMesh whole;
  whole.dim = 2;
  std::vector<GlobalIndex> known(4); // vertices at (-0.5, 0), (0, 0), (0.5, 0), (0.5, 0.5)
  if (comm.rank() == 0) {
    whole = test::box_mesh(2, 2, 1);
    const std::array<Eigen::Vector2d, 4> places{Eigen::Vector2d(-0.5, 0), Eigen::Vector2d(0, 0),
                                                Eigen::Vector2d(0.5, 0), Eigen::Vector2d(0.5, 0.5)};
    for (std::size_t v = 0; v < whole.vertices.size(); ++v)
      for (std::size_t k = 0; k < places.size(); ++k)
        if ((whole.vertices[v].head<2>() - places[k]).norm() < 1e-12) known[k] = static_cast<GlobalIndex>(v);
    whole.vertex_point_id[static_cast<std::size_t>(known[3])] = 7;
  }
  comm.broadcast(known);
  const auto mesh = mesh::distribute<2>(comm, whole);
  const FunctionSpace<2> space(mesh, {GetParam()});
  DirichletCondition first, second;
  first.vertices = {{known[0], {0.1, free, 0}}, {known[1], {0.2, 0.3, 0}}, {known[3], {0.4, 0.5, 0}}};
  second.vertices = {{known[1], {9, 9, 0}}, {known[2], {free, -0.6, 0}}};
  const DirichletDofs<2> dofs(space, {first, condition({1}, {true, true, false}, 1), second,
                                      condition({7}, {false, true, false}, 2)});
  // The side -x, and beside it (0, 0), y of (0.5, 0), and (0.5, 0.5).
  EXPECT_EQ(dofs.num_global(), 2 * (2 * GetParam() + 1) + 2 + 1 + 2);
  linalg::Vector u(space.layout());
  dofs.set_values(0.5, 0.25, u);
  const auto expect_at = [&](GlobalIndex vertex, double x, double y) {
    for (LocalIndex v = 0; v < mesh.num_vertices(); ++v) {
      if (mesh.vertex_ids[static_cast<std::size_t>(v)] != vertex) continue;
      const auto entry = static_cast<std::size_t>(space.node_of_vertex(v)) * 2;
      EXPECT_NEAR(u.local()[entry], 0.25 * x, 1e-14) << vertex;
      EXPECT_NEAR(u.local()[entry + 1], 0.25 * y, 1e-14) << vertex;
    }
  };
  expect_at(known[0], 0.1, 2 * (-0.5 + 5));
  expect_at(known[1], 0.2, 0.3);
  expect_at(known[2], 0, -0.6);
  expect_at(known[3], 0.4, 2 * 2 * (0.5 + 5));
}

INSTANTIATE_TEST_SUITE_P(Orders, Dirichlet, testing::Values(1, 2, 3, 4));

TEST_P(Dirichlet, TakesValuesOfNodesByTheirNumbers) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = mesh::distribute<2>(comm, comm.rank() == 0 ? test::box_mesh(2, 2) : mesh::SimplexMesh{});
  const FunctionSpace<2> space(mesh, {GetParam()});
  DirichletCondition side = condition({1}, {true, false, false}, 0);
  side.nodal_value = [](int component, GlobalIndex node, double time) {
    return 100.0 * component + static_cast<double>(node) + time;
  };
  const DirichletDofs<2> dofs(space, {side});
  EXPECT_EQ(dofs.num_global(), 2 * GetParam() + 1);
  linalg::Vector u(space.layout());
  dofs.set_values(0.25, 2, u);
  for (LocalIndex node = 0; node < space.num_nodes(); ++node) {
    const auto n = static_cast<std::size_t>(node);
    const bool prescribed = dofs.flags()[2 * n] != 0;
    EXPECT_EQ(u.local()[2 * n], prescribed ? 2 * (static_cast<double>(space.canonical_ids()[n]) + 0.25) : 0);
    EXPECT_EQ(u.local()[2 * n + 1], 0);
  }
}

TEST(DirichletDofs, IgnoresIdsThatCarryNoCondition) {
  EXPECT_FALSE(selects(true, {}, 0));
  EXPECT_FALSE(selects(true, {}, -3));
  EXPECT_FALSE(selects(true, {}, mesh::unselected_facet));
  EXPECT_TRUE(selects(true, {}, 5));
  const std::vector<std::int32_t> ids{2, 4};
  EXPECT_TRUE(selects(false, ids, 4));
  EXPECT_FALSE(selects(false, ids, 3));
}

} // namespace
} // namespace recoil::fem
