#pragma once

#include <span>

#include "recoil/inverse/field_prior.hpp"
#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::app {

/// The elements with the input ids `ids`, ascending, in their order, dim + 1 vertices each; all vertices of
/// the mesh by their input ids, dim rest positions [m] each. The same on every rank. @pre `ids` are cells of
/// this mesh. Collective.
template <int dim>
inverse::ElementMesh gather_element_mesh(const mesh::DistributedMesh<dim>& mesh,
                                         std::span<const GlobalIndex> ids);

} // namespace recoil::app
