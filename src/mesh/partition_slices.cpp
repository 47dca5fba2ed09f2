#include <algorithm>
#include <array>
#include <utility>

#include <Eigen/Geometry>

#include "mesh/facet_entries.hpp"
#include "mesh/meet_keys.hpp"
#include "mesh/partition.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/mesh/sliced_mesh.hpp"

namespace recoil::mesh {

namespace {

/// Clusters of a part, if all have the largest work allowed; some hundreds let METIS balance parts and choose
/// where they end. Fewer for very many parts, whose graph one rank still has to hold.
constexpr double clusters_of_a_part = 500, most_clusters = 1e6, least_clusters_of_a_part = 50;
/// Of the Morton curve, per axis.
constexpr int curve_bits = 20;

/// Cells of the share along the Morton curve of their barycentres, with the work up to each.
struct Curve {
  std::vector<std::pair<std::uint64_t, std::int32_t>> cells; ///< code, cell; ascending
  std::vector<double> work_before;                           ///< one more than cells

  double work(std::uint64_t begin, std::uint64_t end) const {
    const auto place = [&](std::uint64_t code) {
      return std::ranges::lower_bound(cells, std::pair(code, std::int32_t{-1})) - cells.begin();
    };
    return work_before[place(end)] - work_before[place(begin)];
  }
};

int work_of_cell(const SimplexMesh& mesh, std::size_t cell, const PartitionOptions& options) {
  return options.body_weights.empty() ? 1 : options.body_weights[mesh.cell_body[cell]];
}

Eigen::Vector3d barycentre(const SimplexMesh& mesh, std::size_t cell) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int i = 0; i <= mesh.dim; ++i) sum += mesh.vertices[mesh.cells[cell][i]];
  return sum / (mesh.dim + 1);
}

Curve make_curve(const parallel::Communicator& comm, const SimplexMesh& mesh,
                 const PartitionOptions& options) {
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& vertex : mesh.vertices) box.extend(vertex);
  Eigen::Vector3d low, high;
  for (int k = 0; k < 3; ++k) {
    low[k] = comm.min(box.min()[k]);
    high[k] = comm.max(box.max()[k]);
  }
  Curve curve;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const Eigen::Vector3d centre = barycentre(mesh, c);
    const std::uint64_t code =
        mesh.dim == 3 ? geometry::morton_code<3>(centre, low, high)
                      : geometry::morton_code<2>(centre.head<2>(), low.head<2>(), high.head<2>());
    curve.cells.emplace_back(code, std::int32_t(c));
  }
  std::sort(curve.cells.begin(), curve.cells.end());
  curve.work_before.assign(1, 0);
  for (const auto& [code, cell] : curve.cells)
    curve.work_before.push_back(curve.work_before.back() + work_of_cell(mesh, cell, options));
  return curve;
}

/// A cube of the octree: a piece of the curve.
struct Cube {
  std::uint64_t begin;
  int level;

  std::uint64_t size(int dim) const { return std::uint64_t{1} << (dim * (curve_bits - level)); }
};

/// The first codes of the largest cubes with at most `largest` work of all ranks, ascending; together they
/// hold all cells.
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

/// What one rank has of a cluster: the cells of a body in a cube.
struct ClusterShare {
  std::int64_t key; ///< number of the cube times number of bodies plus body
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

/// The key of the cluster of each cell.
std::vector<std::int64_t> cluster_keys(const SimplexMesh& mesh, const Curve& curve,
                                       const std::vector<std::uint64_t>& cubes) {
  std::vector<std::int64_t> keys(mesh.cells.size());
  std::size_t cube = 0;
  for (const auto& [code, cell] : curve.cells) {
    while (cube + 1 < cubes.size() && cubes[cube + 1] <= code) ++cube;
    keys[cell] = std::int64_t(cube) * std::ssize(mesh.body_names) + mesh.cell_body[cell];
  }
  return keys;
}

std::vector<ClusterShare> own_clusters(const SimplexMesh& mesh, const std::vector<std::int64_t>& keys,
                                       const PartitionOptions& options) {
  std::vector<std::int64_t> different = keys;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::vector<ClusterShare> clusters;
  std::vector<Eigen::AlignedBox3d> boxes(different.size());
  for (const std::int64_t key : different) clusters.push_back({key});
  for (std::size_t c = 0; c < keys.size(); ++c) {
    const auto place = std::ranges::lower_bound(different, keys[c]) - different.begin();
    clusters[place].work += work_of_cell(mesh, c, options);
    for (int i = 0; i <= mesh.dim; ++i) boxes[place].extend(mesh.vertices[mesh.cells[c][i]]);
  }
  for (std::size_t k = 0; k < clusters.size(); ++k)
    for (int i = 0; i < 3; ++i) {
      clusters[k].box[i] = boxes[k].min()[i];
      clusters[k].box[3 + i] = boxes[k].max()[i];
    }
  return clusters;
}

/// A facet of a cell here that has its other cell on another rank.
struct HalfFacet {
  std::array<std::int32_t, 3> vertices; ///< ascending
  std::int32_t cluster;

