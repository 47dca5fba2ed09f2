#include "mesh/partition.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <Eigen/Geometry>
#include <metis.h>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/geometry/morton.hpp"

namespace recoil::mesh {

namespace {

/// Weights of edges: cutting a body sends copies in every product, cutting between two bodies only where they
/// touch.
constexpr idx_t facet_weight = 8, link_weight = 1;

/// What METIS allocated.
struct DualGraph {
  idx_t *offsets = nullptr, *neighbours = nullptr;
  ~DualGraph() {
    METIS_Free(offsets);
    METIS_Free(neighbours);
  }
};

/// Cells, and which of them should rather stay together.
struct Graph {
  std::vector<idx_t> offsets, neighbours, weights;
};

void check_metis(int status, const char* call) {
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK)
    throw LibraryError(std::string("METIS: ") + call + " failed with status " + std::to_string(status));
}

/// Number of the connected component of each cell, and how many there are.
std::pair<std::vector<int>, int> components(const DualGraph& graph, std::size_t num_cells) {
  std::vector<int> component(num_cells, -1);
  std::vector<std::size_t> open;
  int count = 0;
  for (std::size_t start = 0; start < num_cells; ++start) {
    if (component[start] >= 0) continue;
    component[start] = count;
    open.push_back(start);
    while (!open.empty()) {
      const std::size_t cell = open.back();
      open.pop_back();
      for (idx_t k = graph.offsets[cell]; k < graph.offsets[cell + 1]; ++k) {
        const std::size_t next = graph.neighbours[k];
        if (component[next] >= 0) continue;
        component[next] = count;
        open.push_back(next);
      }
    }
    ++count;
  }
  return {std::move(component), count};
}

/// Cells of different components that follow each other on one of dim + 1 space-filling curves, shifted
/// against each other so that near cells are neighbours on some of them; each both ways, sorted, once for
/// every curve. The first curve reaches every component; from the others come only cells that are closer than
/// their sizes together, because curves jump.
template <int dim>
std::vector<std::array<idx_t, 2>> links(const SimplexMesh& mesh, const std::vector<int>& component) {
  std::vector<Eigen::AlignedBox<double, dim>> boxes;
  Eigen::AlignedBox<double, dim> all;
  for (const auto& cell : mesh.cells) {
    auto& box = boxes.emplace_back();
    for (std::size_t i = 0; i <= dim; ++i) box.extend(mesh.vertices[cell[i]].template head<dim>());
    all.extend(box);
  }
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
    for (idx_t cell = 0; cell < std::ssize(boxes); ++cell)
      curve[cell] = {geometry::morton_code<dim>(boxes[cell].center(), low, high), cell};
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

/// The dual graph with weights; where it falls apart, bodies close to each other are linked, because METIS
/// would deal them out without regard to where they lie.
Graph linked(const SimplexMesh& mesh, const DualGraph& dual, const std::vector<int>& component) {
  const auto added = mesh.dim == 2 ? links<2>(mesh, component) : links<3>(mesh, component);
  Graph graph;
  graph.offsets.push_back(0);
  auto link = added.begin();
  for (idx_t cell = 0; cell < std::ssize(mesh.cells); ++cell) {
    for (idx_t k = dual.offsets[cell]; k < dual.offsets[cell + 1]; ++k) {
      graph.neighbours.push_back(dual.neighbours[k]);
      graph.weights.push_back(facet_weight);
    }
    const std::size_t first = graph.neighbours.size();
    for (; link != added.end() && (*link)[0] == cell; ++link) {
      if (graph.neighbours.size() > first && graph.neighbours.back() == (*link)[1]) {
        graph.weights.back() += link_weight;
        continue;
      }
      graph.neighbours.push_back((*link)[1]);
      graph.weights.push_back(link_weight);
    }
    graph.offsets.push_back(std::ssize(graph.neighbours));
  }
  return graph;
}

} // namespace

std::vector<int> partition_cells(const SimplexMesh& mesh, int num_parts, std::span<const int> weights) {
  const int corners = mesh.dim + 1;
  if (num_parts == 1) return std::vector<int>(mesh.cells.size(), 0);
  if (std::ssize(mesh.cells) * corners > std::numeric_limits<idx_t>::max())
    throw InputError("mesh",
                     "too many cells for the integers of this METIS; build METIS with IDXTYPEWIDTH 64");
  idx_t num_cells = mesh.cells.size(), num_vertices = mesh.vertices.size();
  std::vector<idx_t> cell_offsets(mesh.cells.size() + 1), cell_vertices(mesh.cells.size() * corners);
  for (idx_t cell = 0; cell < num_cells; ++cell) {
    cell_offsets[cell + 1] = (cell + 1) * corners;
    for (int i = 0; i < corners; ++i) cell_vertices[cell * corners + i] = mesh.cells[cell][i];
  }
  const DeferredSignals deferred;
  DualGraph dual;
  idx_t common = mesh.dim, numbering = 0;
  check_metis(METIS_MeshToDual(&num_cells, &num_vertices, cell_offsets.data(), cell_vertices.data(), &common,
                               &numbering, &dual.offsets, &dual.neighbours),
              "METIS_MeshToDual");
  Graph graph;
  const auto [component, count] = components(dual, mesh.cells.size());
  if (count > 1) graph = linked(mesh, dual, component);
  std::vector<idx_t> vertex_weights(weights.begin(), weights.end()), parts(mesh.cells.size());
  idx_t constraints = 1, metis_parts = num_parts, cut = 0;
  check_metis(METIS_PartGraphKway(&num_cells, &constraints, count > 1 ? graph.offsets.data() : dual.offsets,
                                  count > 1 ? graph.neighbours.data() : dual.neighbours,
                                  vertex_weights.empty() ? nullptr : vertex_weights.data(), nullptr,
                                  count > 1 ? graph.weights.data() : nullptr, &metis_parts, nullptr, nullptr,
                                  nullptr, &cut, parts.data()),
              "METIS_PartGraphKway");
  return {parts.begin(), parts.end()};
}

} // namespace recoil::mesh
