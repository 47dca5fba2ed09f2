#include "recoil/mesh_motion/boundary_extension.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "recoil/mesh_motion/mesh_quality.hpp"
#include "support/box_mesh.hpp"

namespace recoil::mesh_motion {
namespace {

template <int dim>
mesh::DistributedMesh<dim> two_bodies(const parallel::Communicator& comm, int divisions) {
  mesh::SimplexMesh whole;
  whole.dim = dim;
  if (comm.rank() == 0) whole = test::box_mesh(dim, divisions, 2);
  return mesh::distribute<dim>(comm, whole);
}

/// A number for each vertex and component that does not depend on the partition.
double number_of(GlobalIndex vertex, int component) { return std::sin(1.0 + vertex * 3 + component); }

template <int dim>
double sum_over_owned(const mesh::DistributedMesh<dim>& mesh, const std::vector<double>& a,
                      const std::vector<double>& b) {
  double sum = 0;
  for (LocalIndex i = 0; i < mesh.num_owned_vertices * dim; ++i) sum += a[i] * b[i];
  return mesh.comm->sum(sum);
}

template <int dim>
std::vector<double> numbers(const mesh::DistributedMesh<dim>& mesh, const std::vector<char>& flags,
                            char flag) {
  std::vector<double> d(mesh.vertices.size() * dim, 0.0);
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v)
    for (int i = 0; i < dim; ++i)
      if (flags[v] == flag) d[v * dim + i] = number_of(mesh.vertex_ids[v], i);
  return d;
}

template <int dim>
void expect_transposes(Extension kind) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = two_bodies<dim>(comm, 4);
  const std::vector<char> leads = vertices_to_keep(mesh);
  const BoundaryExtension<dim> extension(mesh, leads, kind);
  std::vector<double> d = numbers(mesh, leads, 1), g(d.size(), 0.0);
  const std::vector<double> given = d;
  for (LocalIndex i = 0; i < mesh.num_owned_vertices * dim; ++i)
    g[i] = std::cos(mesh.vertex_ids[i / dim] * 7.0 + i % dim);
  const std::vector<double> y = g;
  extension.extend(d);
  extension.extend_transposed(g);
  const double expected = sum_over_owned(mesh, d, y), found = sum_over_owned(mesh, given, g);
  EXPECT_NEAR(found, expected, 1e-12 * (1 + std::abs(expected)));
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v)
    for (int i = 0; i < dim; ++i) {
      EXPECT_EQ(leads[v] != 0 ? d[v * dim + i] : 0, given[v * dim + i]);
      EXPECT_EQ(leads[v] != 0 ? 0 : g[v * dim + i], 0);
    }
}

TEST(BoundaryExtension, ProductsAreTransposesOfEachOther) {
  for (const Extension kind : {Extension::harmonic, Extension::elastic}) {
    expect_transposes<2>(kind);
    expect_transposes<3>(kind);
  }
}

/// What the followers would feel: sum over their cells of V (1/V) grad d . grad phi, component by component.
TEST(BoundaryExtension, IsHarmonicWithStiffSmallCells) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  auto mesh = two_bodies<2>(comm, 5);
  // Cells of many sizes.
  for (auto& vertex : mesh.vertices)
    vertex += Eigen::Vector2d(0.1 * vertex.y() * vertex.y(), 0.05 * vertex.x());
  const std::vector<char> leads = vertices_to_keep(mesh);
  const BoundaryExtension<2> extension(mesh, leads, Extension::harmonic);
  std::vector<double> d = numbers(mesh, leads, 1);
  extension.extend(d);
  std::vector<double> force(d.size(), 0.0);
  for (const auto& cell : mesh.cells) {
    Eigen::Matrix2d edges;
    for (int i = 0; i < 2; ++i) edges.col(i) = mesh.vertices[cell[i + 1]] - mesh.vertices[cell[0]];
    const Eigen::Matrix2d inverse = edges.inverse();
    Eigen::Matrix<double, 2, 3> hats;
    hats << -(inverse.row(0) + inverse.row(1)).transpose(), inverse.row(0).transpose(),
        inverse.row(1).transpose();
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        for (int i = 0; i < 2; ++i)
          force[cell[a] * 2 + i] += hats.col(a).dot(hats.col(b)) * d[cell[b] * 2 + i];
  }
  int followers = 0;
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v) {
    if (leads[v] != 0) continue;
    ++followers;
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(force[v * 2 + i], 0, 1e-11);
  }
  EXPECT_EQ(comm.sum(GlobalIndex{followers}), 2 * 16);
}

template <int dim>
void expect_rigid(Extension kind, bool turns) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = two_bodies<dim>(comm, 3);
  const std::vector<char> leads = vertices_to_keep(mesh);
  const BoundaryExtension<dim> extension(mesh, leads, kind);
  std::vector<double> d(mesh.vertices.size() * dim, 0.0), whole = d;
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v)
    for (int i = 0; i < dim; ++i) {
      const auto& X = mesh.vertices[v];
      // A translation, and a small rotation in the plane of the first two axes.
      whole[v * dim + i] = 0.3 * (i + 1) + (turns && i < 2 ? (i == 0 ? -X[1] : X[0]) : 0);
      if (leads[v] != 0) d[v * dim + i] = whole[v * dim + i];
    }
  extension.extend(d);
  for (std::size_t i = 0; i < d.size(); ++i) EXPECT_NEAR(d[i], whole[i], 1e-12);
}

TEST(BoundaryExtension, KeepsRigidMotions) {
  expect_rigid<2>(Extension::harmonic, false);
  expect_rigid<3>(Extension::harmonic, false);
  expect_rigid<2>(Extension::elastic, true);
  expect_rigid<3>(Extension::elastic, true);
}

} // namespace
} // namespace recoil::mesh_motion
