#include "recoil/mesh/distributed_mesh.hpp"

#include <cmath>
#include <map>
#include <set>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"
#include "support/box_mesh.hpp"

namespace recoil::mesh {
namespace {

template <int dim>
DistributedMesh<dim> distributed_box(const parallel::Communicator& comm, int n, int bodies, bool shuffled) {
  SimplexMesh mesh;
  mesh.dim = dim;
  if (comm.rank() == 0) {
    mesh = test::box_mesh(dim, n, bodies);
    if (shuffled) test::shuffle_vertices(mesh, 7);
  }
  return distribute<dim>(comm, mesh);
}

/// Everything that must hold for a distributed mesh, checked against the whole mesh, which every rank makes
/// for itself.
template <int dim>
void check_distribution(int n, int bodies, bool shuffled) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const DistributedMesh<dim> mesh = distributed_box<dim>(comm, n, bodies, shuffled);
  SimplexMesh whole = test::box_mesh(dim, n, bodies);
  if (shuffled) test::shuffle_vertices(whole, 7);

  EXPECT_EQ(mesh.num_cells_global, static_cast<GlobalIndex>(whole.cells.size()));
  EXPECT_EQ(comm.sum(GlobalIndex{mesh.num_owned_cells}), mesh.num_cells_global);
  EXPECT_EQ(comm.sum(GlobalIndex{mesh.num_owned_vertices}), mesh.num_vertices_global);
  EXPECT_EQ(mesh.body_names, whole.body_names);

  std::map<GlobalIndex, int> cells_around;
  for (const auto& cell : whole.cells)
    for (int i = 0; i <= dim; ++i) ++cells_around[cell[static_cast<std::size_t>(i)]];
  std::vector<int> seen(mesh.vertices.size(), 0);
  for (LocalIndex c = 0; c < mesh.num_cells(); ++c) {
    const auto cell = static_cast<std::size_t>(c);
    const auto id = static_cast<std::size_t>(mesh.cell_ids[cell]);
    std::map<GlobalIndex, std::int32_t> facet_opposite;
    for (std::size_t i = 0; i <= dim; ++i) facet_opposite[whole.cells[id][i]] = whole.facet_ids[id][i];
    GlobalIndex before = -1;
    for (std::size_t i = 0; i <= dim; ++i) {
      const auto vertex = static_cast<std::size_t>(mesh.cells[cell][i]);
      ++seen[vertex];
      EXPECT_GT(mesh.vertex_ids[vertex], before) << "vertices of a cell ascend in input id";
      before = mesh.vertex_ids[vertex];
      ASSERT_TRUE(facet_opposite.count(before));
      EXPECT_EQ(facet_opposite[before], mesh.facet_ids[cell][i]);
    }
    EXPECT_EQ(mesh.cell_body[cell], whole.cell_body[id]);
    EXPECT_EQ(mesh.cell_volume_id[cell], whole.cell_volume_id[id]);
  }
  for (std::size_t vertex = 0; vertex < mesh.vertices.size(); ++vertex) {
    const auto id = static_cast<std::size_t>(mesh.vertex_ids[vertex]);
    EXPECT_EQ(mesh.vertices[vertex], whole.vertices[id].template head<dim>());
    const bool owned = vertex < static_cast<std::size_t>(mesh.num_owned_vertices);
    EXPECT_EQ(owned, mesh.vertex_owner[vertex] == comm.rank());
    if (owned) {
      EXPECT_EQ(seen[vertex], cells_around[mesh.vertex_ids[vertex]])
          << "every cell around an owned vertex is here";
    }
    EXPECT_GT(seen[vertex], 0);
  }
  const std::set<GlobalIndex> distinct(mesh.cell_ids.begin(), mesh.cell_ids.end());
  EXPECT_EQ(distinct.size(), mesh.cell_ids.size());
}

TEST(Distribute, KeepsEveryCellAroundOwnedVertices2D) { check_distribution<2>(7, 2, false); }
TEST(Distribute, KeepsEveryCellAroundOwnedVertices3D) { check_distribution<3>(4, 2, false); }
TEST(Distribute, TakesAnyVertexNumbers2D) { check_distribution<2>(7, 1, true); }
TEST(Distribute, TakesAnyVertexNumbers3D) { check_distribution<3>(4, 1, true); }
// Two triangles on up to four ranks: some own nothing.
TEST(Distribute, LeavesRanksEmpty) { check_distribution<2>(1, 1, false); }

TEST(Distribute, RefusesAnEmptyMeshOnEveryRank) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  SimplexMesh nothing;
  nothing.dim = 3;
  EXPECT_THROW(distribute<3>(comm, nothing), InputError);
}

