#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// A mesh file of which every rank holds some consecutive vertices and some consecutive cells of the highest
/// dimension, those of its Blocks.
struct FileSlices {
  /// In a physical group, with its place among those of the file.
  struct Facet {
    std::array<std::int32_t, 3> vertices;
    std::int32_t tag;
    std::int64_t number;
  };
  int dim = 3;
  std::int64_t num_vertices = 0, num_cells = 0; ///< of the file
  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::int32_t, 4>> cells; ///< in numbers of the file; the fourth is -1 in 2D
  std::vector<std::int32_t> tags;                 ///< of the cells
  std::vector<Facet> facets;                      ///< wherever they were read
};

/// What read_gmsh() makes of a file, each rank having read its part of it. Warns as read_gmsh(). Null on
/// every rank for a file with anything wrong in it, of which read_gmsh() tells, or that it alone can read:
/// without triangles and tetrahedra, with sections in an unusual order or items on several lines. Collective.
std::shared_ptr<const FileSlices> read_gmsh_slices(const parallel::Communicator& comm,
                                                   const std::filesystem::path& path);

} // namespace recoil::mesh
