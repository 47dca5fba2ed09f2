#pragma once

#include <string>

#include "recoil/cage/solid.hpp"

namespace recoil::cage {

/// A cage of simplices: those of a body-centred cubic lattice that contain a body.
///
/// Every facet of the surfaces and every lattice vertex that they enclose lies in the union of the cells,
/// by construction: the lattice fills space and all cells that meet a facet are taken. The boundary is a
/// manifold, and around each vertex the cells are connected by facets: none hangs on a vertex or an edge.
template <int dim>
struct Cage {
  CellMesh<dim> mesh;
  double edge; ///< of the cubes of the lattice [m]; edges of cells are this long and sqrt(dim) / 2 of it
};

struct CageOptions {
  std::int64_t cells = 10000;             ///< wanted; the edge is adapted until 3 % are met, or eight times
  std::int64_t largest_lattice = 1 << 28; ///< most simplices of the whole lattice, a byte each
};

/// The cage of a solid; of its input, too, where that was repaired. Not collective.
/// @param where of error messages. @throws InputError for a number of cells below 1 and where the lattice
/// would be larger than allowed: very thin or scattered bodies.
template <int dim>
Cage<dim> make_cage(const Solid<dim>& solid, const CageOptions& options, const std::string& where);

/// Whether the cells contain a surface: each of its vertices lies in a cell, and no facet meets the boundary
/// of the cells (exact predicates). Not collective.
template <int dim>
bool contains(const CellMesh<dim>& mesh, const FacetMesh<dim>& surface);

} // namespace recoil::cage
