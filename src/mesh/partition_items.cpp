#include "recoil/mesh/partition_items.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "mesh/partition.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::mesh {

namespace {

/// Clusters of a part, if all have the largest work allowed; some hundreds let METIS balance parts and choose
/// where they end. Fewer for very many parts, whose graph one rank still has to hold.
constexpr double clusters_of_a_part = 500, most_clusters = 1e6, least_clusters_of_a_part = 50;
/// Of the Morton curve, per axis.
constexpr int curve_bits = 20;

/// Items of the share along the Morton curve of their places, with the work up to each.
struct Curve {
  std::vector<std::pair<std::uint64_t, std::int32_t>> items; ///< code, item; ascending
  std::vector<double> work_before;                           ///< one more than items

  double work(std::uint64_t begin, std::uint64_t end) const {
    const auto place = [&](std::uint64_t code) {
      return std::ranges::lower_bound(items, std::pair(code, std::int32_t{-1})) - items.begin();
    };
    return work_before[place(end)] - work_before[place(begin)];
  }
};

Curve make_curve(const parallel::Communicator& comm, const ItemShare& share) {
  Eigen::AlignedBox3d box;
  for (std::size_t k = 0; k < share.size; ++k) box.extend(share.box(k));
  Eigen::Vector3d low, high;
  for (int k = 0; k < 3; ++k) {
    low[k] = comm.min(box.min()[k]);
    high[k] = comm.max(box.max()[k]);
  }
  Curve curve;
  for (std::size_t k = 0; k < share.size; ++k) {
    const Eigen::Vector3d place = share.place(k);
    const std::uint64_t code = share.dim == 3
                                   ? geometry::morton_code<3>(place, low, high)
                                   : geometry::morton_code<2>(place.head<2>(), low.head<2>(), high.head<2>());
    curve.items.emplace_back(code, std::int32_t(k));
  }
  std::sort(curve.items.begin(), curve.items.end());
  curve.work_before.assign(1, 0);
  for (const auto& [code, item] : curve.items)
    curve.work_before.push_back(curve.work_before.back() + share.work(item));
  return curve;
}

/// A cube of the octree: a piece of the curve.
struct Cube {
  std::uint64_t begin;
  int level;

