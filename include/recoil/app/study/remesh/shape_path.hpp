#pragma once

#include <string>

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"

namespace recoil::app {

/// What a straight path from a rest shape to another one comes to.
struct ShapePath {
  std::string obstruction;            ///< empty where nothing is in the way
  GlobalIndex rest_intersections = 0; ///< of surfaces at the end, by exact predicates
};

/// What is in the way of the vertices of `from`, in its initial state, on their straight path to their places
/// in the mesh `to`: "an element inverts", "surfaces meet" (where there is contact), or, at the end,
/// "rest surfaces intersect", by exact predicates. Intersections are counted where nothing is in the way
/// before. Obstacles stand still. `to`: the same mesh with other vertices. Collective.
template <int dim>
ShapePath follow_shape_path(DiscreteScene<dim>& from, const mesh::DistributedMesh<dim>& to);

} // namespace recoil::app
