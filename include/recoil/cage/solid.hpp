#pragma once

#include <string>

#include "recoil/cage/facet_mesh.hpp"
#include "recoil/cage/winding.hpp"

namespace recoil::cage {

/// A body by its surface.
template <int dim>
struct Solid {
  /// Closed, manifold, without intersections, normals outwards: the input or what stands for it.
  FacetMesh<dim> surface;
  std::vector<std::int32_t> parents; ///< facet of the input that each facet is, or is nearest to
  FacetMesh<dim> input;              ///< as given, without facets that use a place twice
  /// Why the surface is not that of the input: "has holes", ..; empty where it is.
  std::string repair;
};

struct SolidOptions {
  std::int64_t repair_cells = 200000; ///< simplices of the lattice on which a surface is repaired
  bool always_repair = false;
};

/// A body from any surface. Vertices with the same coordinates are one, edges with more than two facets are
/// split, surfaces that are inside out turn. A surface that has holes or intersections, or whose parts do not
/// lie outside of or in one another with normals to suit, is replaced by the boundary of the points whose
/// winding number is above 1/2 in size, on a lattice: marching simplices between lattice vertices, on the
/// places where edges of the lattice meet the input. Not collective.
/// @throws InputError naming `where` for a surface that encloses nothing, and coordinates that are not
/// finite.
template <int dim>
Solid<dim> make_solid(const FacetMesh<dim>& input, const SolidOptions& options, const std::string& where);

/// The repair by itself, with its reason.
template <int dim>
Solid<dim> repair_solid(const FacetMesh<dim>& input, const std::string& reason, const SolidOptions& options,
                        const std::string& where);

} // namespace recoil::cage