  std::uint64_t size(int dim) const { return std::uint64_t{1} << (dim * (curve_bits - level)); }
};

/// The first codes of the largest cubes with at most `largest` work of all ranks, ascending; together they
/// hold all items.
std::vector<std::uint64_t> find_cubes(const parallel::Communicator& comm, const Curve& curve, int dim,
                                      double largest) {
  std::vector<Cube> open{{0, 0}};
  std::vector<std::uint64_t> found;
  while (!open.empty()) {
    std::vector<double> work;
    for (const Cube& cube : open) work.push_back(curve.work(cube.begin, cube.begin + cube.size(dim)));
    comm.sum(std::span(work));
    std::vector<Cube> next;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (work[i] == 0) continue;
      if (work[i] <= largest || open[i].level == curve_bits) {
        found.push_back(open[i].begin);
        continue;
      }
      Cube child{open[i].begin, open[i].level + 1};
      for (int k = 0; k < (1 << dim); ++k, child.begin += child.size(dim)) next.push_back(child);
    }
    open = std::move(next);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// What one rank has of a cluster: the items of a group in a cube.
struct ClusterShare {
  std::int64_t key; ///< number of the cube times number of groups plus group
  double work = 0;
  std::array<double, 6> box{}; ///< low and high corner
};

Eigen::AlignedBox3d box_of(const ClusterShare& cluster) {
  const auto& b = cluster.box;
  return {Eigen::Vector3d(b[0], b[1], b[2]), Eigen::Vector3d(b[3], b[4], b[5])};
}

void extend(ClusterShare& cluster, const Eigen::AlignedBox3d& by) {
  const Eigen::AlignedBox3d box = box_of(cluster).merged(by);
  for (int k = 0; k < 3; ++k) {
    cluster.box[k] = box.min()[k];
    cluster.box[3 + k] = box.max()[k];
  }
}

/// Makes one of those with the same key.
std::vector<ClusterShare> unite(std::vector<ClusterShare> shares) {
  std::ranges::stable_sort(shares, {}, &ClusterShare::key);
  std::vector<ClusterShare> united;
  for (const ClusterShare& share : shares) {
    if (united.empty() || united.back().key != share.key) {
      united.push_back(share);
      continue;
    }
    united.back().work += share.work;
    extend(united.back(), box_of(share));
  }
  return united;
}

/// The key of the cluster of each item.
std::vector<std::int64_t> cluster_keys(const ItemShare& share, const Curve& curve,
                                       const std::vector<std::uint64_t>& cubes) {
  std::vector<std::int64_t> keys(share.size);
  std::size_t cube = 0;
  for (const auto& [code, item] : curve.items) {
    while (cube + 1 < cubes.size() && cubes[cube + 1] <= code) ++cube;
    keys[item] = std::int64_t(cube) * share.num_groups + share.group(item);
  }
  return keys;
}

std::vector<ClusterShare> own_clusters(const ItemShare& share, const std::vector<std::int64_t>& keys) {
  std::vector<std::int64_t> different = keys;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::vector<ClusterShare> clusters;
  std::vector<Eigen::AlignedBox3d> boxes(different.size());
  for (const std::int64_t key : different) clusters.push_back({key});
  for (std::size_t k = 0; k < share.size; ++k) {
    const auto place = std::ranges::lower_bound(different, keys[k]) - different.begin();
    clusters[place].work += share.work(k);
    boxes[place].extend(share.box(k));
  }
  for (std::size_t k = 0; k < clusters.size(); ++k)
    for (int i = 0; i < 3; ++i) {
      clusters[k].box[i] = boxes[k].min()[i];
      clusters[k].box[3 + i] = boxes[k].max()[i];
    }
  return clusters;
}

/// Makes one of those between the same clusters.
std::vector<ClusterEdge> unite(std::vector<ClusterEdge> edges) {
  std::ranges::sort(edges, {}, [](const ClusterEdge& edge) { return std::pair(edge.a, edge.b); });
  std::vector<ClusterEdge> united;
  for (const ClusterEdge& edge : edges) {
    if (united.empty() || united.back().a != edge.a || united.back().b != edge.b)
      united.push_back(edge);
    else
      united.back().connections += edge.connections;
  }
  return united;
}

} // namespace

std::vector<int> partition_items(const parallel::Communicator& comm, const ItemShare& share,
                                 const FindClusterEdges& find_edges) {
  if (comm.size() == 1) return std::vector<int>(share.size, 0);
  const int parts = comm.size();
  const Curve curve = make_curve(comm, share);
  const double clusters =
      parts * std::clamp(most_clusters / parts, least_clusters_of_a_part, clusters_of_a_part);
  const double largest = comm.sum(curve.work_before.back()) / clusters;
  const auto keys = cluster_keys(share, curve, find_cubes(comm, curve, share.dim, largest));

  const auto all = unite(parallel::gather(comm, 0, own_clusters(share, keys)));
  std::vector<std::int64_t> numbered;
  for (const ClusterShare& cluster : all) numbered.push_back(cluster.key);
  comm.broadcast(numbered);
  std::vector<std::int32_t> cluster;
  for (const std::int64_t key : keys)
    cluster.push_back(std::int32_t(std::ranges::lower_bound(numbered, key) - numbered.begin()));
  const auto edges = parallel::gather(comm, 0, unite(find_edges(cluster)));

  std::vector<int> part_of_cluster;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    ClusterGraph graph;
    graph.edges = unite(edges);
    for (const ClusterShare& own : all) {
      graph.boxes.push_back(box_of(own));
      graph.work.push_back(own.work);
    }
    part_of_cluster = partition_clusters(graph, parts);
  });
  comm.broadcast(part_of_cluster);
  std::vector<int> result;
  for (const std::int32_t own : cluster) result.push_back(part_of_cluster[own]);
  return result;
}

} // namespace recoil::mesh
