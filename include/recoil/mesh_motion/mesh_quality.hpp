#pragma once

#include <span>
#include <vector>

#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::mesh_motion {

/// The smallest scaled Jacobian (mesh::scaled_jacobian) of the cells of the flagged bodies over all ranks: 1
/// for regular simplices, 0 where one is flat. Cells of either orientation count as they are; whether a
/// motion has inverted one is not seen here. Collective.
template <int dim>
double min_scaled_jacobian(const mesh::DistributedMesh<dim>& mesh, std::span<const char> bodies);

/// Flags of the local vertices that a new interior has to keep: those on the boundary of a body and between
/// cells of different volume ids. Collective.
template <int dim>
std::vector<char> vertices_to_keep(const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::mesh_motion