  auto operator<=>(const HalfFacet&) const = default;
};

/// Pairs of clusters, once for every facet between them.
using Contacts = std::vector<std::array<std::int32_t, 2>>;

void add_contact(std::int32_t a, std::int32_t b, Contacts& contacts) {
  if (a != b) contacts.push_back({std::min(a, b), std::max(a, b)});
}

Contacts find_contacts(const parallel::Communicator& comm, const SlicedMesh& mesh,
                       const std::vector<std::int32_t>& cluster) {
  const SimplexMesh& share = mesh.share;
  Contacts contacts;
  const Blocks blocks{mesh.num_vertices, comm.size()};
  std::vector<std::vector<HalfFacet>> halves(comm.size());
  for_each_facet(share.cells, share.vertices.size(), share.dim, [&](std::span<const FacetEntry> cells) {
    const std::int32_t c = cells[0].reference / 4, local = cells[0].reference % 4;
    if (cells.size() > 1) return add_contact(cluster[c], cluster[cells[1].reference / 4], contacts);
    if (share.facet_ids[c][local] != interior_facet) return;
    HalfFacet half{sorted_vertices(share.cells[c], local, share.dim), cluster[c]};
    for (int i = 0; i < share.dim; ++i) half.vertices[i] = mesh.vertex_ids[half.vertices[i]];
    halves[blocks.of(half.vertices[0])].push_back(half);
  });
  std::vector<HalfFacet> met;
  for (const auto& part : parallel::exchange(comm, halves)) met.insert(met.end(), part.begin(), part.end());
  std::sort(met.begin(), met.end());
  for (std::size_t k = 1; k < met.size(); ++k)
    if (met[k].vertices == met[k - 1].vertices) add_contact(met[k - 1].cluster, met[k].cluster, contacts);
  return contacts;
}

std::vector<ClusterGraph::Edge> count_facets(Contacts contacts) {
  std::sort(contacts.begin(), contacts.end());
  std::vector<ClusterGraph::Edge> edges;
  for (const auto& [a, b] : contacts) {
    if (edges.empty() || edges.back().a != a || edges.back().b != b) edges.push_back({a, b, 0});
    ++edges.back().facets;
  }
  return edges;
}

/// Edges that several ranks have found parts of.
std::vector<ClusterGraph::Edge> unite(std::vector<ClusterGraph::Edge> edges) {
  std::ranges::sort(edges, {}, [](const ClusterGraph::Edge& edge) { return std::pair(edge.a, edge.b); });
  std::vector<ClusterGraph::Edge> united;
  for (const ClusterGraph::Edge& edge : edges) {
    if (united.empty() || united.back().a != edge.a || united.back().b != edge.b)
      united.push_back(edge);
    else
      united.back().facets += edge.facets;
  }
  return united;
}

} // namespace

std::vector<int> partition_slices(const parallel::Communicator& comm, const SlicedMesh& mesh,
                                  const PartitionOptions& options) {
  const SimplexMesh& share = mesh.share;
  if (comm.size() == 1) return std::vector<int>(share.cells.size(), 0);
  const int parts = comm.size();
  const Curve curve = make_curve(comm, share, options);
  const double clusters =
      parts * std::clamp(most_clusters / parts, least_clusters_of_a_part, clusters_of_a_part);
  const double largest = comm.sum(curve.work_before.back()) / clusters;
  const auto keys = cluster_keys(share, curve, find_cubes(comm, curve, share.dim, largest));

  const auto all = unite(parallel::gather(comm, 0, own_clusters(share, keys, options)));
  std::vector<std::int64_t> numbered;
  for (const ClusterShare& cluster : all) numbered.push_back(cluster.key);
  comm.broadcast(numbered);
  std::vector<std::int32_t> cluster;
  for (const std::int64_t key : keys)
    cluster.push_back(std::int32_t(std::ranges::lower_bound(numbered, key) - numbered.begin()));
  const auto edges = parallel::gather(comm, 0, count_facets(find_contacts(comm, mesh, cluster)));

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
