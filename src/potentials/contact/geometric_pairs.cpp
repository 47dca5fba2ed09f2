#include <algorithm>
#include <cmath>

#include "recoil/potentials/contact/geometric_contact.hpp"

namespace recoil::potentials {

namespace {

using geometry::StencilKind;

/// Makes the pairs of one rank.
template <int dim>
class GeometricPairs {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  GeometricPairs(const GeometricAngles& angles, double reach, const surface::StencilVertices<dim>& vertices,
                 const std::vector<Point>& positions)
      : angles_(&angles), reach_(reach), vertices_(&vertices), positions_(&positions) {}

  /// A candidate stands for the pair of its own primitives and for those of their edges and vertices of which
  /// its face (in 2D its edge) is the first one around, so that every pair is made once.
  void add(const ContactCandidate& candidate) {
    const auto& v = candidate.vertices;
    const int count = geometry::num_points(candidate.kind),
              first = geometry::num_first_points(candidate.kind);
    if (!boxes_are_near(v, first, count)) return;
    const auto points = points_of(v, count);
    const auto closest = geometry::closest_points<dim>(candidate.kind, points);
    if (closest.distance_squared >= reach_ * reach_) return;
    add_pair(candidate.kind, v, count);
    if (candidate.kind == StencilKind::edge_edge) return;
    if constexpr (dim == 3)
      for (int i = 1; i <= 3; ++i) {
        const LocalIndex a = v[i], b = v[1 + i % 3], c = v[1 + (i + 1) % 3];
        if (is_first_face(a, b, c)) add_pair(StencilKind::vertex_edge, {v[0], a, b, -1}, 3);
      }
    for (int i = 1; i < count; ++i)
      if (comes_before(v[0], v[i]) && is_first_facet(v[i], v, count))
        add_pair(StencilKind::vertex_vertex, {v[0], v[i], -1, -1}, 2);
  }

  void add(const Plane<dim>& plane) {
    for (std::size_t v = 0; v < vertices_->num_owned(); ++v) {
      const LocalIndex vertex = v;
      const double distance = plane.normal.dot((*positions_)[v] - plane.point);
      if (distance >= reach_ || (*vertices_)[vertex].block < 0) continue;
      ContactPair<dim> pair = empty_pair(StencilKind::vertex_vertex, 1, {vertex, -1, -1, -1});
      pair.bodies = {(*vertices_)[vertex].body, plane.body};
      pair.closest.weights = Eigen::Vector4d::Unit(0);
      pair.closest.tangents.setZero();
      pair.closest.num_free = 0;
      pair.closest.separation = distance * plane.normal;
      pair.closest.distance_squared = distance > 0 ? distance * distance : 0;
      GeometricStencil<dim> stencil = stencil_of(pair);
      stencil.plane_normal = plane.normal;
      stencil.plane_point = plane.point;
      take(std::move(pair), std::move(stencil));
    }
  }

  std::vector<ContactPair<dim>> pairs;

private:
  using Numbers = std::array<LocalIndex, 4>;

  const Point& at(LocalIndex vertex) const { return (*positions_)[vertex]; }
  GlobalIndex id(LocalIndex vertex) const { return (*vertices_)[vertex].id; }

  geometry::StencilPoints<dim> points_of(const Numbers& v, int count) const {
    geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
    for (int i = 0; i < count; ++i) points.col(i) = at(v[i]);
    return points;
  }

  bool boxes_are_near(const Numbers& v, int first, int count) const {
    Point low[2], high[2];
    for (int i = 0; i < count; ++i) {
      const int k = i < first ? 0 : 1;
      const Point& x = at(v[i]);
      const bool begins = i == 0 || i == first;
      low[k] = begins ? x : Point(low[k].cwiseMin(x));
      high[k] = begins ? x : Point(high[k].cwiseMax(x));
    }
    return (low[0] - high[1]).cwiseMax(low[1] - high[0]).maxCoeff() < reach_;
  }

  /// From which of two vertices the other one is looked at.
  bool comes_before(LocalIndex a, LocalIndex b) const { return id(a) < id(b); }

  /// Whether face (a, b, c) has the least opposite vertex of all around the edge (a, b).
  bool is_first_face(LocalIndex a, LocalIndex b, LocalIndex c) const {
    return std::ranges::none_of(vertices_->ring(a), [&](const auto& facet) {
      const LocalIndex other = facet.a == b ? facet.b : facet.b == b ? facet.a : c;
      return id(other) < id(c);
    });
  }

  /// Whether the facet of a candidate is the first one around its vertex w, by the ids of its other vertices.
  bool is_first_facet(LocalIndex w, const Numbers& v, int count) const {
    const auto key = [&](LocalIndex a, LocalIndex b) { return std::minmax({id(a), id(b)}); };
    std::array<LocalIndex, 2> others{-1, -1};
    int next = 0;
    for (int i = 1; i < count; ++i)
      if (v[i] != w) others[next++] = v[i];
    if (dim == 2) others[1] = others[0];
    const auto own = key(others[0], others[1]);
    return std::ranges::none_of(vertices_->ring(w),
                                [&](const auto& facet) { return key(facet.a, facet.b) < own; });
  }

  ContactPair<dim> empty_pair(StencilKind kind, int count, const Numbers& v) const {
    return {kind,
            false,
            count,
            v,
            {(*vertices_)[v[0]].body, -1},
            points_of(v, count),
            {},
            0,
            {0, 0},
            geometry::MollifierScalars{1, 0, 0, 0, 0, false}};
  }

