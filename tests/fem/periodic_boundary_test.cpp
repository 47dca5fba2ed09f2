#include "recoil/fem/periodic_boundary.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/fem/dirichlet.hpp"
#include "support/box_mesh.hpp"

namespace recoil::fem {
namespace {

template <int dim>
PeriodicSpec<dim> spec(const Eigen::Matrix<double, dim, dim>& H) {
  PeriodicSpec<dim> result;
  result.axes.fill(true);
  result.prescribed.fill(true);
  result.displacement_gradient = [H](double time) { return Eigen::Matrix<double, dim, dim>(time * H); };
  return result;
}

template <int dim>
mesh::DistributedMesh<dim> box(const parallel::Communicator& comm) {
  mesh::SimplexMesh whole;
  whole.dim = dim;
  if (comm.rank() == 0) whole = test::box_mesh(dim, 3, 1);
  return mesh::distribute<dim>(comm, whole);
}

/// Entries that are different at all nodes, by canonical numbers.
template <int dim>
linalg::Vector some_field(const FunctionSpace<dim>& space, double phase) {
  linalg::Vector u(space.layout());
  auto entries = u.write_owned();
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
    for (int i = 0; i < dim; ++i)
      entries[node * dim + i] = std::sin(phase + 1.7 * i + 2.3 * double(space.canonical_ids()[node]));
  u.update_ghosts();
  return u;
}

template <int dim>
void check(int order, bool is_free) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = box<dim>(comm);
  const FunctionSpace<dim> space(mesh, {order});
  const DirichletDofs<dim> none(space, {});
  Eigen::Matrix<double, dim, dim> H;
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j) H(i, j) = 0.1 * (i + 1) - 0.07 * j;
  PeriodicSpec<dim> how = spec<dim>(H);
  if (is_free) {
    how.prescribed.fill(false);
    how.prescribed[dim * dim - 1] = true;
  }
  const PeriodicBoundary<dim> periodic(space, how, none.flags());
  EXPECT_NEAR(periodic.volume(), (mesh.max_corner - mesh.min_corner).prod(), 1e-14);

  // Consistent fields differ by H L across the cell, and repeat otherwise.
  linalg::Vector u = some_field(space, 0.3);
  const auto wanted = periodic.displacement_gradient(2, 0.5);
  periodic.impose(wanted, u);
  const auto found = periodic.measure(u);
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j) {
      if (periodic.is_prescribed(i, j)) {
        EXPECT_NEAR(found(i, j), H(i, j), 1e-13);
      }
      if (is_free) {
        EXPECT_NEAR(found(i, j), found(j, i), 1e-13);
      }
    }
  linalg::Vector fluctuation = u;
  auto entries = fluctuation.write_local();
  for (LocalIndex node = 0; node < space.num_nodes(); ++node)
    for (int i = 0; i < dim; ++i) entries[node * dim + i] -= (found * space.node_positions()[node])[i];
  std::vector<double> sums(2, 0.0); // of the fluctuation and its square on two sides
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node) {
    const double x = space.node_positions()[node][0];
    const double side = x > mesh.max_corner[0] - 1e-12 ? 1 : x < mesh.min_corner[0] + 1e-12 ? -1 : 0;
    for (int i = 0; i < dim; ++i) {
      sums[0] += side * entries[node * dim + i];
      sums[1] += side * entries[node * dim + i] * entries[node * dim + i];
    }
  }
  comm.sum(sums);
  EXPECT_NEAR(sums[0], 0, 1e-11);
  EXPECT_NEAR(sums[1], 0, 1e-11);

  // T' is the transpose of T, and T a projection.
  linalg::Vector x = some_field(space, 1.1), Tx = x, y = some_field(space, 2.9), Ty = y;
  periodic.constraints().expand(Tx);
  periodic.constraints().gather(Ty);
  EXPECT_NEAR(y.dot(Tx), Ty.dot(x), 1e-11);
  linalg::Vector twice = Tx;
  periodic.constraints().expand(twice);
  twice.add(-1, Tx);
  EXPECT_LT(twice.norm_infinity(), 1e-14);
  GlobalIndex owned_fixed = 0;
  for (std::size_t k = 0; k < u.owned().size(); ++k) owned_fixed += periodic.fixed()[k];
  const int points = 3 * order; // nodes that are left along an axis
  GlobalIndex left = dim;
  for (int k = 0; k < dim; ++k) left *= points;
  const GlobalIndex free_entries = is_free ? dim * (dim + 1) / 2 - 1 : 0;
  EXPECT_EQ(space.num_nodes_global() * dim - comm.sum(owned_fixed), left - dim + free_entries);

  // T' A T of a matrix that couples neighbours.
  linalg::BlockMatrix A(space.layout(), space.graph());
  const auto values = A.begin_filling();
  const auto& graph = *space.graph();
  for (LocalIndex row = 0; row < space.num_owned_nodes(); ++row)
    for (auto k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k) {
      std::array<double, dim * dim> block;
      const double a = double(space.canonical_ids()[row]),
                   b = double(space.canonical_ids()[graph.neighbours[k]]);
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          block[i * dim + j] = std::cos(a + b + i + j) + (a == b && i == j ? 9 : 0);
      values.template add<dim>(row, A.position(row, graph.neighbours[k]), block.data(), dim);
    }
  A.finish_filling();
  linalg::CondensedMatrix condensed(A, periodic.constraints(), periodic.fixed());
  for (int repeat = 0; repeat < 2; ++repeat) condensed.assemble(A);
  linalg::Vector q = some_field(space, 0.8);
  auto unknowns = q.write_local();
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    if (periodic.fixed()[k] != 0) unknowns[k] = 0;
  linalg::Vector Tq = q, ATq(space.layout()), product(space.layout());
  periodic.constraints().expand(Tq);
  A.multiply(Tq, ATq);
  periodic.constraints().gather(ATq);
  condensed.matrix().multiply(q, product);
  product.add(-1, ATq);
  EXPECT_LT(product.norm_infinity(), 1e-12);
}

