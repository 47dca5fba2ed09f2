#include "recoil/app/study/remesh/body_files.hpp"

#include <algorithm>

#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::app {

namespace {

std::string rows_of(const std::vector<BodyPart::Ids>& ids) {
  std::string rows;
  for (const BodyPart::Ids& one : ids) {
    rows += std::to_string(one.id);
    for (const std::int32_t vertex : one.vertices) rows += " " + std::to_string(vertex);
    rows += "\n";
  }
  return rows;
}

} // namespace

BodyPart part_of(const mesh::SimplexMesh& mesh, std::int32_t body) {
  BodyPart part;
  part.mesh.dim = mesh.dim;
  part.first_cell = std::ranges::find(mesh.cell_body, body) - mesh.cell_body.begin();
  const auto end = part.first_cell + std::ranges::count(mesh.cell_body, body);
  const int corners = mesh.dim + 1;
  std::int32_t end_vertex = 0;
  part.first_vertex = mesh.cells[part.first_cell][0];
  for (auto cell = part.first_cell; cell < end; ++cell)
    for (int i = 0; i < corners; ++i) {
      part.first_vertex = std::min(part.first_vertex, mesh.cells[cell][i]);
      end_vertex = std::max(end_vertex, mesh.cells[cell][i] + 1);
    }
  part.mesh.vertices.assign(mesh.vertices.begin() + part.first_vertex, mesh.vertices.begin() + end_vertex);
  for (auto cell = part.first_cell; cell < end; ++cell) {
    auto& own = part.mesh.cells.emplace_back(mesh.cells[cell]);
    for (int i = 0; i < corners; ++i) own[i] -= part.first_vertex;
    part.mesh.tags.push_back(mesh.cell_volume_id[cell]);
    part.mesh.cell_source.push_back(cell - part.first_cell);
    for (int i = 0; i < corners; ++i) {
      const std::int32_t id = mesh.facet_ids[cell][i];
      if (id == mesh::interior_facet || id == mesh::unselected_facet) continue;
      std::vector<std::int32_t> facet(own.begin(), own.begin() + corners);
      facet.erase(facet.begin() + i);
      part.facets.push_back({id, std::move(facet)});
    }
  }
  for (std::int32_t v = part.first_vertex; v < end_vertex; ++v)
    if (const std::int32_t id = mesh.vertex_point_id[v]; id != 0)
      part.points.push_back({id, {v - part.first_vertex}});
  return part;
}

void write_body(const BodyPart& part,
                const std::function<void(const std::string& ending, const std::string& text)>& text) {
  text(".msh", mesh::gmsh_text(part.mesh.vertices, part.mesh.cells, part.mesh.tags));
  text("-facets.txt", rows_of(part.facets));
  text("-points.txt", rows_of(part.points));
}

} // namespace recoil::app
