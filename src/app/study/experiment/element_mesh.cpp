#include "app/study/experiment/element_mesh.hpp"

#include <algorithm>

namespace recoil::app {

template <int dim>
inverse::ElementMesh gather_element_mesh(const mesh::DistributedMesh<dim>& mesh,
                                         std::span<const GlobalIndex> ids) {
  inverse::ElementMesh result{dim, std::vector<double>(mesh.num_vertices_global * dim, 0.0), {}};
  for (LocalIndex vertex = 0; vertex < mesh.num_owned_vertices; ++vertex)
    std::copy_n(mesh.vertices[vertex].data(), dim, result.vertices.begin() + mesh.vertex_ids[vertex] * dim);
  mesh.comm->sum(result.vertices);
  // Numbers of vertices are exact as doubles.
  std::vector<double> cells(ids.size() * (dim + 1), 0.0);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const auto found = std::ranges::lower_bound(ids, mesh.cell_ids[cell]);
    if (found == ids.end() || *found != mesh.cell_ids[cell]) continue;
    const auto row = cells.begin() + (found - ids.begin()) * (dim + 1);
    std::ranges::transform(mesh.cells[cell], row,
                           [&](LocalIndex vertex) -> double { return mesh.vertex_ids[vertex]; });
  }
  mesh.comm->sum(cells);
  result.cells.assign(cells.begin(), cells.end());
  return result;
}

template inverse::ElementMesh gather_element_mesh(const mesh::DistributedMesh<2>&,
                                                  std::span<const GlobalIndex>);
template inverse::ElementMesh gather_element_mesh(const mesh::DistributedMesh<3>&,
                                                  std::span<const GlobalIndex>);

} // namespace recoil::app
