#pragma once

#include "recoil/pieces/pieces.hpp"

namespace recoil::pieces {

/// The random moves of fault vertices left a vertex on the other surface, or two points of an edge in an
/// order that labels contradict: to be tried again with other moves.
struct Degenerate {};

/// A facet of a piece by numbers of the body: vertices of the surface, of the cells, then points of crossing.
template <int dim>
struct PieceFacet {
  std::array<std::int32_t, dim> vertices;
  std::int32_t neighbour, parent;
};

/// What the pieces consist of.
template <int dim>
struct CutSurfaces {
  std::vector<Point<dim>> points;                     ///< by their numbers
  std::vector<std::vector<PieceFacet<dim>>> of_label; ///< facets of each piece
};

/// Cuts a surface and faults, in general position, with each other.
/// @param moved vertices of the cells, moved. @param faults between labels, without the boundary.
/// @throws Degenerate
CutSurfaces<3> cut_surfaces(const cage::Solid<3>& solid, const cage::CutCells<3>& cells,
                            const std::vector<Point<3>>& moved,
                            const std::vector<cage::Interface<3>>& faults);
CutSurfaces<2> cut_surfaces(const cage::Solid<2>& solid, const cage::CutCells<2>& cells,
                            const std::vector<Point<2>>& moved,
                            const std::vector<cage::Interface<2>>& faults);

/// The label of the cell that a point lies in; Degenerate where it lies in none.
template <int dim>
std::int32_t label_at(const cage::CutCells<dim>& cells, const Point<dim>& x);

} // namespace recoil::pieces
