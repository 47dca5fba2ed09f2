#pragma once

#include <array>
#include <vector>

#include "recoil/collide/candidates.hpp"
#include "recoil/fem/collision_surface.hpp"

namespace recoil::potentials {

/// A vertex (set 0), edge (set 1) or face (set 2) of any rank; plain, so that it travels as bytes.
struct Primitive {
  std::size_t num_vertices;
  std::array<fem::VertexAddress, 3> vertices;
  double area;                           ///< of edges in 3D, CollisionSurface::edge_areas
  std::array<std::int8_t, 3> edge_faces; ///< of faces, CollisionSurface::edge_faces
};

/// The primitives of other ranks that take part in candidates, fetched from them.
template <int dim>
class RemotePrimitives {
public:
  /// `remote`: per set, the items of other ranks. Collective.
  RemotePrimitives(const fem::CollisionSurface<dim>& surface,
                   const std::vector<std::vector<collide::RemoteItem>>& remote);

  /// Item `index` of a set: own ones first, then those of other ranks (collide::Candidates).
  Primitive primitive(int set, std::int32_t index) const;
  /// Addresses on other ranks of the vertices of all pairs, without repetition; `which` as it was given to
  /// the search.
  std::vector<fem::VertexAddress> foreign_vertices(const collide::Candidates& found,
                                                   std::span<const collide::SetPair> which) const;

private:
  Primitive own(int set, std::int32_t index) const;
  std::size_t num_own(int set) const;

  const fem::CollisionSurface<dim>* surface_;
  std::array<std::vector<Primitive>, 3> fetched_;
};

} // namespace recoil::potentials
