#include "mesh/flat_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

namespace recoil::mesh {

namespace {

constexpr double relative_tolerance = 1e-9, sine_tolerance = 1e-6;
/// Fans that overlap themselves have an angle that is larger by half a turn at least.
constexpr double angle_tolerance = 1e-3;

GlobalIndex third_vertex(const FlatParts::Face& face, const FlatParts::Edge& edge) {
  for (const GlobalIndex vertex : face)
    if (vertex != edge[0] && vertex != edge[1]) return vertex;
  return face[0];
}

} // namespace

FlatParts::FlatParts(const std::vector<Eigen::Vector3d>& points, const std::vector<Face>& faces,
                     const std::vector<Edge>& edges)
    : points_(&points), faces_(&faces), edges_(&edges), edge_faces_(edges.size()) {
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& point : points) box.extend(point);
  tolerance_ = box.isEmpty() ? 0 : relative_tolerance * box.diagonal().norm();

  Lists vertex_edges(points.size()), vertex_faces(points.size());
  for (std::size_t f = 0; f < faces.size(); ++f)
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(faces[f][i], faces[f][(i + 1) % 3]);
      const auto found = std::ranges::lower_bound(edges, Edge{low, high});
      edge_faces_[found - edges.begin()].push_back(f);
      vertex_faces[faces[f][i]].push_back(f);
    }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    for (const GlobalIndex vertex : edges[e]) vertex_edges[vertex].push_back(e);
    const auto& around = edge_faces_[e];
    edge_is_flat_.push_back(around.size() == 2 &&
                            continue_each_other(edges[e], third_vertex(faces[around[0]], edges[e]),
                                                third_vertex(faces[around[1]], edges[e])));
  }
  for (std::size_t v = 0; v < points.size(); ++v)
    vertex_shapes_.push_back(shape_of(v, vertex_edges[v], vertex_faces[v]));
}

Eigen::Vector3d FlatParts::way(GlobalIndex from, GlobalIndex to) const {
  return (*points_)[to] - (*points_)[from];
}

/// Whether the triangles of an edge with c and with d lie in one plane, on different sides of it.
bool FlatParts::continue_each_other(const Edge& edge, GlobalIndex c, GlobalIndex d) const {
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

bool FlatParts::is_straight(GlobalIndex vertex, GlobalIndex before, GlobalIndex after) const {
  const Eigen::Vector3d back = way(vertex, before), forth = way(vertex, after);
  const double longer = std::max(back.norm(), forth.norm());
  return back.dot(forth) < 0 && back.cross(forth).norm() <= tolerance_ * longer;
}

/// Whether one comes from each face around a vertex to each other one through edges at the vertex.
bool FlatParts::are_one_fan(GlobalIndex vertex, const std::vector<std::size_t>& faces) const {
  const auto share_an_edge = [&](std::size_t f, std::size_t g) {
    const auto holds = [&](GlobalIndex v) {
      return v != vertex && std::ranges::find((*faces_)[g], v) != (*faces_)[g].end();
    };
    return std::ranges::any_of((*faces_)[f], holds);
  };
  std::vector<std::size_t> left = faces, reached;
  reached.push_back(left.back());
  left.pop_back();
  for (std::size_t k = 0; k < reached.size(); ++k)
    std::erase_if(left, [&](std::size_t face) {
      if (!share_an_edge(reached[k], face)) return false;
      reached.push_back(face);
      return true;
    });
  return left.empty();
}

double FlatParts::angle_of(GlobalIndex vertex, const std::vector<std::size_t>& faces) const {
  double sum = 0;
  for (const std::size_t f : faces) {
    const Face& face = (*faces_)[f];
    const std::size_t at = std::ranges::find(face, vertex) - face.begin();
    const Eigen::Vector3d a = way(vertex, face[(at + 1) % 3]), b = way(vertex, face[(at + 2) % 3]);
    sum += std::atan2(a.cross(b).norm(), a.dot(b));
  }
  return sum;
}

VertexShape FlatParts::shape_of(GlobalIndex vertex, const std::vector<std::size_t>& edges,
                                const std::vector<std::size_t>& faces) const {
  std::vector<std::size_t> creases;
  std::ranges::copy_if(edges, std::back_inserter(creases), [&](std::size_t e) { return !edge_is_flat_[e]; });
  if (!faces.empty() && !are_one_fan(vertex, faces)) return VertexShape::corner;
  const auto turns = [&](double angle) {
    return std::abs(angle_of(vertex, faces) - angle * std::numbers::pi) < angle_tolerance;
  };
  if (creases.empty()) return !faces.empty() && turns(2) ? VertexShape::flat : VertexShape::corner;
  if (creases.size() != 2) return VertexShape::corner;
  const auto other_end = [&](std::size_t e) {
    return (*edges_)[e][0] == vertex ? (*edges_)[e][1] : (*edges_)[e][0];
  };
  // A flat part between the two takes half a turn.
  const double num_parts = edge_faces_[creases[0]].size();
  return is_straight(vertex, other_end(creases[0]), other_end(creases[1])) && turns(num_parts)
             ? VertexShape::straight
             : VertexShape::corner;
}

} // namespace recoil::mesh
