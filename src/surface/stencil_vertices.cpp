#include "recoil/surface/stencil_vertices.hpp"

#include <algorithm>

namespace recoil::surface {

namespace {

/// The components one after the other.
template <int dim>
std::span<double> flat(std::vector<Eigen::Matrix<double, dim, 1>>& points) {
  return {reinterpret_cast<double*>(points.data()), points.size() * dim};
}

/// `foreign` and the other vertices of the facets around them and around owned vertices, on other ranks.
std::vector<VertexAddress> with_neighbours(int rank, std::span<const VertexAddress> foreign,
                                           const auto& rings_of_owned, const auto& rings_of_foreign) {
  std::vector<VertexAddress> result(foreign.begin(), foreign.end());
  for (const auto* rings : {&rings_of_owned, &rings_of_foreign})
    for (const auto& ring : *rings)
      for (const auto& facet : ring)
        for (const VertexAddress& vertex : {facet.a, facet.b})
          if (vertex.rank != rank) result.push_back(vertex);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace

template <int dim>
StencilVertices<dim>::StencilVertices(const Surface<dim>& surface, std::vector<VertexAddress> foreign)
    : rank_(surface.comm().rank()), num_owned_(surface.num_owned()),
      data_(surface.vertices().begin(), surface.vertices().begin() + surface.num_owned()) {
  // Halo orders what it receives by rank, then as asked for.
  std::sort(foreign.begin(), foreign.end());
  std::vector<std::vector<LocalIndex>> wanted(surface.comm().size());
  for (const VertexAddress& address : foreign) {
    foreign_[address] = static_cast<LocalIndex>(num_owned_ + foreign_.size());
    wanted[address.rank].push_back(address.index);
  }
  halo_ = parallel::Halo(surface.comm(), wanted);
  const auto ghosts = halo_.template forward<SurfaceVertex<dim>>(std::span(data_));
  data_.insert(data_.end(), ghosts.begin(), ghosts.end());
}

template <int dim>
StencilVertices<dim>::StencilVertices(const Surface<dim>& surface, const SurfaceRings<dim>& rings,
                                      std::span<const VertexAddress> foreign) {
  const auto of_foreign = rings.fetch(surface.comm(), foreign);
  *this =
      StencilVertices(surface, with_neighbours(surface.comm().rank(), foreign, rings.owned(), of_foreign));
  rings_.resize(size());
  const auto take = [&](LocalIndex vertex, const auto& ring) {
    for (const auto& facet : ring) rings_[vertex].push_back({find(facet.a), find(facet.b), facet.side});
  };
  for (std::size_t v = 0; v < num_owned_; ++v) take(static_cast<LocalIndex>(v), rings.owned()[v]);
  for (std::size_t k = 0; k < of_foreign.size(); ++k) take(find(foreign[k]), of_foreign[k]);
}

template <int dim>
LocalIndex StencilVertices<dim>::find(const VertexAddress& address) const {
  return address.rank == rank_ ? address.index : foreign_.at(address);
}

template <int dim>
std::vector<typename StencilVertices<dim>::Point>
StencilVertices<dim>::gather(std::span<const Point> owned) const {
  std::vector<Point> all(data_.size());
  std::copy_n(owned.begin(), num_owned_, all.begin());
  const std::span<double> entries = flat<dim>(all);
  halo_.forward(entries.first(num_owned_ * dim), dim, entries.subspan(num_owned_ * dim));
  return all;
}

template <int dim>
void StencilVertices<dim>::add_to_owners(std::vector<Point>& values) const {
  const std::span<double> entries = flat<dim>(values);
  halo_.add_back(entries.subspan(num_owned_ * dim), dim, entries.first(num_owned_ * dim));
  std::fill(values.begin() + num_owned_, values.end(), Point::Zero());
}

template class StencilVertices<2>;
template class StencilVertices<3>;

} // namespace recoil::surface
