#include "potentials/contact/surface_primitives.hpp"

#include <algorithm>

#include "recoil/geometry/box_tree.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::potentials {

namespace {

struct Request {
  std::int32_t set;
  LocalIndex index;
};

/// Calls visit(number of the primitive, its vertices) for the owned primitives of a set.
template <int dim, class Visit>
void for_each_primitive(const surface::Surface<dim>& surface, int set, const Visit& visit) {
  const auto all = [&](const auto& primitives) {
    for (std::size_t i = 0; i < primitives.size(); ++i)
      visit(LocalIndex(i), std::span<const LocalIndex>(primitives[i]));
  };
  if (set == 1) all(surface.edges());
  if (set == 2) all(surface.faces());
  for (LocalIndex v = 0; set == 0 && v < surface.num_owned(); ++v)
    visit(v, std::span<const LocalIndex>(&v, 1));
}

/// Adds the primitives of a set that are `wanted(is of an obstacle, box)`, with their numbers if these are
/// kept.
template <int dim, class Wanted>
void add_items(const surface::Surface<dim>& surface, int set, const std::vector<collide::Box<dim>>& boxes,
               const Wanted& wanted, collide::ItemSet<dim>& items, std::vector<LocalIndex>* numbers) {
  for_each_primitive(surface, set, [&](LocalIndex number, std::span<const LocalIndex> vertices) {
    collide::Box<dim> box;
    for (const LocalIndex v : vertices) box.extend(boxes[v]);
    const std::int32_t body = surface.vertices()[vertices[0]].body;
    if (!wanted(surface.is_obstacle(body), box)) return;
    std::array<GlobalIndex, 3> labels{-1, -1, -1};
    for (std::size_t i = 0; i < vertices.size(); ++i) labels[i] = surface.vertices()[vertices[i]].id;
    items.boxes.push_back(box);
    items.labels.push_back(labels);
    items.groups.push_back(body);
    if (numbers) numbers->push_back(number);
  });
}

/// What is around the bodies of all ranks where this rank has obstacles: of many ranks few are there.
template <int dim>
class AroundBodies {
  using Box = collide::Box<dim>;

public:
  /// @param all around the bodies of all ranks, @param here around the obstacles of this rank.
  AroundBodies(const std::vector<Box>& all, const Box& here) : tree_(near(all, here)) {}

  /// Whether anything is there; true where a box is no box, of which the search tells.
  bool may_meet(const Box& box) const {
    return !(box.min().array() <= box.max().array()).all() || tree_.meets(in_space(box));
  }

private:
  static Eigen::AlignedBox3d in_space(const Box& box) {
    Eigen::Vector3d low = Eigen::Vector3d::Zero(), high = low;
    low.head<dim>() = box.min();
    high.head<dim>() = box.max();
    return {low, high};
  }
  static std::vector<Eigen::AlignedBox3d> near(const std::vector<Box>& all, const Box& here) {
    std::vector<Eigen::AlignedBox3d> boxes;
    for (const Box& box : all)
      if (box.intersects(here)) boxes.push_back(in_space(box));
    return boxes;
  }

  geometry::BoxTree tree_;
};

/// Around the obstacles that this rank knows.
template <int dim>
collide::Box<dim> around_obstacles(const surface::Surface<dim>& surface,
                                   const std::vector<collide::Box<dim>>& vertex_boxes) {
  collide::Box<dim> around;
  for (LocalIndex v = 0; v < surface.num_vertices(); ++v)
    if (surface.is_obstacle(surface.vertices()[v].body)) around.extend(vertex_boxes[v]);
  return around;
}

} // namespace

template <int dim>
PrimitiveItems<dim> find_items(const surface::Surface<dim>& surface, std::span<const int> sets,
                               const std::vector<collide::Box<dim>>& vertex_boxes, GlobalIndex sieve_from) {
  PrimitiveItems<dim> items;
  if (surface.num_vertices_beside_bodies() < sieve_from) {
    const auto any = [](bool, const collide::Box<dim>&) { return true; };
    for (const int set : sets) add_items<dim>(surface, set, vertex_boxes, any, items.sets[set], nullptr);
    return items;
  }
  const auto add = [&](const auto& wanted) {
    for (const int set : sets)
      add_items<dim>(surface, set, vertex_boxes, wanted, items.sets[set], &items.primitives[set]);
  };
  add([](bool of_obstacle, const collide::Box<dim>&) { return !of_obstacle; });
  const AroundBodies<dim> bodies(collide::boxes_around<dim>(surface.comm(), items.sets),
                                 around_obstacles(surface, vertex_boxes));
  add([&](bool of_obstacle, const collide::Box<dim>& box) { return of_obstacle && bodies.may_meet(box); });
  return items;
}

template <int dim>
RemotePrimitives<dim>::RemotePrimitives(const surface::Surface<dim>& surface,
                                        const PrimitiveItems<dim>& items,
                                        const std::vector<std::vector<collide::RemoteItem>>& remote)
    : surface_(&surface), items_(&items) {
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
Primitive RemotePrimitives<dim>::own(int set, std::int32_t index) const {
  const std::vector<LocalIndex>& numbers = items_->primitives[set];
  const LocalIndex i = numbers.empty() ? index : numbers[index];
  Primitive result{};
  const auto add = [&](LocalIndex vertex) {
    result.vertices[result.num_vertices++] = surface_->vertices()[vertex].address;
  };
  if (set == 0) {
    add(i);
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

template PrimitiveItems<2> find_items(const surface::Surface<2>&, std::span<const int>,
                                      const std::vector<collide::Box<2>>&, GlobalIndex);
template PrimitiveItems<3> find_items(const surface::Surface<3>&, std::span<const int>,
                                      const std::vector<collide::Box<3>>&, GlobalIndex);
template class RemotePrimitives<2>;
template class RemotePrimitives<3>;

} // namespace recoil::potentials
