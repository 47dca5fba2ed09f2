#include "mesh/flat_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <Eigen/Geometry>

namespace recoil::mesh {

namespace {

constexpr double relative_tolerance = 1e-9, sine_tolerance = 1e-6;
/// Fans that overlap themselves have an angle that is larger by half a turn at least.
constexpr double angle_tolerance = 1e-3;

LocalIndex third_vertex(const FlatParts::Face& face, const FlatParts::Edge& edge) {
  for (const LocalIndex vertex : face)
    if (vertex != edge[0] && vertex != edge[1]) return vertex;
  return face[0];
}

/// The primitives at each vertex, ascending.
template <std::size_t n>
Lists at_vertices(std::size_t num_vertices, const std::vector<std::array<LocalIndex, n>>& primitives) {
  Lists lists;
  lists.begin.assign(num_vertices + 2, 0);
  for (const auto& primitive : primitives)
    for (const LocalIndex v : primitive) ++lists.begin[v + 2];
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.items.resize(n * primitives.size());
  for (std::size_t k = 0; k < primitives.size(); ++k)
    for (const LocalIndex v : primitives[k]) lists.items[lists.begin[v + 1]++] = std::int32_t(k);
  return lists;
}

} // namespace

FlatParts::FlatParts(const std::vector<Eigen::Vector3d>& points, double extent,
                     const std::vector<Face>& faces, const std::vector<Edge>& edges, const Lists& edge_faces)
    : points_(&points), faces_(&faces), edges_(&edges), edge_faces_(&edge_faces),
      tolerance_(relative_tolerance * extent) {
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto around = edge_faces[e];
    edge_is_flat_.push_back(around.size() == 2 &&
                            continue_each_other(edges[e], third_vertex(faces[around[0]], edges[e]),
                                                third_vertex(faces[around[1]], edges[e])));
  }
  const Lists vertex_edges = at_vertices(points.size(), edges),
              vertex_faces = at_vertices(points.size(), faces);
  for (std::size_t v = 0; v < points.size(); ++v)
    vertex_shapes_.push_back(shape_of(LocalIndex(v), vertex_edges[v], vertex_faces[v]));
}

Eigen::Vector3d FlatParts::way(LocalIndex from, LocalIndex to) const {
  return (*points_)[to] - (*points_)[from];
}

/// Whether the triangles of an edge with c and with d lie in one plane, on different sides of it.
bool FlatParts::continue_each_other(const Edge& edge, LocalIndex c, LocalIndex d) const {
  const Eigen::Vector3d along = way(edge[0], edge[1]);
  const Eigen::Vector3d to_c = way(edge[0], c), to_d = way(edge[0], d);
  const Eigen::Vector3d normal_c = along.cross(to_c), normal_d = along.cross(to_d);
  if (!(normal_c.dot(normal_d) < 0)) return false;
  // The plane of the larger one is known better.
  const bool first = normal_c.squaredNorm() > normal_d.squaredNorm();
  const Eigen::Vector3d normal = (first ? normal_c : normal_d).normalized();
  const double width = (first ? normal_d : normal_c).norm() / along.norm();
  return std::abs(normal.dot(first ? to_d : to_c)) <= std::min(tolerance_, sine_tolerance * width);
}

bool FlatParts::is_straight(LocalIndex vertex, LocalIndex before, LocalIndex after) const {
  const Eigen::Vector3d back = way(vertex, before), forth = way(vertex, after);
  const double longer = std::max(back.norm(), forth.norm());
  return back.dot(forth) < 0 && back.cross(forth).norm() <= tolerance_ * longer;
}

/// Whether one comes from each face around a vertex to each other one through edges at the vertex.
bool FlatParts::are_one_fan(LocalIndex vertex, Numbers faces) const {
  const auto share_an_edge = [&](std::int32_t f, std::int32_t g) {
    const auto holds = [&](LocalIndex v) {
      return v != vertex && std::ranges::find((*faces_)[g], v) != (*faces_)[g].end();
    };
    return std::ranges::any_of((*faces_)[f], holds);
  };
  std::vector<std::int32_t> left(faces.begin(), faces.end()), reached;
  reached.push_back(left.back());
  left.pop_back();
  for (std::size_t k = 0; k < reached.size(); ++k)
    std::erase_if(left, [&](std::int32_t face) {
      if (!share_an_edge(reached[k], face)) return false;
      reached.push_back(face);
      return true;
    });
  return left.empty();
}

double FlatParts::angle_of(LocalIndex vertex, Numbers faces) const {
  double sum = 0;
  for (const std::int32_t f : faces) {
    const Face& face = (*faces_)[f];
    const std::size_t at = std::ranges::find(face, vertex) - face.begin();
    const Eigen::Vector3d a = way(vertex, face[(at + 1) % 3]), b = way(vertex, face[(at + 2) % 3]);
    sum += std::atan2(a.cross(b).norm(), a.dot(b));
  }
  return sum;
}

VertexShape FlatParts::shape_of(LocalIndex vertex, Numbers edges, Numbers faces) const {
  std::vector<std::int32_t> creases;
  std::ranges::copy_if(edges, std::back_inserter(creases), [&](std::int32_t e) { return !edge_is_flat_[e]; });
  if (!faces.empty() && !are_one_fan(vertex, faces)) return VertexShape::corner;
  const auto turns = [&](double angle) {
    return std::abs(angle_of(vertex, faces) - angle * std::numbers::pi) < angle_tolerance;
  };
  if (creases.empty()) return !faces.empty() && turns(2) ? VertexShape::flat : VertexShape::corner;
  if (creases.size() != 2) return VertexShape::corner;
  const auto other_end = [&](std::int32_t e) {
    return (*edges_)[e][0] == vertex ? (*edges_)[e][1] : (*edges_)[e][0];
  };
  // A flat part between the two takes half a turn.
  const double num_parts = (*edge_faces_)[creases[0]].size();
  return is_straight(vertex, other_end(creases[0]), other_end(creases[1])) && turns(num_parts)
             ? VertexShape::straight
             : VertexShape::corner;
}

} // namespace recoil::mesh
