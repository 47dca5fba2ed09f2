#include "recoil/mesh/distributed_surfaces.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <Eigen/Geometry>

#include "mesh/partition.hpp"
#include "mesh/surface_share.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::mesh {

namespace {

/// All surfaces as one list, on the first rank: ids of their vertices follow each other.
class SurfaceList {
public:
  explicit SurfaceList(const std::vector<SurfaceMesh>& surfaces) : surfaces_(&surfaces), first_{0} {
    for (const SurfaceMesh& surface : surfaces)
      first_.push_back(first_.back() + std::ssize(surface.vertices));
  }

  GlobalIndex num_vertices() const { return first_.back(); }
  std::int32_t surface_of(GlobalIndex id) const {
    return std::int32_t(std::ranges::upper_bound(first_, id) - first_.begin()) - 1;
  }
  const Eigen::Vector3d& position(GlobalIndex id) const {
    const std::int32_t surface = surface_of(id);
    return (*surfaces_)[surface].vertices[id - first_[surface]];
  }
  template <class Visit>
  void for_each_triangle(const Visit& visit) const {
    for_each(&SurfaceMesh::triangles, visit);
  }
  template <class Visit>
  void for_each_free_edge(const Visit& visit) const {
    for_each(&SurfaceMesh::edges, visit);
  }
  /// What they are in a parcel, without the copies of other ranks.
  std::size_t bytes() const {
    std::size_t bytes = num_vertices() * sizeof(SurfaceVertexRecord);
    for (const SurfaceMesh& surface : *surfaces_)
      bytes += (3 * surface.triangles.size() + 2 * surface.edges.size()) * sizeof(GlobalIndex);
    return bytes;
  }
  double extent() const {
    Eigen::AlignedBox3d box;
    for (const SurfaceMesh& surface : *surfaces_)
      for (const Eigen::Vector3d& p : surface.vertices) box.extend(p);
    return box.isEmpty() ? 0 : box.diagonal().norm();
  }

private:
  /// Calls visit(ids) in the order of the files.
  template <std::size_t n, class Visit>
  void for_each(std::vector<std::array<std::int32_t, n>> SurfaceMesh::*primitives, const Visit& visit) const {
    for (std::size_t s = 0; s < surfaces_->size(); ++s)
      for (const auto& primitive : (*surfaces_)[s].*primitives) {
        std::array<GlobalIndex, n> ids;
        for (std::size_t i = 0; i < n; ++i) ids[i] = first_[s] + primitive[i];
        visit(ids);
      }
  }

  const std::vector<SurfaceMesh>* surfaces_;
  std::vector<GlobalIndex> first_; ///< id of the first vertex of each, then how many there are
};

std::vector<int> parts_of_graph(int num_ranks, const SurfaceList& list) {
  std::vector<Eigen::Vector3d> points;
  for (GlobalIndex id = 0; id < list.num_vertices(); ++id) points.push_back(list.position(id));
  std::vector<std::array<GlobalIndex, 2>> edges;
  const auto add = [&](GlobalIndex a, GlobalIndex b) { edges.push_back({std::min(a, b), std::max(a, b)}); };
  list.for_each_triangle([&](const auto& v) {
    for (std::size_t i = 0; i < 3; ++i) add(v[i], v[(i + 1) % 3]);
  });
  list.for_each_free_edge([&](const auto& v) { add(v[0], v[1]); });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return partition_vertices(points, edges, num_ranks);
}

/// Who owns each vertex, and its number there.
struct Owners {
  std::vector<std::int32_t> rank, index;
};

/// Numbers the vertices of each rank along the Morton curve.
/// @param parts owner of each vertex; empty: equal blocks along the curve.
template <int dim>
Owners assign_owners(int num_ranks, const std::vector<int>& parts, const SurfaceList& list) {
  using Point = Eigen::Matrix<double, dim, 1>;
  const std::size_t size = list.num_vertices();
  const auto place = [&](std::size_t id) -> Point {
    return list.position(GlobalIndex(id)).template head<dim>();
  };
  Eigen::AlignedBox<double, dim> box;
  for (std::size_t id = 0; id < size; ++id) box.extend(place(id));
  std::vector<std::tuple<std::uint64_t, std::size_t>> order;
  order.reserve(size);
  for (std::size_t id = 0; id < size; ++id)
    order.emplace_back(geometry::morton_code<dim>(place(id), box.min(), box.max()), id);
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> count(num_ranks, 0);
  Owners owners{std::vector<std::int32_t>(size), std::vector<std::int32_t>(size)};
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t id = std::get<1>(order[k]);
    owners.rank[id] = parts.empty() ? static_cast<std::int32_t>(k * num_ranks / size) : parts[id];
    owners.index[id] = count[owners.rank[id]]++;
  }
  return owners;
}

