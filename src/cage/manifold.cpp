#include "recoil/cage/manifold.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <Eigen/Geometry>

#include "recoil/base/union_find.hpp"

namespace recoil::cage {

namespace {

using Triangles = std::vector<std::array<std::int32_t, 3>>;

/// Corner k of triangle t, and the edge from it to the next corner.
struct HalfEdge {
  std::int32_t low, high; ///< its vertices
  std::int64_t number;    ///< 3 t + k
  bool rises;             ///< runs from low to high
};

std::int64_t next_corner(std::int64_t half_edge) {
  return half_edge % 3 == 2 ? half_edge - 2 : half_edge + 1;
}

std::vector<HalfEdge> sorted_half_edges(std::span<const std::array<std::int32_t, 3>> triangles) {
  std::vector<HalfEdge> edges;
  edges.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const auto from = triangles[t][k], to = triangles[t][(k + 1) % 3];
      edges.push_back(
          {std::min(from, to), std::max(from, to), static_cast<std::int64_t>(3 * t + k), from < to});
    }
  std::sort(edges.begin(), edges.end(), [](const HalfEdge& a, const HalfEdge& b) {
    return std::tie(a.low, a.high, a.rises, a.number) < std::tie(b.low, b.high, b.rises, b.number);
  });
  return edges;
}

/// Pairs of half-edges of one edge whose triangles bound a wedge of the inside.
class Pairing {
public:
  Pairing(std::span<const Point<3>> vertices, std::span<const std::array<std::int32_t, 3>> triangles)
      : vertices_(vertices), triangles_(triangles) {
    const auto edges = sorted_half_edges(triangles);
    for (std::size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
      while (end < edges.size() && edges[end].low == edges[begin].low && edges[end].high == edges[begin].high)
        ++end;
      pair(std::span(edges).subspan(begin, end - begin));
    }
  }

  std::vector<std::array<std::int64_t, 2>> pairs;
  bool is_closed = true;

private:
  void pair(std::span<const HalfEdge> edges) {
    const auto rising = std::count_if(edges.begin(), edges.end(), [](const auto& e) { return e.rises; });
    if (2 * rising != std::ssize(edges)) is_closed = false;
    if (edges.size() == 2 && rising == 1) {
      pairs.push_back({edges[0].number, edges[1].number});
      return;
    }
    std::vector<std::pair<double, const HalfEdge*>> around;
    for (const auto& edge : edges) around.push_back({angle(edge), &edge});
    std::sort(around.begin(), around.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second->number) < std::pair(b.first, b.second->number);
    });
    std::vector<char> used(around.size(), 0);
    const auto n = around.size();
    // the inside is behind a triangle that runs along the edge: at smaller angles
    for (std::size_t i = 0; i < n; ++i) {
      if (!around[i].second->rises) continue;
      for (std::size_t step = 1; step < n; ++step) {
        const auto j = (i + n - step) % n;
        if (used[j] || around[j].second->rises) continue;
        used[j] = 1;
        pairs.push_back({around[i].second->number, around[j].second->number});
        break;
      }
    }
  }

  /// Angle of a triangle around the edge from low to high.
  double angle(const HalfEdge& edge) const {
    const Point<3> along = (vertices_[edge.high] - vertices_[edge.low]).normalized();
    int axis = 0;
    along.cwiseAbs().minCoeff(&axis);
    const Point<3> x = along.cross(Point<3>::Unit(axis)).normalized(), y = along.cross(x);
    const auto apex = triangles_[edge.number / 3][(edge.number % 3 + 2) % 3];
    const Point<3> r = vertices_[apex] - vertices_[edge.low];
    return std::atan2(y.dot(r), x.dot(r));
  }

  std::span<const Point<3>> vertices_;
  std::span<const std::array<std::int32_t, 3>> triangles_;
};

/// Set of corners that are one vertex, for each corner: numbered by first appearance.
std::vector<std::int32_t> fans(const Pairing& pairing, std::size_t num_triangles) {
  UnionFind<std::int64_t> sets(static_cast<std::int64_t>(3 * num_triangles));
  for (const auto& [a, b] : pairing.pairs) {
    sets.unite(a, next_corner(b));
    sets.unite(next_corner(a), b);
  }
  const auto numbers = sets.numbers();
  return {numbers.begin(), numbers.end()};
}

/// Pairs beyond the first one between the same two vertices.
std::vector<std::array<std::int64_t, 2>> doubled_edges(const Pairing& pairing,
                                                       const std::vector<std::int32_t>& corners) {
  std::unordered_map<std::int64_t, int> seen;
  std::vector<std::array<std::int64_t, 2>> splits;
  for (const auto& [a, b] : pairing.pairs) {
    const std::int64_t from = corners[a], to = corners[next_corner(a)];
    if (++seen[std::min(from, to) << 32 | std::max(from, to)] > 1) splits.push_back({a, b});
  }
  return splits;
}

} // namespace

