#include "potentials/contact/inclusion_exclusion.hpp"

#include <algorithm>

namespace recoil::potentials {

namespace {

/// A vertex against a vertex or an edge of the stencil.
struct SubStencil {
  int num_vertices;            ///< 2 or 3
  std::array<int, 3> vertices; ///< places in the stencil
  double sign = 1;             ///< -1 if the first vertex belongs to the second primitive
};

bool contains(const SubStencil& sub, int place) {
  return std::find(sub.vertices.begin(), sub.vertices.begin() + sub.num_vertices, place) !=
         sub.vertices.begin() + sub.num_vertices;
}

template <int dim>
bool closest_points_lie_in(const SubStencil& sub, const geometry::ClosestPoints<dim>& closest) {
  for (int i = 0; i < 4; ++i)
    if (closest.weights[i] != 0 && !contains(sub, i)) return false;
  return true;
}

/// Closest points of the part, with weights for the whole stencil.
template <int dim>
geometry::ClosestPoints<dim> closest_points(const SubStencil& sub,
                                            const geometry::StencilPoints<dim>& points) {
  geometry::StencilPoints<dim> part = geometry::StencilPoints<dim>::Zero();
  for (int i = 0; i < sub.num_vertices; ++i) part.col(i) = points.col(sub.vertices[i]);
  const auto kind =
      sub.num_vertices == 2 ? geometry::StencilKind::vertex_vertex : geometry::StencilKind::vertex_edge;
  const geometry::ClosestPoints<dim> of_part = geometry::closest_points<dim>(kind, part);
  geometry::ClosestPoints<dim> closest = of_part;
  closest.weights.setZero();
  closest.tangents.setZero();
  for (int i = 0; i < sub.num_vertices; ++i) {
    const int place = sub.vertices[i];
    closest.weights[place] = sub.sign * of_part.weights[i];
    closest.tangents.row(place) = sub.sign * of_part.tangents.row(i);
  }
  closest.separation *= sub.sign;
  return closest;
}

/// Adds terms to the last pair of a list.
template <int dim>
class Terms {
public:
  /// `weights` of the primitives of the last pair, which has the derivatives of their sum by areas.
  Terms(double dhat, const std::array<double, 2>& weights, std::vector<ContactPair<dim>>& pairs)
      : dhat_(dhat), weights_(weights), by_area_(pairs.back().weight_by_area), pairs_(&pairs),
        main_(pairs.size() - 1) {}

  /// Adds `factor` / `divisor` times the weight of one of the primitives.
  void add(const SubStencil& sub, std::size_t primitive, double factor, double divisor = 1) {
    const double weight = weights_[primitive] * factor / divisor;
    const double by_area = by_area_[primitive] * factor / divisor;
    if (weight == 0) return;
    // A vertex is part of all primitives whose closest point it is; an edge is for sure part of the main one.
    const std::size_t end = sub.num_vertices == 2 ? pairs_->size() : main_ + 1;
    for (std::size_t k = main_; k < end; ++k)
      if (closest_points_lie_in(sub, (*pairs_)[k].closest)) {
        (*pairs_)[k].weight += weight;
        (*pairs_)[k].weight_by_area[primitive] += by_area;
        return;
      }
    const auto closest = closest_points<dim>(sub, (*pairs_)[main_].points);
    if (closest.distance_squared >= dhat_ * dhat_) return;
    // The mollifier stays that of the two edges: without it in these terms, which take away, nearly parallel
    // edges would attract each other.
    ContactPair<dim> term = (*pairs_)[main_];
    term.continues = true;
    term.closest = closest;
    term.weight = weight;
    term.weight_by_area = {0, 0};
    term.weight_by_area[primitive] = by_area;
    pairs_->push_back(term);
  }

  const geometry::StencilPoints<dim>& points() const { return (*pairs_)[main_].points; }
  double dhat() const { return dhat_; }

  /// Forgets the main term if nothing is left of all.
  void drop_empty() {
    if (pairs_->size() == main_ + 1 && pairs_->back().weight == 0) pairs_->pop_back();
  }

