#pragma once

#include <map>
#include <span>
#include <vector>

#include "recoil/parallel/halo.hpp"
#include "recoil/surface/rings.hpp"

namespace recoil::surface {

/// The surface vertices that the stencils of one rank touch, as those of contact or of hinges: all that it
/// owns (numbered as in the surface), then those of other ranks. Moves fields to the stencils and forces back
/// to the owners.
template <int dim>
class StencilVertices {
public:
  using Point = typename Surface<dim>::Point;

  StencilVertices() = default;
  /// `foreign`: addresses on other ranks, without repetition. Collective.
  StencilVertices(const Surface<dim>& surface, std::vector<VertexAddress> foreign);
  /// With the facets around all owned vertices and around those of other ranks at `foreign`, and the vertices
  /// of these facets. Collective.
  StencilVertices(const Surface<dim>& surface, const SurfaceRings<dim>& rings,
                  std::span<const VertexAddress> foreign);

  std::size_t size() const { return data_.size(); }
  std::size_t num_owned() const { return num_owned_; }
  const SurfaceVertex<dim>& operator[](LocalIndex vertex) const { return data_[vertex]; }
  Point rest(LocalIndex vertex) const { return Eigen::Map<const Point>((*this)[vertex].rest.data()); }
  /// Number of the vertex at this address, which must be one of those given.
  LocalIndex find(const VertexAddress& address) const;
  /// The facets around a vertex; none unless it was made with rings.
  const VertexRing& ring(LocalIndex vertex) const { return rings_[vertex]; }

  /// Values at all vertices here from those at the owned ones. Collective.
  std::vector<Point> gather(std::span<const Point> owned) const;
  /// Adds the contributions at foreign vertices to those of their owners, in rank order, and forgets them.
  /// Collective.
  void add_to_owners(std::vector<Point>& values) const;

  const parallel::Halo& halo() const { return halo_; }

private:
  int rank_ = 0;
  std::size_t num_owned_ = 0;
  std::vector<SurfaceVertex<dim>> data_;
  std::map<VertexAddress, LocalIndex> foreign_;
  std::vector<VertexRing> rings_;
  parallel::Halo halo_;
};

} // namespace recoil::surface
