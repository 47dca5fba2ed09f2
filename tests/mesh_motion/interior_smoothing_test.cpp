#include "recoil/mesh_motion/interior_smoothing.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "recoil/mesh_motion/mesh_quality.hpp"
#include "support/box_mesh.hpp"

namespace recoil::mesh_motion {
namespace {

template <int dim>
mesh::DistributedMesh<dim> box(const parallel::Communicator& comm, int divisions) {
  mesh::SimplexMesh whole;
  whole.dim = dim;
  if (comm.rank() == 0) whole = test::box_mesh(dim, divisions);
  return mesh::distribute<dim>(comm, whole);
}

template <int dim>
double quality(const mesh::DistributedMesh<dim>& mesh) {
  return min_scaled_jacobian(mesh, std::vector<char>(mesh.body_names.size(), 1));
}

/// Vertices inside squeezed towards one side, so that cells there are nearly flat.
template <int dim>
void squeeze(mesh::DistributedMesh<dim>& mesh, const std::vector<char>& keep) {
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v)
    if (keep[v] == 0) mesh.vertices[v][0] = 0.5 - 0.02 * (0.5 - mesh.vertices[v][0]);
}

template <int dim>
void expect_smooth(int divisions, double good) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto sizes = box<dim>(comm, divisions);
  const std::vector<char> keep = vertices_to_keep(sizes);
  auto mesh = sizes;
  squeeze(mesh, keep);
  const auto squeezed = mesh;
  EXPECT_LT(quality(mesh), 0.1);
  const SmoothingResult result = smooth_interior<dim>(sizes, keep, mesh);
  EXPECT_LT(result.iterations, 40);
  EXPECT_LT(result.energy_after, 0.5 * result.energy_before);
  EXPECT_GE(result.energy_after, 2 * dim);
  EXPECT_GT(quality(mesh), good);
  double volume = 0;
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v)
    EXPECT_TRUE(keep[v] == 0 || mesh.vertices[v] == squeezed.vertices[v]);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const auto determinant = [&](const mesh::DistributedMesh<dim>& of) {
      Eigen::Matrix<double, dim, dim> edges;
      for (int i = 0; i < dim; ++i)
        edges.col(i) = of.vertices[of.cells[cell][i + 1]] - of.vertices[of.cells[cell][0]];
      return edges.determinant();
    };
    EXPECT_GT(determinant(mesh) * determinant(sizes), 0);
    volume += std::abs(determinant(mesh));
  }
  EXPECT_NEAR(comm.sum(volume), dim == 2 ? 2 : 6, 1e-12); // dim! times that of the unit box
}

TEST(InteriorSmoothing, MakesFlatCellsRegular) {
  expect_smooth<2>(8, 0.6);
  expect_smooth<3>(4, 0.3);
}

TEST(InteriorSmoothing, FindsTheSameMinimumFromElsewhere) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto sizes = box<2>(comm, 6);
  const std::vector<char> keep = vertices_to_keep(sizes);
  auto mesh = sizes, other = sizes;
  squeeze(other, keep);
  smooth_interior<2>(sizes, keep, mesh);
  smooth_interior<2>(sizes, keep, other);
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v)
    EXPECT_NEAR((mesh.vertices[v] - other.vertices[v]).norm(), 0, 5e-3);
}

TEST(VerticesToKeep, AreThoseOfTheBoundaryAndBetweenVolumes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  mesh::SimplexMesh whole;
  whole.dim = 2;
  if (comm.rank() == 0) {
    whole = test::box_mesh(2, 4);
    for (std::size_t cell = 0; cell < whole.cells.size(); ++cell) {
      double x = 0;
      for (int i = 0; i < 3; ++i) x += whole.vertices[whole.cells[cell][i]].x() / 3;
      whole.cell_volume_id[cell] = x < 0 ? 1 : 2;
    }
  }
  const auto mesh = mesh::distribute<2>(comm, whole);
  const std::vector<char> keep = vertices_to_keep(mesh);
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v) {
    const auto& X = mesh.vertices[v];
    const bool side = X.cwiseAbs().maxCoeff() > 0.5 - 1e-9;
    EXPECT_EQ(keep[v] != 0, side || std::abs(X.x()) < 1e-9) << X.transpose();
  }
}

} // namespace
} // namespace recoil::mesh_motion
