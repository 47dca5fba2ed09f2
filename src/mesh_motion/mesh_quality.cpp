#include "recoil/mesh_motion/mesh_quality.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "mesh_motion/vertex_system.hpp"
#include "recoil/mesh/input/quality.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh_motion {

template <int dim>
double min_scaled_jacobian(const mesh::DistributedMesh<dim>& mesh, std::span<const char> bodies) {
  double smallest = 1;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    if (bodies[mesh.cell_body[cell]] == 0) continue;
    std::array<Eigen::Vector3d, 4> corners;
    corners.fill(Eigen::Vector3d::Zero());
    for (int i = 0; i <= dim; ++i) corners[i].template head<dim>() = mesh.vertices[mesh.cells[cell][i]];
    smallest = std::min(smallest, std::abs(mesh::scaled_jacobian(corners, dim)));
  }
  return mesh.comm->min(smallest);
}

template <int dim>
std::vector<char> vertices_to_keep(const mesh::DistributedMesh<dim>& mesh) {
  const fem::FunctionSpace<dim> space = linear_space(mesh);
  linalg::Vector marks(space.layout());
  auto entries = marks.write_local();
  // All cells around an owned vertex are here, so its facets on the boundary are; interfaces are where cells
  // of two volume ids meet at a facet.
  std::map<std::array<LocalIndex, dim>, std::int32_t> volume_of_facet;
  const auto mark = [&](const auto& vertices) {
    for (const LocalIndex vertex : vertices) entries[space.node_of_vertex(vertex) * dim] = 1;
  };
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell)
    for (int facet = 0; facet <= dim; ++facet) {
      std::array<LocalIndex, dim> vertices;
      for (int i = 0, k = 0; i <= dim; ++i)
        if (i != facet) vertices[k++] = mesh.cells[cell][i];
      std::ranges::sort(vertices);
      if (mesh.facet_ids[cell][facet] != mesh::interior_facet) mark(vertices);
      const auto [found, is_new] = volume_of_facet.try_emplace(vertices, mesh.cell_volume_id[cell]);
      if (!is_new && found->second != mesh.cell_volume_id[cell]) mark(vertices);
    }
  marks.update_ghosts();
  std::vector<char> flags(mesh.vertices.size(), 0);
  for (LocalIndex vertex = 0; vertex < mesh.num_vertices(); ++vertex)
    flags[vertex] = marks.local()[space.node_of_vertex(vertex) * dim] != 0;
  return flags;
}

template double min_scaled_jacobian(const mesh::DistributedMesh<2>&, std::span<const char>);
template double min_scaled_jacobian(const mesh::DistributedMesh<3>&, std::span<const char>);
template std::vector<char> vertices_to_keep(const mesh::DistributedMesh<2>&);
template std::vector<char> vertices_to_keep(const mesh::DistributedMesh<3>&);

} // namespace recoil::mesh_motion
