#pragma once

#include <vector>

#include "recoil/app/breakable/breakable_shape.hpp"

namespace recoil::app {

/// Joins pieces with less than `least` [m^dim] to the neighbour with which they share the most of their
/// faults, the smallest first, where a closed manifold comes out; others stay. Labels count the pieces again.
template <int dim>
void join_crumbs(std::vector<BodyPiece<dim>>& pieces, double least);

} // namespace recoil::app
