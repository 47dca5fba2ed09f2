#pragma once

#include <span>

#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::app {

/// Adds what ranks have at their copies of mesh vertices, `width` numbers per local vertex, to the owners and
/// forgets the copies; in the order of ranks, so that it repeats bitwise. Collective.
template <int dim>
void add_to_vertex_owners(const mesh::DistributedMesh<dim>& mesh, int width, std::span<double> values);

} // namespace recoil::app