  /// Adds a pair if its closest points lie inside of both primitives.
  void add_pair(StencilKind kind, const Numbers& v, int count) {
    ContactPair<dim> pair = empty_pair(kind, count, v);
    pair.closest = geometry::closest_points<dim>(kind, pair.points);
    if (pair.closest.distance_squared >= reach_ * reach_) return;
    for (int i = 0; i < count; ++i)
      if (pair.closest.weights[i] == 0) return;
    pair.bodies[1] = (*vertices_)[v[geometry::num_first_points(kind)]].body;
    auto stencil = stencil_of(pair);
    take(std::move(pair), std::move(stencil));
  }

  void take(ContactPair<dim> pair, GeometricStencil<dim> stencil) {
    // What touches has no direction; it is a collision all the same.
    pair.weight = pair.closest.distance_squared > 0 ? geometric_weight(stencil, *angles_) : 1;
    if (pair.weight <= 0) return;
    pair.geometric = std::make_shared<const GeometricStencil<dim>>(std::move(stencil));
    pairs.push_back(std::move(pair));
  }

  GeometricStencil<dim> stencil_of(const ContactPair<dim>& pair) const {
    GeometricStencil<dim> stencil{pair.kind, {}, {}, {}, {}, Point::Zero()};
    const int first = pair.num_vertices == 1 ? 1 : geometry::num_first_points(pair.kind);
    for (int i = 0; i < pair.num_vertices; ++i) stencil.vertices.push_back(pair.vertices[i]);
    fill(pair, 0, first, stencil.primitives[0], stencil);
    if (pair.num_vertices > first) fill(pair, first, pair.num_vertices, stencil.primitives[1], stencil);
    stencil.points.resize(dim, std::ssize(stencil.vertices));
    for (std::size_t i = 0; i < stencil.vertices.size(); ++i)
      stencil.points.col(static_cast<Eigen::Index>(i)) = at(stencil.vertices[i]);
    return stencil;
  }

  /// The primitive of the columns begin .. end - 1.
  void fill(const ContactPair<dim>& pair, int begin, int end, GeometricPrimitive& primitive,
            GeometricStencil<dim>& stencil) const {
    primitive.num_points = end - begin;
    for (int i = begin; i < end; ++i) primitive.points[i - begin] = i;
    const LocalIndex v = pair.vertices[begin];
    const surface::VertexRing& ring = vertices_->ring(v);
    primitive.oriented = !ring.empty() && ring.front().side != 0;
    const auto column = [&](LocalIndex vertex) {
      const auto found = std::ranges::find(stencil.vertices, vertex);
      if (found == stencil.vertices.end()) {
        stencil.vertices.push_back(vertex);
        return static_cast<int>(stencil.vertices.size()) - 1;
      }
      return static_cast<int>(found - stencil.vertices.begin());
    };
    if (primitive.num_points == 1) {
      for (const auto& facet : ring) {
        const surface::RingFacet<int> columns{column(facet.a), column(facet.b), facet.side};
        primitive.facets.push_back(columns);
        for (const int neighbour : {columns.a, columns.b})
          if (std::ranges::find(primitive.neighbours, neighbour) == primitive.neighbours.end())
            primitive.neighbours.push_back(neighbour);
      }
      return;
    }
    const LocalIndex w = pair.vertices[begin + 1];
    for (const auto& facet : ring) {
      const bool follows = facet.a == w; // (v, w, other), else (v, other, w)
      if (!follows && facet.b != w) continue;
      const LocalIndex other = follows ? facet.b : facet.a;
      const int side = follows ? facet.side : -facet.side;
      if (dim == 2 || (primitive.num_points == 3 && other == pair.vertices[begin + 2]))
        primitive.side = side;
      else if (primitive.num_points == 2)
        primitive.facets.push_back({column(other), column(other), side});
    }
  }

  const GeometricAngles* angles_;
  double reach_;
  const surface::StencilVertices<dim>* vertices_;
  const std::vector<Point>* positions_;
};

} // namespace

template <int dim>
std::vector<ContactPair<dim>> geometric_pairs(const GeometricAngles& angles, double reach,
                                              const std::vector<Plane<dim>>& planes,
                                              const std::vector<ContactCandidate>& candidates,
                                              const surface::StencilVertices<dim>& vertices,
                                              const std::vector<Eigen::Matrix<double, dim, 1>>& positions) {
  GeometricPairs<dim> pairs(angles, reach, vertices, positions);
  for (const ContactCandidate& candidate : candidates) pairs.add(candidate);
  for (const Plane<dim>& plane : planes) pairs.add(plane);
  return std::move(pairs.pairs);
}

template std::vector<ContactPair<2>> geometric_pairs(const GeometricAngles&, double,
                                                     const std::vector<Plane<2>>&,
                                                     const std::vector<ContactCandidate>&,
                                                     const surface::StencilVertices<2>&,
                                                     const std::vector<Eigen::Vector2d>&);
template std::vector<ContactPair<3>> geometric_pairs(const GeometricAngles&, double,
                                                     const std::vector<Plane<3>>&,
                                                     const std::vector<ContactCandidate>&,
                                                     const surface::StencilVertices<3>&,
                                                     const std::vector<Eigen::Vector3d>&);

} // namespace recoil::potentials
