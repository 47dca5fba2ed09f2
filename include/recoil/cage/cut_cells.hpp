#pragma once

#include <functional>
#include <span>

#include "recoil/cage/facet_mesh.hpp"

namespace recoil::cage {

/// Cells cut between vertices of different labels, and the label of each part.
template <int dim>
struct CutCells : CellMesh<dim> {
  std::vector<std::int32_t> labels;  ///< of cells
  std::vector<std::int32_t> parents; ///< the whole cell that each is a part of
};

/// Where an edge between vertices a < b of different labels is cut: part of the way from a to b.
using EdgePlace = std::function<double(std::int32_t a, std::int32_t b)>;

/// Cuts cells so that every part has one label: multi-material marching tetrahedra. A cell with one label
/// stays as it is. An edge with two labels is cut at one point; a triangle with two labels along a segment,
/// with three along the segments from the mean of the points on its edges to these; a tetrahedron with two
/// labels along a triangle or quadrilateral, with more along the cone from a point inside over the segments
/// in its faces. Vertices keep their numbers, new ones follow.
///
/// What is cut in a face depends on its vertices alone: the parts conform. The cuts do not intersect, for the
/// places are held within [0.1, 0.9] of edges and means lie inside; each label's part of a cell is connected.
/// Around an edge of the cuts two or three of them meet, whose sides have as many different labels, and the
/// parts of one label have a manifold boundary where the cells have one.
template <int dim>
CutCells<dim> cut_cells(const CellMesh<dim>& mesh, std::span<const std::int32_t> vertex_labels,
                        const EdgePlace& place);

/// A facet between cells of two labels, or on the boundary.
template <int dim>
struct Interface {
  std::array<std::int32_t, dim> vertices; ///< its normal points from `below` to `above`
  std::int32_t below, above;              ///< labels; below < above, or above = -1 on the boundary
};

/// The facets between cells of different labels and those on the boundary, in an order that depends on the
/// cells alone.
template <int dim>
std::vector<Interface<dim>> interfaces(const CellMesh<dim>& mesh, std::span<const std::int32_t> labels);

/// Volume of a cell [m^dim].
template <int dim>
double volume(const CellMesh<dim>& mesh, std::size_t cell);

} // namespace recoil::cage