ManifoldSurface split_to_manifold(std::span<const Point<3>> vertices,
                                  std::span<const std::array<std::int32_t, 3>> triangles) {
  std::vector<Point<3>> points(vertices.begin(), vertices.end());
  Triangles facets(triangles.begin(), triangles.end());
  std::vector<std::int32_t> sources(facets.size());
  for (std::size_t f = 0; f < sources.size(); ++f) sources[f] = static_cast<std::int32_t>(f);
  while (true) {
    const Pairing pairing(points, facets);
    const auto corners = fans(pairing, facets.size());
    const auto splits = doubled_edges(pairing, corners);
    if (splits.empty() || !pairing.is_closed) {
      ManifoldSurface result;
      result.is_closed = pairing.is_closed;
      result.facet_sources = std::move(sources);
      for (std::size_t f = 0; f < facets.size(); ++f) {
        result.mesh.facets.push_back({corners[3 * f], corners[3 * f + 1], corners[3 * f + 2]});
        for (int k = 0; k < 3; ++k)
          if (corners[3 * f + k] == std::ssize(result.mesh.vertices)) {
            const auto v = facets[f][k];
            result.mesh.vertices.push_back(points[v]);
            result.vertex_sources.push_back(v < std::ssize(vertices) ? v : -1);
          }
      }
      return result;
    }
    std::vector<char> touched(facets.size(), 0); // one split of a triangle at a time
    for (const auto& [a, b] : splits) {
      if (touched[a / 3] || touched[b / 3]) continue;
      const auto middle = static_cast<std::int32_t>(points.size());
      points.push_back(0.5 * (points[facets[a / 3][a % 3]] + points[facets[b / 3][b % 3]]));
      for (const auto half_edge : {a, b}) {
        const auto f = half_edge / 3;
        touched[f] = 1;
        auto rest = facets[f];
        rest[half_edge % 3] = middle;
        facets[f][(half_edge + 1) % 3] = middle;
        facets.push_back(rest);
        sources.push_back(sources[f]);
      }
    }
  }
}

bool has_no_boundary(const FacetMesh<3>& mesh) {
  const auto edges = sorted_half_edges(mesh.facets);
  for (std::size_t first = 0, e = 0; first < edges.size(); first = e) {
    std::int64_t rising = 0;
    for (; e < edges.size() && edges[e].low == edges[first].low && edges[e].high == edges[first].high; ++e)
      rising += edges[e].rises ? 1 : -1;
    if (rising != 0) return false;
  }
  return true;
}

bool has_no_boundary(const FacetMesh<2>& mesh) {
  std::vector<std::int64_t> beginning(mesh.vertices.size(), 0);
  for (const auto& [from, to] : mesh.facets) {
    ++beginning[from];
    --beginning[to];
  }
  return std::ranges::all_of(beginning, [](auto count) { return count == 0; });
}

template <int dim>
std::vector<std::int32_t> connected_facets(const FacetMesh<dim>& mesh) {
  UnionFind<std::int32_t> sets(static_cast<std::int32_t>(mesh.facets.size()));
  std::vector<std::int32_t> first(mesh.vertices.size(), -1); // facet at each vertex
  for (std::int32_t f = 0; f < std::ssize(mesh.facets); ++f)
    for (const auto v : mesh.facets[f]) {
      if (first[v] < 0) first[v] = f;
      sets.unite(first[v], f);
    }
  return sets.numbers();
}
template std::vector<std::int32_t> connected_facets(const FacetMesh<2>&);
template std::vector<std::int32_t> connected_facets(const FacetMesh<3>&);

bool is_closed_manifold(const FacetMesh<3>& mesh) {
  const auto edges = sorted_half_edges(mesh.facets);
  if (edges.size() % 2 != 0) return false;
  for (std::size_t e = 0; e < edges.size(); e += 2) {
    const auto &a = edges[e], &b = edges[e + 1];
    if (a.low != b.low || a.high != b.high || a.rises == b.rises || a.low == a.high) return false;
    if (e + 2 < edges.size() && edges[e + 2].low == a.low && edges[e + 2].high == a.high) return false;
  }
  const Pairing pairing(mesh.vertices, mesh.facets);
  const auto corners = fans(pairing, mesh.facets.size());
  std::vector<std::int32_t> fan_of(mesh.vertices.size(), -1);
  for (std::size_t c = 0; c < corners.size(); ++c) {
    auto& fan = fan_of[mesh.facets[c / 3][c % 3]];
    if (fan >= 0 && fan != corners[c]) return false;
    fan = corners[c];
  }
  return true;
}

bool is_closed_manifold(const FacetMesh<2>& mesh) {
  std::vector<std::array<int, 2>> ends(mesh.vertices.size(), {0, 0});
  for (const auto& [from, to] : mesh.facets) {
    if (from == to) return false;
    ++ends[from][0];
    ++ends[to][1];
  }
  return std::all_of(ends.begin(), ends.end(), [](const auto& e) { return e[0] == e[1] && e[0] <= 1; });
}

} // namespace recoil::cage
