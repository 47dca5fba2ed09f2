#pragma once

#include <map>
#include <span>
#include <vector>

#include "recoil/fem/collision_surface.hpp"
#include "recoil/parallel/halo.hpp"

namespace recoil::potentials {

/// The surface vertices that the contact stencils of one rank touch: all that it owns (numbered as in the
/// surface), then those of other ranks. Moves fields to the stencils and forces back to the owners.
template <int dim>
class ContactVertices {
public:
  using Point = typename fem::CollisionSurface<dim>::Point;

  ContactVertices() = default;
  /// `foreign`: addresses on other ranks, without repetition. Collective.
  ContactVertices(const fem::CollisionSurface<dim>& surface, std::vector<fem::VertexAddress> foreign);

  std::size_t size() const { return data_.size(); }
  std::size_t num_owned() const { return num_owned_; }
  const fem::SurfaceVertex<dim>& operator[](LocalIndex vertex) const { return data_[vertex]; }
  Point rest(LocalIndex vertex) const { return Eigen::Map<const Point>((*this)[vertex].rest.data()); }
  /// Number of the vertex at this address, which must be one of those given.
  LocalIndex find(const fem::VertexAddress& address) const;

  /// Values at all vertices here from those at the owned ones. Collective.
  std::vector<Point> gather(std::span<const Point> owned) const;
  /// Adds the contributions at foreign vertices to those of their owners, in rank order, and forgets them.
  /// Collective.
  void add_to_owners(std::vector<Point>& values) const;

  const parallel::Halo& halo() const { return halo_; }

private:
  int rank_ = 0;
  std::size_t num_owned_ = 0;
  std::vector<fem::SurfaceVertex<dim>> data_;
  std::map<fem::VertexAddress, LocalIndex> foreign_;
  parallel::Halo halo_;
};

} // namespace recoil::potentials