TEST(Distribute, BalancesWeightedBodies) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  SimplexMesh mesh;
  mesh.dim = 2;
  if (comm.rank() == 0) mesh = test::box_mesh(2, 16, 2);
  const auto distributed = distribute<2>(comm, mesh, {{1, 9}});
  double work = 0;
  for (LocalIndex cell = 0; cell < distributed.num_owned_cells; ++cell)
    work += distributed.cell_body[static_cast<std::size_t>(cell)] == 0 ? 1 : 9;
  EXPECT_LT(comm.max(work), 1.2 * comm.sum(work) / comm.size());
}

// Whoever owns a vertex has the work of all cells around it.
template <int dim>
void expect_halves(int n) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const DistributedMesh<dim> mesh = distributed_box<dim>(comm, n, 1, true);
  std::vector<GlobalIndex> own; // vertices of own cells, with their owners and this rank
  std::set<LocalIndex> of_own_cells;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    for (const LocalIndex vertex : mesh.cells[static_cast<std::size_t>(cell)]) of_own_cells.insert(vertex);
  for (const LocalIndex v : of_own_cells) {
    const auto vertex = static_cast<std::size_t>(v);
    own.insert(own.end(), {mesh.vertex_ids[vertex], mesh.vertex_owner[vertex], comm.rank()});
  }
  const auto all = comm.all_gather_parts(own);
  std::map<GlobalIndex, std::set<GlobalIndex>> sharers, owners;
  for (std::size_t k = 0; k + 2 < all.size(); k += 3) {
    owners[all[k]].insert(all[k + 1]);
    sharers[all[k]].insert(all[k + 2]);
  }
  std::map<std::set<GlobalIndex>, GlobalIndex> low_minus_high;
  for (const auto& [id, ranks] : sharers) {
    ASSERT_EQ(owners[id].size(), 1U) << "all ranks name the same owner";
    const GlobalIndex owner = *owners[id].begin();
    EXPECT_TRUE(ranks.contains(owner)) << "the owner has a cell with the vertex";
    if (ranks.size() == 2) low_minus_high[ranks] += owner == *ranks.begin() ? 1 : -1;
  }
  EXPECT_EQ(low_minus_high.empty(), comm.size() == 1);
  for (const auto& [ranks, difference] : low_minus_high) EXPECT_LE(std::abs(difference), 1);
}

TEST(Distribute, HalvesWhatTwoRanksShare2D) { expect_halves<2>(12); }
TEST(Distribute, HalvesWhatTwoRanksShare3D) { expect_halves<3>(6); }

// Bodies in a row that the dual graph does not connect, in an order that says nothing about where they lie.
TEST(Distribute, KeepsNeighbouringBodiesTogether) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr int bodies = 24; // whole numbers of bodies on up to four ranks
  SimplexMesh mesh;
  mesh.dim = 3;
  if (comm.rank() == 0) {
    mesh = test::box_mesh(3, 2, bodies);
    for (Eigen::Vector3d& vertex : mesh.vertices) {
      const int place = static_cast<int>(std::round(vertex.x() / 1.5));
      vertex.x() += 1.5 * (place * 7 % bodies - place);
    }
  }
  const auto distributed = distribute<3>(comm, mesh);
  std::set<std::int32_t> here(distributed.cell_body.begin(),
                              distributed.cell_body.begin() + distributed.num_owned_cells);
  EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(here.size())), bodies) << "no body is cut";
  std::set<int> places;
  for (const std::int32_t body : here) places.insert(body * 7 % bodies);
  int pieces = 0;
  for (const int place : places)
    if (places.count(place - 1) == 0) ++pieces;
  EXPECT_EQ(comm.sum(GlobalIndex{pieces}), comm.size()) << "each rank holds one piece of the row";
}

} // namespace
} // namespace recoil::mesh
