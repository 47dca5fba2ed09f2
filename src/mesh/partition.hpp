#pragma once

#include <span>
#include <vector>

#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// Part of each cell, by METIS k-way partitioning of the dual graph (cells that share a facet), in which
/// bodies apart from each other are linked weakly to those next to them: a part holds neighbours, and cuts a
/// body only where the balance asks for it. Serial; same input, same parts. `weights` holds the work of each
/// cell, empty = all equal.
std::vector<int> partition_cells(const SimplexMesh& mesh, int num_parts, std::span<const int> weights);

} // namespace recoil::mesh