/// What the ranks [begin, end) get; entries of others stay empty.
std::vector<SurfaceParcel> pack(int num_ranks, int begin, int end, const SurfaceList& list,
                                const Owners& owners) {
  std::vector<SurfaceParcel> parcels(num_ranks);
  std::vector<std::vector<GlobalIndex>> needed(num_ranks);
  const auto is_packed = [&](int rank) { return rank >= begin && rank < end; };
  const auto add = [&](const auto& ids, auto member) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const int rank = owners.rank[ids[i]];
      const auto is_rank = [&](GlobalIndex id) { return owners.rank[id] == rank; };
      if (!is_packed(rank) || std::any_of(ids.begin(), ids.begin() + std::ptrdiff_t(i), is_rank)) continue;
      (parcels[rank].*member).push_back(ids);
      for (const GlobalIndex id : ids)
        if (!is_rank(id)) needed[rank].push_back(id);
    }
  };
  list.for_each_triangle([&](const auto& ids) { add(ids, &SurfaceParcel::triangles); });
  list.for_each_free_edge([&](const auto& ids) { add(ids, &SurfaceParcel::edges); });
  for (GlobalIndex id = 0; id < list.num_vertices(); ++id)
    if (is_packed(owners.rank[id])) needed[owners.rank[id]].push_back(id);
  for (int rank = begin; rank < end; ++rank) {
    auto& ids = needed[rank];
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    parcels[rank].vertices.reserve(ids.size());
    for (const GlobalIndex id : ids) {
      const Eigen::Vector3d& p = list.position(id);
      parcels[rank].vertices.push_back(
          {{p.x(), p.y(), p.z()}, id, owners.rank[id], owners.index[id], list.surface_of(id)});
    }
    ids = {};
  }
  return parcels;
}

/// What this rank gets of what the first one has packed. Collective.
template <class Item>
std::vector<Item> receive(const parallel::Communicator& comm, std::vector<SurfaceParcel>& parcels,
                          std::vector<Item> SurfaceParcel::*member) {
  std::vector<std::vector<Item>> outgoing(comm.size());
  std::vector<Item> own;
  for (std::size_t rank = 0; rank < parcels.size(); ++rank)
    (rank == 0 ? own : outgoing[rank]) = std::move(parcels[rank].*member);
  auto received = parallel::exchange(comm, outgoing);
  return comm.rank() == 0 ? std::move(own) : std::move(received[0]);
}

/// The first rank packs for some ranks at a time, so that it holds parcels of about `bytes_at_once`, and of
/// large lists an eighth: each time it goes through the whole list. Collective.
SurfaceParcel receive_parcel(const parallel::Communicator& comm, const SurfaceList& list,
                             const Owners& owners, std::size_t bytes_at_once) {
  constexpr GlobalIndex most_rounds = 8;
  const GlobalIndex asked = comm.max(GlobalIndex(list.bytes() / std::max<std::size_t>(bytes_at_once, 1) + 1));
  const GlobalIndex rounds = std::min({GlobalIndex(comm.size()), asked, most_rounds});
  SurfaceParcel mine;
  for (GlobalIndex round = 0; round < rounds; ++round) {
    const int begin = int(comm.size() * round / rounds), end = int(comm.size() * (round + 1) / rounds);
    auto parcels = parallel::collectively(comm, [&] {
      return comm.rank() == 0 ? pack(comm.size(), begin, end, list, owners) : std::vector<SurfaceParcel>();
    });
    SurfaceParcel part{receive(comm, parcels, &SurfaceParcel::vertices),
                       receive(comm, parcels, &SurfaceParcel::triangles),
                       receive(comm, parcels, &SurfaceParcel::edges)};
    if (comm.rank() >= begin && comm.rank() < end) mine = std::move(part);
  }
  return mine;
}

} // namespace

template <int dim>
DistributedSurfaces<dim> distribute_surfaces(const parallel::Communicator& comm,
                                             const std::vector<SurfaceMesh>& surfaces,
                                             SurfacePartition partition, std::size_t bytes_at_once) {
  const bool is_first = comm.rank() == 0;
  const std::vector<SurfaceMesh> none;
  const SurfaceList list(is_first ? surfaces : none);
  const auto owners = parallel::collectively(comm, [&] {
    if (!is_first) return Owners();
    const bool by_graph = partition == SurfacePartition::graph;
    return assign_owners<dim>(comm.size(), by_graph ? parts_of_graph(comm.size(), list) : std::vector<int>(),
                              list);
  });
  SurfaceParcel parcel = receive_parcel(comm, list, owners, bytes_at_once);
  DistributedSurfaces<dim> share = make_share<dim>(comm, std::move(parcel), comm.max(list.extent()));
  share.num_vertices_global = comm.max(list.num_vertices());
  if (is_first)
    for (const SurfaceMesh& surface : surfaces) {
      share.names.push_back(surface.name);
      share.surface_ids.push_back(surface.surface_id);
    }
  comm.broadcast(share.names);
  comm.broadcast(share.surface_ids);
  return share;
}

template DistributedSurfaces<2> distribute_surfaces(const parallel::Communicator&,
                                                    const std::vector<SurfaceMesh>&, SurfacePartition,
                                                    std::size_t);
template DistributedSurfaces<3> distribute_surfaces(const parallel::Communicator&,
                                                    const std::vector<SurfaceMesh>&, SurfacePartition,
                                                    std::size_t);

} // namespace recoil::mesh
