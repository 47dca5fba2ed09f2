#include "potentials/contact/surface_primitives.hpp"

#include <algorithm>

#include "recoil/parallel/exchange.hpp"

namespace recoil::potentials {

namespace {

struct Request {
  std::int32_t set;
  LocalIndex index;
};

} // namespace

template <int dim>
RemotePrimitives<dim>::RemotePrimitives(const surface::Surface<dim>& surface,
                                        const std::vector<std::vector<collide::RemoteItem>>& remote)
    : surface_(&surface) {
  const parallel::Communicator& comm = surface.comm();
  if (comm.size() == 1) return;
  std::vector<std::vector<Request>> requests(comm.size());
  for (std::int32_t set = 0; set < std::ssize(remote); ++set)
    for (const collide::RemoteItem& item : remote[set]) requests[item.rank].push_back({set, item.index});
  const auto asked = parallel::exchange(comm, requests);
  std::vector<std::vector<Primitive>> answers(asked.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const Request& request : asked[rank]) answers[rank].push_back(own(request.set, request.index));
  const auto received = parallel::exchange(comm, answers);
  // Items are sorted by rank within each set, and requests keep their order.
  std::vector<std::size_t> next(received.size(), 0);
  for (std::size_t set = 0; set < remote.size(); ++set)
    for (const collide::RemoteItem& item : remote[set]) {
      const std::size_t rank = item.rank;
      fetched_[set].push_back(received[rank][next[rank]++]);
    }
}

template <int dim>
std::size_t RemotePrimitives<dim>::num_own(int set) const {
  if (set == 0) return surface_->num_owned();
  return set == 1 ? surface_->edges().size() : surface_->faces().size();
}

template <int dim>
Primitive RemotePrimitives<dim>::own(int set, std::int32_t index) const {
  const std::size_t i = index;
  Primitive result{};
  const auto add = [&](LocalIndex vertex) {
    result.vertices[result.num_vertices++] = surface_->vertices()[vertex].address;
  };
  if (set == 0) {
    add(index);
  } else if (set == 1) {
    for (const LocalIndex vertex : surface_->edges()[i]) add(vertex);
    result.area = surface_->edge_areas()[i];
    result.flat_edges = surface_->edge_is_flat()[i] != 0 ? 1 : 0;
  } else {
    for (const LocalIndex vertex : surface_->faces()[i]) add(vertex);
    result.edge_faces = surface_->edge_faces()[i];
    result.flat_edges = surface_->face_flat_edges()[i];
  }
  return result;
}

template <int dim>
Primitive RemotePrimitives<dim>::primitive(int set, std::int32_t index) const {
  const std::size_t i = index;
  return i < num_own(set) ? own(set, index) : fetched_[set][i - num_own(set)];
}

template <int dim>
std::vector<surface::VertexAddress>
RemotePrimitives<dim>::foreign_vertices(const collide::Candidates& found,
                                        std::span<const collide::SetPair> which) const {
  std::vector<surface::VertexAddress> foreign;
  const int rank = surface_->comm().rank();
  const auto add = [&](const Primitive& primitive) {
    for (std::size_t i = 0; i < primitive.num_vertices; ++i)
      if (primitive.vertices[i].rank != rank) foreign.push_back(primitive.vertices[i]);
  };
  for (std::size_t k = 0; k < which.size(); ++k)
    for (const auto& pair : found.pairs[k]) {
      add(primitive(which[k].first, pair[0]));
      add(primitive(which[k].second, pair[1]));
    }
  std::sort(foreign.begin(), foreign.end());
  foreign.erase(std::unique(foreign.begin(), foreign.end()), foreign.end());
  return foreign;
}

template class RemotePrimitives<2>;
template class RemotePrimitives<3>;

} // namespace recoil::potentials
