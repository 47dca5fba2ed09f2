#pragma once

#include <optional>
#include <string>

#include "recoil/cage/cage.hpp"
#include "recoil/pieces/moments.hpp"
#include "recoil/pieces/smoothing.hpp"

namespace recoil::pieces {

/// The part of a body with one label: closed, manifold, normals outwards.
template <int dim>
struct Piece {
  std::int32_t label;
  FacetMesh<dim> mesh;
  std::vector<std::int32_t>
      neighbours;                    ///< per facet: label of the piece beyond, -1 on the surface of the body
  std::vector<std::int32_t> parents; ///< per facet: that of the input which it is a part of, -1 at faults
  /// Per vertex: its number in the body. Copies of one vertex in two pieces have one number and the same
  /// coordinates, bit for bit.
  std::vector<std::int64_t> ids;
};

/// The pieces of a cage whose cells were cut: boundaries of the cells of each label, `parents` -1. In
/// ascending order of labels; labels without cells have no piece. Not
/// collective. @throws InputError where more than two cells share a facet.
template <int dim>
std::vector<Piece<dim>> pieces_of_cells(const cage::CutCells<dim>& cells);

/// The pieces of a solid in a cage whose cells were cut: facets of its surface cut along the faults between
/// the cells, and the faults as far as they lie inside.
///
/// Points where an edge of one surface meets a facet of the other one exist or not by exact predicates and
/// have one number each; faces of the subdivided facets follow from labels and numbers, so the pieces are
/// closed whatever rounding does to coordinates. Vertices of faults are moved by up to 1e-7 of the extent of
/// the body, at random with a fixed seed, so that none lies on the surface; a second time and so on where one
/// does. Pieces are as close to the envelope as that. Labels without a part of the body have no piece.
/// The cage should contain the surface (cage::contains()); a part of the body outside of it goes with the
/// piece that it hangs on. Nothing comes out where a fault ends inside of the body, where a part of the body
/// lies outside as a whole, and after eight attempts. Not collective.
template <int dim>
std::optional<std::vector<Piece<dim>>> cut_solid(const cage::Solid<dim>& solid,
                                                 const cage::CutCells<dim>& cells);

/// Pieces with the solid that they are parts of.
template <int dim>
struct CutBody {
  cage::Solid<dim> solid; ///< as given, or repaired
  std::vector<Piece<dim>> pieces;
};

/// cut_solid(), and where nothing comes out the same with the solid repaired (repair_solid()). Not
/// collective.
/// @throws InputError naming `where` if the cage does not contain that either.
template <int dim>
CutBody<dim> cut_body(const cage::Solid<dim>& solid, const cage::CutCells<dim>& cells,
                      const cage::SolidOptions& options, const std::string& where);

} // namespace recoil::pieces
