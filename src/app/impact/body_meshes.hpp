#pragma once

#include <vector>

#include "recoil/cage/cut_cells.hpp"

namespace recoil::app {

/// The cells of one fragment, with vertices of its own.
template <int dim>
struct BodyCells {
  std::int32_t label;
  cage::CellMesh<dim> mesh;
  double volume = 0; ///< before faults moved [m^dim]
};

struct GappedBodies {
  double gap = 0; ///< that was kept [m]; 0 where none could be
};

/// The parts of cut cells as bodies of their own, in ascending order of labels, with gaps between them: the
/// vertices of faults move into their body, by at least gap / 2 from the plane of each fault around them
/// where one direction does that. The gap is halved until every cell keeps half of its volume and no facets
/// of two bodies intersect (exact predicates), at most twelve times; then the bodies come out as cut, and the
/// gap is 0.
template <int dim>
std::vector<BodyCells<dim>> bodies_with_gaps(const cage::CutCells<dim>& cells, double gap,
                                             GappedBodies& kept);

} // namespace recoil::app
