#include <algorithm>

#include "app/study/scene_draft.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/input/write_gmsh.hpp"

namespace recoil::app {

using nlohmann::json;

namespace {

/// The vertices of all bodies in the order of the mesh files, on every rank.
template <int dim>
std::vector<Eigen::Vector3d> gather_vertices(const mesh::DistributedMesh<dim>& mesh) {
  std::vector<double> coordinates(mesh.num_vertices_global * 3, 0.0);
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v)
    for (int i = 0; i < dim; ++i) coordinates[mesh.vertex_ids[v] * 3 + i] = mesh.vertices[v][i];
  mesh.comm->sum(coordinates);
  std::vector<Eigen::Vector3d> vertices(mesh.num_vertices_global);
  for (std::size_t v = 0; v < vertices.size(); ++v)
    vertices[v] = Eigen::Map<const Eigen::Vector3d>(coordinates.data() + 3 * v);
  return vertices;
}

std::string row_of(std::int32_t id, std::span<const std::int32_t> vertices) {
  std::string row = std::to_string(id);
  for (const std::int32_t vertex : vertices) row += " " + std::to_string(vertex);
  return row + "\n";
}

/// The part of a mesh that one body is, with vertices numbered from its own first one.
struct BodyPart {
  std::vector<std::array<std::int32_t, 4>> cells;
  std::vector<std::int32_t> volume_ids;
  std::string facets, points; ///< rows of files of ids
  std::int32_t first_vertex = 0, end_vertex = 0;
};

BodyPart part_of(const mesh::SimplexMesh& mesh, std::int32_t body) {
  BodyPart part;
  const auto first = std::ranges::find(mesh.cell_body, body) - mesh.cell_body.begin();
  const auto end = first + std::ranges::count(mesh.cell_body, body);
  const int corners = mesh.dim + 1;
  part.first_vertex = mesh.cells[first][0];
  for (auto cell = first; cell < end; ++cell)
    for (int i = 0; i < corners; ++i) {
      part.first_vertex = std::min(part.first_vertex, mesh.cells[cell][i]);
      part.end_vertex = std::max(part.end_vertex, mesh.cells[cell][i] + 1);
    }
  for (auto cell = first; cell < end; ++cell) {
    auto& own = part.cells.emplace_back(mesh.cells[cell]);
    for (int i = 0; i < corners; ++i) own[i] -= part.first_vertex;
    part.volume_ids.push_back(mesh.cell_volume_id[cell]);
    for (int i = 0; i < corners; ++i) {
      const std::int32_t id = mesh.facet_ids[cell][i];
      if (id == mesh::interior_facet || id == mesh::unselected_facet) continue;
      std::vector<std::int32_t> facet(own.begin(), own.begin() + corners);
      facet.erase(facet.begin() + i);
      part.facets += row_of(id, facet);
    }
  }
  for (std::int32_t v = part.first_vertex; v < part.end_vertex; ++v)
    if (const std::int32_t id = mesh.vertex_point_id[v]; id != 0)
      part.points += row_of(id, std::array{v - part.first_vertex});
  return part;
}

} // namespace

template <int dim>
void write_meshes(const std::vector<std::string>& bodies, SceneDraft<dim>& to) {
  const parallel::Communicator& comm = *to.geometry.mesh.comm;
  const std::vector<Eigen::Vector3d> vertices = gather_vertices(to.geometry.mesh);
  mesh::SimplexMesh mesh;
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) mesh = mesh::assemble_geometry(to.scene.geometry, dim).deformable;
  });
  const auto& names = to.geometry.mesh.body_names;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!bodies.empty() && std::ranges::find(bodies, names[k]) == bodies.end()) continue;
    BodyPart part;
    std::string text;
    if (comm.rank() == 0) {
      part = part_of(mesh, static_cast<std::int32_t>(k));
      text =
          mesh::gmsh_text(std::span(vertices).subspan(part.first_vertex, part.end_vertex - part.first_vertex),
                          part.cells, part.volume_ids);
    }
    json& entry = to.body(names[k]);
    json moved{{"name", names[k]}};
    const std::string file = "body-" + std::to_string(k);
    moved["mesh"] = to.data.add_text(file + ".msh", text);
    const auto add_ids = [&](const char* selection, const char* ending, const std::string& rows) {
      if (!comm.any(!rows.empty())) return;
      moved[selection] = {{{"file", to.data.add_text(file + ending, rows)}, {"boundary_only", false}}};
    };
    add_ids("surface_selection", "-facets.txt", part.facets);
    add_ids("point_selection", "-points.txt", part.points);
    entry = std::move(moved);
  }
  write_element_data_again(to);
  const auto& box = to.geometry.mesh;
  // Tolerances of a study are those of the shape that it starts from.
  if (!to.scene.solver.characteristic_length)
    to.json["solver"]["advanced"]["characteristic_length"] = (box.max_corner - box.min_corner).norm();
}

template void write_meshes(const std::vector<std::string>&, SceneDraft<2>&);
template void write_meshes(const std::vector<std::string>&, SceneDraft<3>&);

} // namespace recoil::app
