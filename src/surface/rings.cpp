#include "recoil/surface/rings.hpp"

#include "recoil/parallel/exchange.hpp"

namespace recoil::surface {

namespace {

using AddressFacet = RingFacet<VertexAddress>;

/// A facet on its way to the owner of one of its vertices.
struct FacetAt {
  AddressFacet facet;
  LocalIndex vertex;
};

} // namespace

template <int dim>
SurfaceRings<dim>::SurfaceRings(const Surface<dim>& surface) : rings_(surface.num_owned()) {
  const parallel::Communicator& comm = surface.comm();
  std::vector<std::vector<FacetAt>> outgoing(comm.size());
  const auto send = [&](LocalIndex vertex, LocalIndex a, LocalIndex b, std::int32_t side) {
    const auto address = [&](LocalIndex v) { return surface.vertices()[v].address; };
    outgoing[address(vertex).rank].push_back({{address(a), address(b), side}, address(vertex).index});
  };
  for (std::size_t k = 0; k < surface.facet_sides().size(); ++k) {
    const std::int32_t side = surface.facet_sides()[k];
    if constexpr (dim == 2) {
      const auto& [a, b] = surface.edges()[k];
      send(a, b, b, side);
      send(b, a, a, -side);
    } else {
      const auto& [a, b, c] = surface.faces()[k];
      send(a, b, c, side);
      send(b, c, a, side);
      send(c, a, b, side);
    }
  }
  for (const auto& from_rank : parallel::exchange(comm, outgoing))
    for (const FacetAt& facet : from_rank) rings_[facet.vertex].push_back(facet.facet);
}

template <int dim>
std::vector<typename SurfaceRings<dim>::Ring>
SurfaceRings<dim>::fetch(const parallel::Communicator& comm, std::span<const VertexAddress> addresses) const {
  if (comm.size() == 1) return {};
  std::vector<std::vector<LocalIndex>> questions(comm.size());
  for (const VertexAddress& address : addresses) questions[address.rank].push_back(address.index);
  const auto asked = parallel::exchange(comm, questions);
  std::vector<std::vector<std::uint32_t>> counts(asked.size());
  std::vector<std::vector<AddressFacet>> facets(asked.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const LocalIndex vertex : asked[rank]) {
      const Ring& ring = rings_[vertex];
      counts[rank].push_back(static_cast<std::uint32_t>(ring.size()));
      facets[rank].insert(facets[rank].end(), ring.begin(), ring.end());
    }
  const auto sizes = parallel::exchange(comm, counts);
  const auto found = parallel::exchange(comm, facets);
  std::vector<std::size_t> next(sizes.size(), 0), begin(sizes.size(), 0);
  std::vector<Ring> rings;
  for (const VertexAddress& address : addresses) {
    const std::size_t rank = address.rank, size = sizes[rank][next[rank]++];
    const auto first = found[rank].begin() + static_cast<std::ptrdiff_t>(begin[rank]);
    rings.emplace_back(first, first + static_cast<std::ptrdiff_t>(size));
    begin[rank] += size;
  }
  return rings;
}

template class SurfaceRings<2>;
template class SurfaceRings<3>;

} // namespace recoil::surface
