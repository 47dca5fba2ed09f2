#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "recoil/linalg/vector.hpp"

namespace recoil::linalg {

/// Connected components of a distributed graph: the smallest id in the component of each local entry, ghosts
/// included. Collective; as many rounds of ghost updates as a component crosses ranks.
/// @param layout of one number per vertex of the graph (block size 1); each edge is there on every
/// rank that owns one of its ends, where the other one is owned or a ghost
/// @param ids of the local vertices, exact in double precision
/// @param edges pairs of local vertices
std::vector<GlobalIndex> smallest_ids_of_components(const std::shared_ptr<const VectorLayout>& layout,
                                                    std::span<const GlobalIndex> ids,
                                                    std::span<const std::array<LocalIndex, 2>> edges);

/// Connected components of a distributed graph, numbered from 0 on in the order of their smallest ids.
struct Components {
  std::vector<int> of_local; ///< component of each local entry, ghosts included
  int count = 0;             ///< on all ranks
};
/// Collective; memory O(components) on every rank. Arguments as of smallest_ids_of_components(), but for the
/// block size of the layout, which may be any.
Components numbered_components(const VectorLayout& layout, std::span<const GlobalIndex> ids,
                               std::span<const std::array<LocalIndex, 2>> edges);

} // namespace recoil::linalg
