#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/input/body_mesh.hpp"

namespace recoil::mesh {

/// An entry of a selection list that matches nothing.
struct EmptySelection {
  enum class Kind { surface, volume, point };
  Kind kind = Kind::surface;
  std::vector<std::int32_t> ids; ///< what it would give
  std::string where;             ///< JSON pointer
  std::string message;           ///< the numbers asked for and the bounding box
  std::size_t place = 0;         ///< in its list
};

/// Positions (facet and cell barycentres, vertices) are compared inclusively and without tolerance, except
/// for `axis`, which takes 1e-9 of the diagonal of the geometry, and `threshold`, which is strict (by default
/// 1e-7 of the diagonal). A list is searched in order, the first entry that matches gives the id. `box` is
/// the bounding box of the transformed geometry, to which relative coordinates refer. Entries that would
/// match nothing even if they were the only ones are added to `empty`; of a slice, those that match nothing
/// of it. Numbers in files are those of the whole body.

/// Surface ids of the facets of each cell: unselected_facet, interior_facet or the id selected; without
/// selections that of the physical group of the file. Interior
/// facets carry no ids, whatever boundary_only says: boundary conditions act on boundary facets only. A file
/// gives rows "id v0 v1 (v2)" with vertex numbers of this geometry, from 0, after refinement; in 3D also one
/// id per facet, interior ones included, in lexicographic order of their ascending vertices.
std::vector<std::array<std::int32_t, 4>> select_facets(const BodyMesh& mesh, const Boundary& boundary,
                                                       const std::vector<Selection>& selections,
                                                       const Eigen::AlignedBox3d& box,
                                                       std::vector<EmptySelection>& empty);

/// Volume ids of the cells; cells not selected keep their stored tag. A file gives one id per cell or rows
/// "id v0 v1 v2 (v3)".
std::vector<std::int32_t> select_cells(const BodyMesh& mesh, const std::vector<Selection>& selections,
                                       const Eigen::AlignedBox3d& box, std::vector<EmptySelection>& empty);

/// Point ids of the vertices, 0 if not selected. Vertices of no boundary facet take part only in entries with
/// boundary_only = false, vertices of no cell never. A file gives one id per vertex or rows "id v".
std::vector<std::int32_t> select_vertices(const BodyMesh& mesh, const Boundary& boundary,
                                          const std::vector<Selection>& selections,
                                          const Eigen::AlignedBox3d& box, std::vector<EmptySelection>& empty);

/// Ids of points that belong to no mesh, particles say, 0 if not selected. Files are refused: points have no
/// numbers of their own. Nothing is added to a list of empty selections: callers hold parts of the points.
/// @returns with the ids, for every selection whether it matches a point.
struct PointIds {
  std::vector<std::int32_t> ids;
  std::vector<char> matched;
};
PointIds select_points(std::span<const Eigen::Vector3d> points, const std::vector<Selection>& selections,
                       const Eigen::AlignedBox3d& box);

} // namespace recoil::mesh
