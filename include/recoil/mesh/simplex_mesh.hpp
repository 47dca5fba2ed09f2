#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/types.hpp"

namespace recoil::mesh {

/// What a mesh file holds, as read: vertices in file order and simplices of every dimension. Serial.
struct RawMesh {
  std::vector<Eigen::Vector3d> vertices; ///< [m]; z = 0 for files without z
  std::vector<std::array<std::int32_t, 4>> tetrahedra;
  std::vector<std::array<std::int32_t, 3>> triangles;
  std::vector<std::array<std::int32_t, 2>> edges;
  std::vector<std::int32_t> points;           ///< vertices of no other primitive
  std::vector<std::int32_t> tetrahedron_tags; ///< physical tag of each tetrahedron's entity, 0 if none
  std::vector<std::int32_t> triangle_tags;
};

/// Id of a boundary facet that no selection matched; matches no boundary condition.
inline constexpr std::int32_t unselected_facet = std::numeric_limits<std::int32_t>::max();
/// Marks a facet shared by two cells of one geometry.
inline constexpr std::int32_t interior_facet = std::numeric_limits<std::int32_t>::min();

/// All deformable geometries of a scene in one mesh, appended without welding. Held by one rank only, before
/// it is distributed. dim = 2: triangles (cells use the first three entries), vertices with z = 0; dim = 3:
/// tetrahedra.
struct SimplexMesh {
  int dim = 3;
  std::vector<Eigen::Vector3d> vertices;          ///< rest positions [m], after transformation and refinement
  std::vector<std::array<std::int32_t, 4>> cells; ///< vertex indices, positively oriented
  std::vector<std::int32_t> cell_body;            ///< index of the geometry entry each cell comes from
  std::vector<std::int32_t> cell_volume_id;       ///< id that materials and initial conditions refer to
  std::vector<std::array<std::int32_t, 4>> facet_ids; ///< per cell: surface id of the facet opposite to
                                                      ///< vertex i, unselected_facet or interior_facet
  std::vector<std::int32_t> vertex_point_id;          ///< id given by point selections; 0 = none
  std::vector<std::int64_t> cell_source; ///< index of the cell (of its parent when refined) in its mesh file
  std::vector<std::string> body_names;   ///< one per geometry entry
};

/// A kinematic surface: triangles (3D), edges, and free vertices. Every vertex is used by some primitive.
struct SurfaceMesh {
  std::string name;
  std::vector<Eigen::Vector3d> vertices; ///< transformed rest positions [m]
  std::vector<std::array<std::int32_t, 3>> triangles;
  std::vector<std::array<std::int32_t, 2>> edges; ///< free edges in 3D; all edges in 2D
  std::vector<std::int32_t> points;               ///< codimensional vertices
  std::int32_t surface_id = -1;                   ///< integer `surface_selection`; -1 = never moves
};

} // namespace recoil::mesh
