#include "recoil/fem/function_space.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/fem/element_assembler.hpp"
#include "recoil/fem/linear_functions.hpp"
#include "recoil/parallel/exchange.hpp"
#include "support/box_mesh.hpp"

namespace recoil::fem {
namespace {

template <int dim>
mesh::DistributedMesh<dim> box(const parallel::Communicator& comm, int n, int bodies) {
  mesh::SimplexMesh mesh;
  mesh.dim = dim;
  if (comm.rank() == 0) {
    mesh = test::box_mesh(dim, n, bodies);
    test::shuffle_vertices(mesh, 3);
  }
  return mesh::distribute<dim>(comm, mesh);
}

GlobalIndex power(GlobalIndex base, int exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/// Canonical number -> rest position of all nodes, on rank 0.
template <int dim>
std::map<GlobalIndex, std::array<double, 3>> gather_nodes(const FunctionSpace<dim>& space) {
  struct Node {
    GlobalIndex id;
    std::array<double, 3> position;
  };
  std::vector<std::vector<Node>> to_root(static_cast<std::size_t>(space.comm().size()));
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node) {
    Node item{space.canonical_ids()[static_cast<std::size_t>(node)], {}};
    for (int i = 0; i < dim; ++i)
      item.position[static_cast<std::size_t>(i)] = space.node_positions()[static_cast<std::size_t>(node)][i];
    to_root[0].push_back(item);
  }
  std::map<GlobalIndex, std::array<double, 3>> nodes;
  for (const auto& list : parallel::exchange(space.comm(), to_root))
    for (const Node& node : list) nodes[node.id] = node.position;
  return nodes;
}

/// A linear field at the nodes of a space is that at its vertices.
template <int dim>
void check_linear_functions(int order) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = box<dim>(comm, 3, 1);
  const FunctionSpace<dim> space(mesh, {order});
  const std::vector<char> free(static_cast<std::size_t>(dim * space.num_nodes()), 0);
  const auto coarse = linear_functions(space, free);
  GlobalIndex num_coarse = 0;
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node) {
    const auto begin = static_cast<std::size_t>(coarse->offsets[static_cast<std::size_t>(node)]);
    const auto end = static_cast<std::size_t>(coarse->offsets[static_cast<std::size_t>(node) + 1]);
    Eigen::Matrix<double, dim, 1> mean = Eigen::Matrix<double, dim, 1>::Zero();
    for (std::size_t k = begin; k < end; ++k)
      mean += coarse->weights[k] * space.node_positions()[static_cast<std::size_t>(coarse->nodes[k])];
    EXPECT_LT((mean - space.node_positions()[static_cast<std::size_t>(node)]).norm(), 1e-12);
    num_coarse += end == begin + 1 && coarse->nodes[begin] == node;
  }
  EXPECT_EQ(comm.sum(num_coarse), power(4, dim));
}

TEST(LinearFunctions, HoldValuesAtVertices) {
  for (const int order : {1, 2, 3}) {
    check_linear_functions<2>(order);
    check_linear_functions<3>(order);
  }
}

template <int dim>
void check_space(int n, int order) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = box<dim>(comm, n, 1);
  const FunctionSpace<dim> space(mesh, {order});
  // Nodes of an order-k structured mesh are the vertices of one k times finer.
  EXPECT_EQ(space.num_nodes_global(), power(n * order + 1, dim));
  const auto nodes = gather_nodes(space);
  if (comm.rank() == 0) {
    EXPECT_EQ(static_cast<GlobalIndex>(nodes.size()), space.num_nodes_global());
    EXPECT_EQ(nodes.begin()->first, 0);
    EXPECT_EQ(nodes.rbegin()->first, space.num_nodes_global() - 1);
  }
  // The ghost copies of positions and canonical numbers agree with their owners'.
  linalg::Vector positions(space.layout());
  auto values = positions.write_local();
  for (LocalIndex node = 0; node < space.num_nodes(); ++node)
    for (int i = 0; i < dim; ++i)
      values[static_cast<std::size_t>(node * dim + i)] =
          node < space.num_owned_nodes() ? space.node_positions()[static_cast<std::size_t>(node)][i] : -77;
  positions.update_ghosts();
  for (LocalIndex node = 0; node < space.num_nodes(); ++node)
    for (int i = 0; i < dim; ++i)
      EXPECT_NEAR(positions.local()[static_cast<std::size_t>(node * dim + i)],
                  space.node_positions()[static_cast<std::size_t>(node)][i], 1e-14);
  // Each cell's nodes lie where the basis says.
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const auto cell_nodes = space.cell_nodes(cell);
    for (int a = 0; a < space.basis(order).num_nodes(); ++a) {
      Eigen::Matrix<double, dim, 1> expected = Eigen::Matrix<double, dim, 1>::Zero();
      for (std::size_t corner = 0; corner <= dim; ++corner)
        expected +=
            space.basis(order).multi_index(a)[corner] / static_cast<double>(order) *
            mesh.vertices[static_cast<std::size_t>(mesh.cells[static_cast<std::size_t>(cell)][corner])];
      EXPECT_LT((space.node_positions()[static_cast<std::size_t>(cell_nodes[static_cast<std::size_t>(a)])] -
                 expected)
                    .norm(),
                1e-14);
    }
  }
}

