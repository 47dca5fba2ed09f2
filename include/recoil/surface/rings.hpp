#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recoil/surface/surface.hpp"

namespace recoil::surface {

/// A facet around a vertex v: face (v, a, b) in 3D, edge (v, a) in 2D, where b repeats a. On bodies the outer
/// normal is side (a - v) x (b - v), or side times a - v turned clockwise; sheets and obstacles have two
/// outer sides and the side 0. Plain, so that it travels as bytes.
template <class Vertex>
struct RingFacet {
  Vertex a, b;
  std::int32_t side;
};

/// The facets around a vertex, as numbers of vertices.
using VertexRing = std::vector<RingFacet<LocalIndex>>;

/// The facets around every surface vertex that this rank owns, whoever owns the facets.
template <int dim>
class SurfaceRings {
public:
  using Ring = std::vector<RingFacet<VertexAddress>>;

  /// Every rank sends the facets that it owns to the owners of their vertices. Collective.
  explicit SurfaceRings(const Surface<dim>& surface);

  /// Rings of the owned vertices, in the order of the surface.
  const std::vector<Ring>& owned() const { return rings_; }
  /// Rings of vertices of other ranks, in the order of `addresses`. Collective.
  std::vector<Ring> fetch(const parallel::Communicator& comm, std::span<const VertexAddress> addresses) const;

private:
  std::vector<Ring> rings_;
};

} // namespace recoil::surface
