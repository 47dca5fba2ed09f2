#pragma once

#include <span>

#include "recoil/cage/cut_cells.hpp"

/// Pieces of a broken body as meshes. Nothing here is collective; a caller on several ranks does it on one.
namespace recoil::pieces {

using cage::CellMesh;
using cage::FacetMesh;
using cage::Point;

/// How much each vertex belongs to each label: a partition of unity, stored by rows.
struct Membership {
  std::vector<std::int64_t> offsets; ///< of vertices, then the end
  std::vector<std::int32_t> labels;  ///< ascending in each row; shares below 1e-12 are left out
  std::vector<double> shares;

  double share(std::int32_t vertex, std::int32_t label) const;
  /// The label with the largest share of each vertex, the smallest of equal ones: the upper envelope.
  std::vector<std::int32_t> largest() const;
  /// Where the shares of the largest labels of two vertices are equal between them, from a to b.
  double place(std::int32_t a, std::int32_t la, std::int32_t b, std::int32_t lb) const;
};

/// Shares of the labels of cells on vertices: the means of the one-hot labels over the cells around a vertex
/// by volume, Z, then (M + length^2 L)^-1 M Z, with the lumped masses M and the stiffness L of hat functions
/// [Sellan et al. 2023, eq. 24]. One system per label, by conjugate gradients to 1e-12; the shares of a
/// vertex sum to 1 within 1e-10 before they are scaled to do so.
/// @param cell_labels from 0, one per cell. @param length [m], >= 0; 0 takes the means as they are.
template <int dim>
Membership smooth_labels(const CellMesh<dim>& mesh, std::span<const std::int32_t> cell_labels, double length);

/// The cells cut along the upper envelope of the shares, in each cell that of the labels that its vertices
/// have.
template <int dim>
cage::CutCells<dim> cut_along_envelope(const CellMesh<dim>& mesh, const Membership& membership);

} // namespace recoil::pieces
