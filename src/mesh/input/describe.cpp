#include "mesh/input/describe.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/memory.hpp"

namespace recoil::mesh {

std::string describe(const GeometrySpec& spec) {
  const std::string source = spec.generator ? "generator" : spec.mesh.string();
  if (source.empty()) return spec.where;
  return spec.where.empty() ? source : spec.where + " (" + source + ")";
}

std::string describe(double value) { return fmt::format("{:.9g}", value); }

std::string describe(const Eigen::Vector3d& point, int dim) {
  std::string text = "(";
  for (int k = 0; k < dim; ++k) text += (k ? ", " : "") + describe(point[k]);
  return text + ")";
}

std::string describe(const Eigen::AlignedBox3d& box, int dim) {
  return describe(box.min(), dim) + " to " + describe(box.max(), dim);
}

std::string cells_of(int dim) { return dim == 2 ? "triangles" : "tetrahedra"; }

std::string list_of(std::span<const int> numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

void require_mesh_memory(double cells, double vertices, const std::string& where, const std::string& what,
                         const std::string& remedy, int ranks) {
  // Measured on boxes: `recoil validate` takes 690 bytes per cell in 3D (a sixth of a vertex) and 545 in 2D
  // (half of one), of which this much on the rank that reads the mesh.
  constexpr double bytes_per_cell = 400, bytes_per_vertex = 300;
  const double bytes = (cells * bytes_per_cell + vertices * bytes_per_vertex) / ranks;
  const std::string makes =
      fmt::format("{} makes about {:.4g} cells and {:.4g} vertices", what, cells, vertices);
  if (std::max(cells, vertices) > double(std::numeric_limits<std::int32_t>::max())) {
    const MemoryLimit limit = memory_limit();
    throw InputError(where, makes + ", more than 32-bit indices can number and about " +
                                describe_bytes(bytes) + " of memory (" + limit.source + " gives " +
                                describe_bytes(limit.bytes) + "); " + remedy);
  }
  require_memory(bytes, where, makes, remedy);
}

} // namespace recoil::mesh
