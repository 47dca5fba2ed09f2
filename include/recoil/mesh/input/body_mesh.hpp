#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// Where some consecutive cells of a body, with their vertices, have their place in the whole.
struct PlaceInBody {
  std::vector<std::int32_t> vertex_ids;         ///< number in the body of each vertex, ascending
  std::int64_t first_cell = 0;                  ///< number in the body of the first cell
  std::int64_t num_vertices = 0, num_cells = 0; ///< of the body
};

/// The cells of one deformable geometry on their way from the file to the scene, or a slice of them. In 2D
/// cells use their first three entries, the fourth is -1.
struct BodyMesh {
  int dim = 3;
  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::int32_t, 4>> cells;
  std::vector<std::int32_t> tags;        ///< stored volume tag of each cell
  std::vector<std::int64_t> cell_source; ///< index of the cell, or of its unrefined ancestor, in the file
  std::vector<std::array<std::int32_t, 3>> facets; ///< in physical groups of the file, as FileMesh has them
  std::vector<std::int32_t> facet_tags;            ///< the group of each
  std::optional<PlaceInBody> place = std::nullopt; ///< of a slice

  std::int64_t id_of_vertex(std::int32_t v) const { return place ? place->vertex_ids[v] : v; }
  std::int64_t id_of_cell(std::int64_t c) const { return place ? place->first_cell + c : c; }
  std::int64_t num_vertices_of_body() const { return place ? place->num_vertices : std::ssize(vertices); }
  std::int64_t num_cells_of_body() const { return place ? place->num_cells : std::ssize(cells); }
};

/// The cells of highest dimension of a file: tetrahedra, else triangles.
/// @throws InputError naming `where` if there are none, or if triangles do not lie in a plane of constant z.
BodyMesh body_mesh(FileMesh&& file, const std::string& where);
BodyMesh body_mesh(RawMesh&& raw, const std::string& where);

/// Makes every cell positively oriented by exchanging its last two vertices where needed.
/// @throws InputError naming `where`, the cell of the file and its corners for a cell without volume, a cell
/// with a
///         repeated vertex, or coordinates that are not finite.
void orient(BodyMesh& mesh, const std::string& where);

/// `levels` times: triangles into 4 at mid-edges, tetrahedra into 8 around the diagonal mid(v0,v1)-mid(v2,v3)
/// where v0 < v1 < v2 < v3 are the vertices of the cell. Old vertices keep their numbers, mid-edge vertices
/// follow in lexicographic order of (min, max) of their edge; the children of a cell are consecutive, corners
/// first. Orientation is not kept.
/// @throws InputError naming `where` if the stored tags are not all equal or the result exceeds 32-bit
/// indices.
void refine(BodyMesh& mesh, int levels, const std::string& where);

/// A facet of a cell that no other cell shares.
struct BoundaryFacet {
  std::int32_t cell;
  std::int32_t local;  ///< opposite to this vertex of the cell
  std::int64_t number; ///< place among all facets, interior ones included, in lexicographic order of
                       ///< ascending vertices
};

/// The boundary of a mesh, in the order of cells.
struct Boundary {
  std::vector<BoundaryFacet> facets;
  std::int64_t num_all_facets = 0; ///< interior ones included
  /// Of a slice: its vertices that lie on the boundary because of facets in other slices.
  std::vector<std::int32_t> vertices_of_others;
};

/// Finds the facets that belong to one cell only.
/// @throws InputError naming `where` for a facet shared by more than two cells or by two on one side of it,
/// and for two cells with the same vertices.
/// @note Cost O(cells), memory 12 bytes per facet and cell.
Boundary find_boundary(const BodyMesh& mesh, const std::string& where);

/// Vertices of the facet opposite to `local`, ordered so that the normal of a positively oriented cell points
/// outwards; the third entry is -1 in 2D.
std::array<std::int32_t, 3> facet_vertices(const BodyMesh& mesh, const BoundaryFacet& facet);

} // namespace recoil::mesh
