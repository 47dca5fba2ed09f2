#pragma once

#include <string>

#include "recoil/app/simulation/discrete_scene.hpp"

namespace recoil::app {

/// What is in the way of the vertices of `from`, in its initial state, on their straight path to their places
/// in the mesh `to`: "an element inverts", "surfaces meet" (where there is contact), or, at the end,
/// "rest surfaces intersect", by exact predicates; empty where nothing is. Obstacles stand still.
/// `to`: the same mesh with other vertices. Collective.
template <int dim>
std::string find_obstruction(DiscreteScene<dim>& from, const mesh::DistributedMesh<dim>& to);

} // namespace recoil::app
