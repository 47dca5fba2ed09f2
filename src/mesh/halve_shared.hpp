#pragma once

#include <array>
#include <vector>

#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// The rank that owns each vertex of the cells of this rank, one of those whose cells have it. What exactly
/// two ranks have in common is halved in the middle of its longest extent, the low side to the higher rank;
/// vertices that more ranks share are assigned by hashes of their ids. Owners compute all cells around their
/// vertices, so that ranks with as many cells have even work only if they own as many of the vertices that
/// they share. Contiguous halves keep halos small. Collective.
/// @param ids of the vertices, ascending, below num_vertices
/// @param positions of each, the same bits on all ranks; a third coordinate is zero in 2D
std::vector<int> halve_shared_vertices(const parallel::Communicator& comm, GlobalIndex num_vertices,
                                       const std::vector<GlobalIndex>& ids,
                                       const std::vector<std::array<double, 3>>& positions);

} // namespace recoil::mesh