TEST(PeriodicBoundary, PrescribesOrFreesTheGradient2D) {
  for (const int order : {1, 2, 3}) check<2>(order, false);
  for (const int order : {1, 2}) check<2>(order, true);
}
TEST(PeriodicBoundary, PrescribesOrFreesTheGradient3D) {
  check<3>(1, false);
  check<3>(2, true);
}

/// A full cell has no surface of its own, and what lies a period away is known.
template <int dim>
void check_sides(int order) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = box<dim>(comm);
  const FunctionSpace<dim> space(mesh, {order});
  const DirichletDofs<dim> none(space, {});
  const PeriodicBoundary<dim> periodic(space, spec<dim>(Eigen::Matrix<double, dim, dim>::Zero()),
                                       none.flags());
  GlobalIndex num_moved = 0;
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
    for (int k = 0; k < dim; ++k) {
      std::array<int, dim> there{}, back{};
      there[k] = 1;
      back[k] = -1;
      const GlobalIndex id = space.canonical_ids()[node];
      const auto moved = periodic.moved_by(id, there);
      const bool is_minus = space.node_positions()[node][k] < mesh.min_corner[k] + 1e-12;
      ASSERT_EQ(moved.has_value(), is_minus);
      if (!moved) continue;
      ++num_moved;
      EXPECT_EQ(periodic.moved_by(*moved, back), id);
      EXPECT_NE(periodic.on_sides(*moved)->plus >> k & 1, 0U);
    }
  EXPECT_EQ(comm.sum(num_moved), dim * std::lround(std::pow(3 * order + 1, dim - 1)));
  const auto surface = periodic_surface<dim>(space, periodic, none.flags());
  EXPECT_EQ(surface->num_vertices(), 0);
  EXPECT_EQ(surface->edges().size() + surface->faces().size(), 0);
}

TEST(PeriodicBoundary, KnowsWhereTheMaterialGoesOn) {
  for (const int order : {1, 2, 3}) check_sides<2>(order);
  for (const int order : {1, 2}) check_sides<3>(order);
}

TEST(PeriodicBoundary, RefusesWhatDoesNotMatch) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  auto mesh = box<2>(comm);
  const Eigen::Matrix2d H = Eigen::Matrix2d::Zero();
  {
    const FunctionSpace<2> space(mesh, {1});
    DirichletCondition condition;
    condition.ids = {1};
    condition.components = {true, false, false};
    condition.value = [](int, const ExpressionPoint&) { return 0.0; };
    const DirichletDofs<2> held(space, {condition});
    EXPECT_THROW(PeriodicBoundary<2>(space, spec<2>(H), held.flags()), InputError);
  }
  // Every rank moves the vertices that it knows on one side.
  for (auto& x : mesh.vertices)
    if (x[0] > mesh.max_corner[0] - 1e-12 && std::abs(x[1] - mesh.max_corner[1]) > 1e-12 &&
        std::abs(x[1] - mesh.min_corner[1]) > 1e-12)
      x[1] += 1e-3;
  const FunctionSpace<2> space(mesh, {1});
  const DirichletDofs<2> none(space, {});
  EXPECT_THROW(PeriodicBoundary<2>(space, spec<2>(H), none.flags()), InputError);
}

} // namespace
} // namespace recoil::fem
