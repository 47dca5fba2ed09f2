#pragma once

#include <span>

#include "recoil/cage/facet_mesh.hpp"

namespace recoil::cage {

/// Triangles as a manifold, made by giving vertices several numbers.
struct ManifoldSurface {
  FacetMesh<3> mesh;
  std::vector<std::int32_t> facet_sources;  ///< triangle of the input that each is (a part of)
  std::vector<std::int32_t> vertex_sources; ///< vertex of the input, -1 for midpoints
  bool is_closed; ///< every edge has as many triangles that run along it as against it
};

/// Splits the edges and vertices at which a closed, consistently oriented surface is no manifold. Around an
/// edge with 2 n triangles those are paired that enclose a wedge of the inside, by their angles; vertices
/// come in as many copies as they have fans of paired triangles; an edge that stays doubled gets a midpoint.
/// Copies have equal positions. Without effect on the numbers of facets of a manifold.
ManifoldSurface split_to_manifold(std::span<const Point<3>> vertices,
                                  std::span<const std::array<std::int32_t, 3>> triangles);

/// Whether a surface has no boundary: as many triangles run along every edge as against it, in 2D as many
/// edges end at every vertex as begin there. Its winding number is constant wherever it does not pass, even
/// if it intersects itself.
bool has_no_boundary(const FacetMesh<3>& mesh);
bool has_no_boundary(const FacetMesh<2>& mesh);

/// The connected part of each facet, by common vertices, numbered in the order of their first facets.
template <int dim>
std::vector<std::int32_t> connected_facets(const FacetMesh<dim>& mesh);

/// Whether each edge lies in two triangles with opposite directions, and the triangles of each vertex form
/// one fan.
bool is_closed_manifold(const FacetMesh<3>& mesh);
/// Whether every vertex begins one edge and ends one: closed, oriented polylines.
bool is_closed_manifold(const FacetMesh<2>& mesh);

} // namespace recoil::cage
