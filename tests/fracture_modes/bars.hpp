#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "recoil/mesh/distributed_mesh.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/solvers/fracture_modes/fracture_modes.hpp"
#include "recoil/solvers/fracture_modes/vertex_matrices.hpp"

namespace recoil::test {

/// A bar of size 2 x 1 (x 1) centred at the origin with these divisions.
inline mesh::SimplexMesh bar_mesh(std::vector<int> divisions, std::vector<double> size = {}) {
  const int dim = static_cast<int>(divisions.size());
  mesh::GeometrySpec spec;
  spec.name = "bar";
  mesh::Generator generator;
  generator.shape = dim == 2 ? mesh::GeneratorShape::rectangle : mesh::GeneratorShape::box;
  generator.size = size;
  if (size.empty()) {
    generator.size.assign(divisions.size(), 1.0);
    generator.size[0] = 2;
  }
  generator.divisions = std::move(divisions);
  spec.generator = generator;
  return mesh::assemble_geometry(std::vector<mesh::GeometrySpec>{spec}, dim).deformable;
}

/// Moves inner vertices at random by up to `amount`; `inner` tells which.
inline void shake(
    mesh::SimplexMesh& mesh, double amount, unsigned seed,
    const std::function<bool(const Eigen::Vector3d&)>& inner = [](const auto&) { return true; }) {
  std::mt19937 random(seed);
  for (Eigen::Vector3d& vertex : mesh.vertices) {
    Eigen::Vector3d step = Eigen::Vector3d::Zero();
    for (int i = 0; i < mesh.dim; ++i) step[i] = amount * (double(random()) / 0x1p31 - 1);
    if (inner(vertex)) vertex += step;
  }
}

/// The cells of `mesh` whose centre is in a region.
inline mesh::SimplexMesh carve(const mesh::SimplexMesh& mesh,
                               const std::function<bool(const Eigen::Vector3d&)>& inside) {
  mesh::SimplexMesh kept;
  kept.dim = mesh.dim;
  kept.body_names = mesh.body_names;
  std::vector<std::int32_t> number(mesh.vertices.size(), -1);
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    Eigen::Vector3d center = Eigen::Vector3d::Zero();
    for (int i = 0; i <= mesh.dim; ++i) center += mesh.vertices[mesh.cells[cell][i]] / (mesh.dim + 1);
    if (!inside(center)) continue;
    auto vertices = mesh.cells[cell];
    for (int i = 0; i <= mesh.dim; ++i) {
      std::int32_t& to = number[vertices[i]];
      if (to < 0) {
        to = static_cast<std::int32_t>(kept.vertices.size());
        kept.vertices.push_back(mesh.vertices[vertices[i]]);
        kept.vertex_point_id.push_back(mesh.vertex_point_id[vertices[i]]);
      }
      vertices[i] = to;
    }
    kept.cells.push_back(vertices);
    kept.cell_body.push_back(mesh.cell_body[cell]);
    kept.cell_volume_id.push_back(mesh.cell_volume_id[cell]);
    kept.cell_source.push_back(mesh.cell_source[cell]);
    kept.facet_ids.push_back(mesh.facet_ids[cell]);
  }
  // Faces whose neighbour is gone are boundary now.
  std::map<std::vector<std::int32_t>, int> uses;
  const auto face = [&](std::size_t cell, int opposite) {
    std::vector<std::int32_t> vertices;
    for (int i = 0; i <= mesh.dim; ++i)
      if (i != opposite) vertices.push_back(kept.cells[cell][i]);
    std::ranges::sort(vertices);
    return vertices;
  };
  for (std::size_t cell = 0; cell < kept.cells.size(); ++cell)
    for (int i = 0; i <= mesh.dim; ++i) ++uses[face(cell, i)];
  for (std::size_t cell = 0; cell < kept.cells.size(); ++cell)
    for (int i = 0; i <= mesh.dim; ++i)
      if (uses[face(cell, i)] == 1) kept.facet_ids[cell][i] = mesh::unselected_facet;
  return kept;
}

/// A bar that is thin around x = 0.2.
inline mesh::SimplexMesh necked_bar(std::vector<int> divisions, double amount, unsigned seed) {
  mesh::SimplexMesh mesh = bar_mesh(std::move(divisions));
  shake(mesh, amount, seed);
  for (Eigen::Vector3d& vertex : mesh.vertices) {
    const double t = (vertex.x() - 0.2) / 0.3;
    vertex.tail<2>() *= 1 - 0.6 * std::exp(-t * t);
  }
  return mesh;
}

/// A mesh, given on rank 0, its graph and modes on all ranks.
template <int dim>
struct Broken {
  mesh::DistributedMesh<dim> mesh;
  solvers::fracture_modes::ElementGraph graph;
  solvers::fracture_modes::FractureModes modes;

  Broken(const parallel::Communicator& comm, const mesh::SimplexMesh& whole,
         const solvers::fracture_modes::ModeOptions& options,
         const solvers::fracture_modes::FractureMaterial<dim>& material = {})
      : mesh(mesh::distribute<dim>(comm, comm.rank() == 0 ? whole : empty())),
        graph(solvers::fracture_modes::explode<dim>(mesh, material)) {
    const solvers::fracture_modes::VertexMatrices<dim> matrices(mesh);
    modes = solvers::fracture_modes::find_modes(
        graph, solvers::fracture_modes::start_fields(matrices, options.count + 2), options);
  }

  static mesh::SimplexMesh empty() {
    mesh::SimplexMesh mesh;
    mesh.dim = dim;
    return mesh;
  }
};

} // namespace recoil::test
