#include "mesh/partition.hpp"

#include <limits>
#include <string>

#include <metis.h>

#include "recoil/base/error.hpp"

namespace recoil::mesh {

namespace {

struct DualGraph {
  idx_t *offsets = nullptr, *neighbours = nullptr;
  ~DualGraph() {
    METIS_Free(offsets);
    METIS_Free(neighbours);
  }
};

void check_metis(int status, const char* call) {
  if (status != METIS_OK)
    throw LibraryError(std::string("METIS: ") + call + " failed with status " + std::to_string(status));
}

} // namespace

std::vector<int> partition_cells(const SimplexMesh& mesh, int num_parts, std::span<const int> weights) {
  const std::size_t corners = static_cast<std::size_t>(mesh.dim) + 1;
  if (num_parts == 1) return std::vector<int>(mesh.cells.size(), 0);
  if (mesh.cells.size() * corners > static_cast<std::size_t>(std::numeric_limits<idx_t>::max()))
    throw InputError("mesh",
                     "too many cells for the integers of this METIS; build METIS with IDXTYPEWIDTH 64");
  idx_t num_cells = static_cast<idx_t>(mesh.cells.size()),
        num_vertices = static_cast<idx_t>(mesh.vertices.size());
  std::vector<idx_t> cell_offsets(mesh.cells.size() + 1), cell_vertices(mesh.cells.size() * corners);
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    cell_offsets[cell + 1] = static_cast<idx_t>((cell + 1) * corners);
    for (std::size_t i = 0; i < corners; ++i) cell_vertices[cell * corners + i] = mesh.cells[cell][i];
  }
  DualGraph graph;
  idx_t common = mesh.dim, numbering = 0;
  check_metis(METIS_MeshToDual(&num_cells, &num_vertices, cell_offsets.data(), cell_vertices.data(), &common,
                               &numbering, &graph.offsets, &graph.neighbours),
              "METIS_MeshToDual");
  std::vector<idx_t> vertex_weights(weights.begin(), weights.end()), parts(mesh.cells.size());
  idx_t constraints = 1, metis_parts = num_parts, cut = 0;
  check_metis(METIS_PartGraphKway(&num_cells, &constraints, graph.offsets, graph.neighbours,
                                  vertex_weights.empty() ? nullptr : vertex_weights.data(), nullptr, nullptr,
                                  &metis_parts, nullptr, nullptr, nullptr, &cut, parts.data()),
              "METIS_PartGraphKway");
  return {parts.begin(), parts.end()};
}

} // namespace recoil::mesh
