#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mesh/input/file_bodies.hpp"
#include "mesh/meet_keys.hpp"

namespace recoil::mesh {

/// What the owner of a vertex of a file knows of it.
struct FileVertex {
  std::array<double, 3> position;
  std::int32_t slices, lone_before; ///< how many slices have it; vertices of no cell before it
};

/// Slices meet at vertices; the owners of these, by blocks of their numbers, know which ones have them.
class VertexOwners {
public:
  /// @param ids vertices of this slice. Collective.
  VertexOwners(const parallel::Communicator& comm, std::int64_t num_vertices,
               const std::vector<std::int32_t>& ids);

  /// What the owners know of `ids`. @param positions of the block of this rank. Collective.
  std::vector<FileVertex> ask(const std::vector<std::int32_t>& ids,
                              const std::vector<Eigen::Vector3d>& positions, std::int64_t& num_lone) const;
  /// Those of the facets of all ranks of which this slice has the first vertex, in the order of their groups,
  /// then of the file. Collective.
  std::vector<FileSlices::Facet> facets_of_slice(const std::vector<FileSlices::Facet>& facets) const;

  const Blocks& blocks() const { return blocks_; }

private:
  using Having = std::pair<std::int32_t, std::int32_t>; ///< a vertex and a rank whose slice has it
  const parallel::Communicator& comm_;
  Blocks blocks_;
  std::vector<Having> slices_; ///< ascending
};

/// What find_boundary() and check_connections() look for in a whole mesh, in one in slices; false on every
/// rank where they throw. @param vertices those of body.mesh.vertices. Collective.
bool is_sound(const parallel::Communicator& comm, const SlicedBody& body, const Blocks& blocks,
              const std::vector<FileVertex>& vertices, const std::string& where);

} // namespace recoil::mesh
