#include "mesh/partition.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include <Eigen/Geometry>
#include <metis.h>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/base/union_find.hpp"
#include "recoil/geometry/morton.hpp"

namespace recoil::mesh {

namespace {

/// Weights of edges: cutting a body sends copies in every product, cutting between two bodies only where they
/// touch.
constexpr idx_t neighbour_weight = 8, link_weight = 1;

/// Cells or vertices in which neighbours should stay together; without weights all neighbours count the same.
struct Graph {
  std::vector<idx_t> offsets, neighbours, weights;
  std::size_t size() const { return offsets.size() - 1; }
};

void check_metis(int status, const char* call) {
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK)
    throw LibraryError(std::string("METIS: ") + call + " failed with status " + std::to_string(status));
}

/// The first member of the connected component of each member.
std::vector<idx_t> components(const Graph& graph) {
  const auto size = static_cast<idx_t>(graph.size());
  UnionFind<idx_t> sets(size);
  for (idx_t member = 0; member < size; ++member)
    for (idx_t k = graph.offsets[member]; k < graph.offsets[member + 1]; ++k)
      sets.unite(member, graph.neighbours[k]);
  std::vector<idx_t> first(size);
  for (idx_t member = 0; member < size; ++member) first[member] = sets.root(member);
  return first;
}

/// Members of different components, given by their boxes, that follow each other on one of dim + 1
/// space-filling curves, shifted against each other so that near ones are neighbours on some of them; each
/// both ways, sorted, once for every curve. The first curve reaches every component; from the others come
/// only members that are closer than their sizes together, because curves jump.
template <int dim>
std::vector<std::array<idx_t, 2>> links(const std::vector<Eigen::AlignedBox<double, dim>>& boxes,
                                        const std::vector<idx_t>& component) {
  Eigen::AlignedBox<double, dim> all;
  for (const auto& box : boxes) all.extend(box);
  const auto near = [&](std::size_t a, std::size_t b) {
    return (boxes[a].center() - boxes[b].center()).norm() <=
           boxes[a].sizes().maxCoeff() + boxes[b].sizes().maxCoeff();
  };
  const double extent = all.sizes().maxCoeff();
  std::vector<std::array<idx_t, 2>> result;
  std::vector<std::pair<std::uint64_t, idx_t>> curve(boxes.size());
  for (int shift = 0; shift <= dim; ++shift) {
    const Eigen::Vector<double, dim> low = all.min().array() - extent * shift / (dim + 1);
    const Eigen::Vector<double, dim> high = low.array() + 2 * extent;
    for (idx_t i = 0; i < std::ssize(boxes); ++i)
      curve[i] = {geometry::morton_code<dim>(boxes[i].center(), low, high), i};
    std::sort(curve.begin(), curve.end());
    for (std::size_t i = 1; i < curve.size(); ++i) {
      const idx_t a = curve[i - 1].second, b = curve[i].second;
      if (component[a] == component[b] || (shift > 0 && !near(a, b))) continue;
      result.push_back({a, b});
      result.push_back({b, a});
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The graph with weights and with links between components that are close to each other: without, METIS
/// would distribute them without regard to where they lie.
template <int dim>
Graph linked(const Graph& graph, const std::vector<Eigen::AlignedBox<double, dim>>& boxes,
             const std::vector<idx_t>& component) {
  const auto added = links<dim>(boxes, component);
  Graph result;
  result.offsets.push_back(0);
  auto link = added.begin();
  for (idx_t member = 0; member < std::ssize(boxes); ++member) {
    for (idx_t k = graph.offsets[member]; k < graph.offsets[member + 1]; ++k) {
      result.neighbours.push_back(graph.neighbours[k]);
      result.weights.push_back(neighbour_weight * (graph.weights.empty() ? 1 : graph.weights[k]));
    }
    const std::size_t first = result.neighbours.size();
    for (; link != added.end() && (*link)[0] == member; ++link) {
      if (result.neighbours.size() > first && result.neighbours.back() == (*link)[1]) {
        result.weights.back() += link_weight;
        continue;
      }
      result.neighbours.push_back((*link)[1]);
      result.weights.push_back(link_weight);
    }
    result.offsets.push_back(std::ssize(result.neighbours));
  }
  return result;
}

/// @param boxes of the members, called where the graph falls apart
template <int dim>
std::vector<int> k_way(Graph graph, int num_parts, std::span<const int> weights, const auto& boxes) {
  const std::vector<idx_t> component = components(graph);
  if (std::ranges::any_of(component, [](idx_t first) { return first != 0; }))
    graph = linked<dim>(graph, boxes(), component);
  std::vector<idx_t> own_weights(weights.begin(), weights.end()), parts(graph.size());
  idx_t members = graph.size(), constraints = 1, metis_parts = num_parts, cut = 0;
  const DeferredSignals deferred;
  check_metis(METIS_PartGraphKway(&members, &constraints, graph.offsets.data(), graph.neighbours.data(),
                                  own_weights.empty() ? nullptr : own_weights.data(), nullptr,
                                  graph.weights.empty() ? nullptr : graph.weights.data(), &metis_parts,
                                  nullptr, nullptr, nullptr, &cut, parts.data()),
              "METIS_PartGraphKway");
  return {parts.begin(), parts.end()};
}

void require_indices(std::int64_t count, const char* what) {
  if (count > std::numeric_limits<idx_t>::max())
    throw InputError("mesh", std::string("too many ") + what +
                                 " for the integers of this METIS; build METIS with IDXTYPEWIDTH 64");
}

/// Cells that share a facet.
Graph dual_graph(const SimplexMesh& mesh) {
  const int corners = mesh.dim + 1;
  idx_t num_cells = mesh.cells.size(), num_vertices = mesh.vertices.size();
  std::vector<idx_t> cell_offsets(mesh.cells.size() + 1), cell_vertices(mesh.cells.size() * corners);
  for (idx_t cell = 0; cell < num_cells; ++cell) {
    cell_offsets[cell + 1] = (cell + 1) * corners;
    for (int i = 0; i < corners; ++i) cell_vertices[cell * corners + i] = mesh.cells[cell][i];
  }
  const DeferredSignals deferred;
  idx_t *offsets = nullptr, *neighbours = nullptr, common = mesh.dim, numbering = 0;
  check_metis(METIS_MeshToDual(&num_cells, &num_vertices, cell_offsets.data(), cell_vertices.data(), &common,
                               &numbering, &offsets, &neighbours),
              "METIS_MeshToDual");
  const std::unique_ptr<idx_t, int (*)(void*)> first(offsets, METIS_Free), second(neighbours, METIS_Free);
  return {{offsets, offsets + num_cells + 1}, {neighbours, neighbours + offsets[num_cells]}, {}};
}

/// By which METIS's integers hold the sum of `total`, with room for what it adds up.
double divisor_for(double total) { return std::max(1.0, total / (1 << 26)); }

std::vector<int> scaled_work(const ClusterGraph& clusters) {
  const double divisor = divisor_for(std::accumulate(clusters.work.begin(), clusters.work.end(), 0.0));
  std::vector<int> work;
  for (const double own : clusters.work) work.push_back(std::max(1, int(own / divisor)));
  return work;
}

Graph graph_of(const ClusterGraph& clusters) {
  double connections = 0;
  for (const ClusterEdge& edge : clusters.edges) connections += double(edge.connections);
  const double divisor = divisor_for(2.0 * neighbour_weight * connections);
  Graph graph;
  graph.offsets.assign(clusters.boxes.size() + 1, 0);
  for (const ClusterEdge& edge : clusters.edges) {
    ++graph.offsets[edge.a + 1];
    ++graph.offsets[edge.b + 1];
  }
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.neighbours.resize(graph.offsets.back());
  graph.weights.resize(graph.offsets.back());
  std::vector<idx_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (const ClusterEdge& edge : clusters.edges)
    for (const auto& [from, to] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
      graph.weights[next[from]] = std::max(1, int(double(edge.connections) / divisor));
      graph.neighbours[next[from]++] = to;
    }
  return graph;
}

template <int dim>
std::vector<Eigen::AlignedBox<double, dim>> boxes_of_cells(const SimplexMesh& mesh) {
  std::vector<Eigen::AlignedBox<double, dim>> boxes;
  for (const auto& cell : mesh.cells) {
    auto& box = boxes.emplace_back();
    for (std::size_t i = 0; i <= dim; ++i) box.extend(mesh.vertices[cell[i]].template head<dim>());
  }
  return boxes;
}

} // namespace

std::vector<int> partition_cells(const SimplexMesh& mesh, int num_parts, std::span<const int> weights) {
  if (num_parts == 1) return std::vector<int>(mesh.cells.size(), 0);
  require_indices(std::ssize(mesh.cells) * (mesh.dim + 1), "cells");
  if (mesh.dim == 2)
    return k_way<2>(dual_graph(mesh), num_parts, weights, [&] { return boxes_of_cells<2>(mesh); });
  return k_way<3>(dual_graph(mesh), num_parts, weights, [&] { return boxes_of_cells<3>(mesh); });
}

std::vector<int> partition_clusters(const ClusterGraph& clusters, int num_parts) {
  if (num_parts == 1) return std::vector<int>(clusters.boxes.size(), 0);
  require_indices(2 * std::ssize(clusters.edges), "clusters");
  return k_way<3>(graph_of(clusters), num_parts, scaled_work(clusters), [&] { return clusters.boxes; });
}

std::vector<int> partition_vertices(const std::vector<Eigen::Vector3d>& points,
                                    std::span<const std::array<GlobalIndex, 2>> edges, int num_parts) {
  if (num_parts == 1) return std::vector<int>(points.size(), 0);
  std::vector<int> one_each(points.size());
  std::iota(one_each.begin(), one_each.end(), 0);
  if (std::cmp_less_equal(points.size(), num_parts)) return one_each;
  require_indices(2 * std::ssize(edges), "edges");
  Graph graph;
  graph.offsets.assign(points.size() + 1, 0);
  for (const auto& edge : edges)
    for (const GlobalIndex vertex : edge) ++graph.offsets[vertex + 1];
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.neighbours.resize(2 * edges.size());
  std::vector<idx_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (const auto& [a, b] : edges) {
    graph.neighbours[next[a]++] = static_cast<idx_t>(b);
    graph.neighbours[next[b]++] = static_cast<idx_t>(a);
  }
  return k_way<3>(std::move(graph), num_parts, {}, [&] {
    std::vector<Eigen::AlignedBox3d> boxes(points.begin(), points.end());
    for (const auto& [a, b] : edges) {
      boxes[a].extend(points[b]);
      boxes[b].extend(points[a]);
    }
    return boxes;
  });
}

} // namespace recoil::mesh