TEST(FunctionSpace, NodesOfEveryOrder2D) {
  for (int order = 1; order <= 4; ++order) check_space<2>(5, order);
}
TEST(FunctionSpace, NodesOfEveryOrder3D) {
  for (int order = 1; order <= 4; ++order) check_space<3>(3, order);
}
TEST(FunctionSpace, RanksWithoutCells) {
  for (int order = 1; order <= 4; ++order) check_space<2>(1, order);
}

// Canonical numbers must not depend on the partition: the same as on one rank, where MPI_COMM_SELF gives the
// reference.
TEST(FunctionSpace, CanonicalNumbersDoNotDependOnThePartition) {
  const parallel::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  for (int order = 1; order <= 4; ++order) {
    const auto mesh = box<3>(comm, 2, 1);
    const auto serial_mesh = box<3>(self, 2, 1);
    const auto nodes = gather_nodes(FunctionSpace<3>(mesh, {order}));
    const auto reference = gather_nodes(FunctionSpace<3>(serial_mesh, {order}));
    if (comm.rank() != 0) continue;
    ASSERT_EQ(nodes.size(), reference.size());
    for (const auto& [id, position] : reference)
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(nodes.at(id)[i], position[i], 1e-14) << "order " << order;
  }
}

TEST(FunctionSpace, OrderPerBody) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = box<2>(comm, 3, 2);
  const FunctionSpace<2> space(mesh, {1, 3});
  EXPECT_EQ(space.num_nodes_global(), 4 * 4 + 10 * 10);
  EXPECT_EQ(space.max_order(), 3);
}

TEST(FunctionSpace, RefusesTwoOrdersAtOneVertexOnEveryRank) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  mesh::SimplexMesh whole;
  whole.dim = 2;
  if (comm.rank() == 0) {
    whole = test::box_mesh(2, 2, 1);
    whole.body_names.push_back("other");
    whole.cell_body.back() = 1;
  }
  const auto mesh = mesh::distribute<2>(comm, whole);
  EXPECT_THROW(FunctionSpace<2>(mesh, {1, 2}), InputError);
}

// Assembly without messages: the matrix of the sum over cells of (1 1') times the volume, multiplied with a
// field, equals what one rank gets.
TEST(ElementAssembler, RowsAreCompleteOnEveryRank) {
  const parallel::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const auto product = [](const parallel::Communicator& on) {
    const auto mesh = box<2>(on, 4, 1);
    const FunctionSpace<2> space(mesh, {2});
    linalg::BlockMatrix matrix(space.layout(), space.graph());
    ElementAssembler<2> assembler(space, matrix);
    Eigen::Matrix<double, 12, 12> K;
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j) K(i, j) = 1.0 / (1 + i + j);
    assembler.begin();
    for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) assembler.add_element(cell, K.data());
    assembler.end();
    linalg::Vector x(space.layout()), y(space.layout());
    auto values = x.write_owned();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(3 * space.node_positions()[i / 2][0] + (i % 2));
    matrix.multiply(x, y);
    return std::array{x.dot(y), y.norm()};
  };
  const auto distributed = product(comm), serial = product(self);
  EXPECT_NEAR(distributed[0], serial[0], 1e-12 * std::abs(serial[0]));
  EXPECT_NEAR(distributed[1], serial[1], 1e-12 * serial[1]);
  EXPECT_GT(serial[1], 0);
}

} // namespace
} // namespace recoil::fem
