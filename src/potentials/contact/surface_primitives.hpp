#pragma once

#include <array>
#include <vector>

#include "recoil/collide/candidates.hpp"
#include "recoil/geometry/stencil.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::potentials {

/// Which primitives meet: 0 = vertices, 1 = edges, 2 = faces.
struct PairKind {
  int first, second;
  geometry::StencilKind kind;
};

template <int dim>
std::vector<PairKind> pair_kinds() {
  using geometry::StencilKind;
  if constexpr (dim == 2)
    return {{0, 1, StencilKind::vertex_edge}};
  else
    return {{0, 2, StencilKind::vertex_face}, {1, 1, StencilKind::edge_edge}};
}

/// Pairs of obstacles never collide, nor others that do not `meet`.
template <int dim>
collide::GroupFilter admits_bodies(const surface::Surface<dim>& surface, const collide::GroupFilter& meet) {
  return [&surface, meet](std::int32_t a, std::int32_t b) {
    return !(surface.is_obstacle(a) && surface.is_obstacle(b)) && (!meet || meet(a, b));
  };
}

/// The owned primitives that a search looks at, set 0 = vertices, 1 = edges, 2 = faces.
template <int dim>
struct PrimitiveItems {
  std::array<collide::ItemSet<dim>, 3> sets;
  /// Per set, the primitives of its items, ascending; none where items are all primitives in their order.
  std::array<std::vector<LocalIndex>, 3> primitives;
};

/// Boxes around the boxes of their vertices. Where obstacles and copies have `sieve_from` vertices or more,
/// those of their primitives that no primitive of a body can meet, on any rank, are left out, at the cost of
/// a question to a hierarchy of boxes each.
/// @param sets which are filled; others stay empty. Collective.
template <int dim>
PrimitiveItems<dim> find_items(const surface::Surface<dim>& surface, std::span<const int> sets,
                               const std::vector<collide::Box<dim>>& vertex_boxes, GlobalIndex sieve_from);

/// A vertex (set 0), edge (set 1) or face (set 2) of any rank; plain, so that it travels as bytes.
struct Primitive {
  std::size_t num_vertices;
  std::array<surface::VertexAddress, 3> vertices;
  double area;                           ///< Surface::edge_areas of edges in 3D
  std::array<std::int8_t, 3> edge_faces; ///< Surface::edge_faces of faces
  std::uint8_t flat_edges;               ///< face_flat_edges of faces; edge_is_flat of edges
};

/// The primitives of other ranks that take part in candidates, fetched from them.
template <int dim>
class RemotePrimitives {
public:
  /// `remote`: per set, the items of other ranks; `items` must outlive it. Collective.
  RemotePrimitives(const surface::Surface<dim>& surface, const PrimitiveItems<dim>& items,
                   const std::vector<std::vector<collide::RemoteItem>>& remote);

  /// Item `index` of a set: own ones first, then those of other ranks (collide::Candidates).
  Primitive primitive(int set, std::int32_t index) const;
  /// Addresses on other ranks of the vertices of all pairs, without repetition; `which` as it was given to
  /// the search.
  std::vector<surface::VertexAddress> foreign_vertices(const collide::Candidates& found,
                                                       std::span<const collide::SetPair> which) const;

private:
  Primitive own(int set, std::int32_t index) const;
  std::size_t num_own(int set) const { return items_->sets[set].boxes.size(); }

  const surface::Surface<dim>* surface_;
  const PrimitiveItems<dim>* items_;
  std::array<std::vector<Primitive>, 3> fetched_;
};

} // namespace recoil::potentials