  /// Forgets what has cancelled; the main term stays, for its distance.
  void drop_cancelled() {
    const auto first = pairs_->begin() + main_ + 1;
    pairs_->erase(
        std::remove_if(first, pairs_->end(), [](const ContactPair<dim>& term) { return term.weight == 0; }),
        pairs_->end());
  }

private:
  double dhat_;
  std::array<double, 2> weights_, by_area_;
  std::vector<ContactPair<dim>>* pairs_;
  std::size_t main_;
};

constexpr double half = 0.5;
/// Over how much of dhat around a flat edge its term passes from one of its faces to the other.
constexpr double passing_zone = 0.05;

/// (n - 1) / n: what each of n primitives takes away so that they count once together.
double surplus(int n) { return (n - 1.0) / n; }

template <int dim>
const mesh::VertexDegrees& degrees(const ContactCandidate& candidate,
                                   const surface::StencilVertices<dim>& vertices, int place) {
  return vertices[candidate.vertices[place]].degrees;
}

template <int dim>
void add_around_face(const ContactCandidate& candidate, const surface::StencilVertices<dim>& vertices,
                     Terms<dim>& terms) {
  for (int i = 0; i < 3; ++i)
    terms.add({3, {0, 1 + i, 1 + (i + 1) % 3}}, 0, -surplus(candidate.edge_faces[i]));
  for (int i = 1; i <= 3; ++i) {
    const mesh::VertexDegrees& at = degrees(candidate, vertices, i);
    terms.add({2, {0, i, -1}}, 0, 1 + at.faces - at.face_edges, at.faces);
  }
}

/// How much of the term of the flat edge (a, b) its face (a, b, c) takes: all where the vertex is beyond the
/// edge, so that the face has the closest point of the edge and no term is left, and nothing where it is over
/// the face, so that one term is left; half where neither is clear. The two faces of the edge take 1 together
/// wherever the vertex is, so that no derivative comes from this.
double share_of_flat_edge(const Eigen::Vector3d& vertex, const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                          const Eigen::Vector3d& c, double zone) {
  const double length = (b - a).norm();
  const Eigen::Vector3d along = (b - a) / length;
  const Eigen::Vector3d inward = ((c - a) - along.dot(c - a) * along).normalized();
  const double place = along.dot(vertex - a);
  const double between = std::clamp(std::min(place, length - place) / zone, 0.0, 1.0);
  return half - half * between * std::clamp(inward.dot(vertex - a) / zone, -1.0, 1.0);
}

/// Two faces meet at a flat edge.
template <int dim>
void add_around_flat_face(const ContactCandidate& candidate, const surface::StencilVertices<dim>& vertices,
                          Terms<dim>& terms) {
  if (candidate.flat_edges == 0) return;
  if constexpr (dim == 3) {
    const geometry::StencilPoints<3> points = terms.points();
    for (int i = 0; i < 3; ++i) {
      if ((candidate.flat_edges >> i & 1U) == 0) continue;
      const int a = 1 + i, b = 1 + (i + 1) % 3, c = 1 + (i + 2) % 3;
      terms.add({3, {0, a, b}}, 0,
                -share_of_flat_edge(points.col(0), points.col(a), points.col(b), points.col(c),
                                    passing_zone * terms.dhat()));
    }
  }
  for (int i = 1; i <= 3; ++i) {
    const mesh::VertexDegrees& at = degrees(candidate, vertices, i);
    if (at.shape == mesh::VertexShape::flat) terms.add({2, {0, i, -1}}, 0, 1, at.faces);
  }
}

template <int dim>
bool lies_straight(const ContactCandidate& candidate, const surface::StencilVertices<dim>& vertices,
                   int place) {
  return degrees(candidate, vertices, place).shape == mesh::VertexShape::straight;
}

/// Two pieces of a straight edge meet at a straight vertex.
template <int dim>
void add_around_straight_edge(const ContactCandidate& candidate,
                              const surface::StencilVertices<dim>& vertices, Terms<dim>& terms) {
  const auto is_straight = [&](int place) { return lies_straight(candidate, vertices, place); };
  for (const std::size_t primitive : {0, 1}) {
    for (const int w : {2, 3})
      if (is_straight(w)) terms.add({3, {w, 0, 1}, -1}, primitive, -half);
    for (const int w : {0, 1})
      if (is_straight(w)) terms.add({3, {w, 2, 3}}, primitive, -half);
  }
}

} // namespace

template <int dim>
void add_inclusion_exclusion(const ContactCandidate& candidate, const surface::StencilVertices<dim>& vertices,
                             bool whole, const std::array<double, 2>& weights, double dhat,
                             std::vector<ContactPair<dim>>& pairs) {
  Terms<dim> terms(dhat, weights, pairs);
  if (!whole) {
    if (candidate.kind == geometry::StencilKind::vertex_face)
      add_around_flat_face(candidate, vertices, terms);
    else if (candidate.kind == geometry::StencilKind::edge_edge)
      add_around_straight_edge(candidate, vertices, terms);
    terms.drop_cancelled();
    return terms.drop_empty();
  }
  const auto surplus_at = [&](int place) { return surplus(degrees(candidate, vertices, place).creases); };
  switch (candidate.kind) {
  case geometry::StencilKind::vertex_vertex:
    break;
  case geometry::StencilKind::vertex_edge:
    for (const int w : {1, 2}) terms.add({2, {0, w, -1}}, 0, -surplus_at(w));
    break;
  case geometry::StencilKind::vertex_face:
    add_around_face(candidate, vertices, terms);
    break;
  case geometry::StencilKind::edge_edge:
    for (const int w : {2, 3}) {
      terms.add({3, {w, 0, 1}, -1}, 0, -surplus_at(w));
      if (!lies_straight(candidate, vertices, w)) continue;
      terms.add({3, {w, 0, 1}, -1}, 1, -half);
      for (const int u : {0, 1}) terms.add({2, {u, w, -1}}, 1, half * surplus_at(u));
    }
    for (const int w : {0, 1}) {
      terms.add({3, {w, 2, 3}}, 1, -surplus_at(w));
      if (!lies_straight(candidate, vertices, w)) continue;
      terms.add({3, {w, 2, 3}}, 0, -half);
      for (const int u : {2, 3}) terms.add({2, {w, u, -1}}, 0, half * surplus_at(u));
    }
    break;
  }
  terms.drop_cancelled();
}

template void add_inclusion_exclusion(const ContactCandidate&, const surface::StencilVertices<2>&, bool,
                                      const std::array<double, 2>&, double, std::vector<ContactPair<2>>&);
template void add_inclusion_exclusion(const ContactCandidate&, const surface::StencilVertices<3>&, bool,
                                      const std::array<double, 2>&, double, std::vector<ContactPair<3>>&);

} // namespace recoil::potentials
