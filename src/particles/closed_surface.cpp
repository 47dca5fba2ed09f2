#include "recoil/particles/closed_surface.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <tuple>

#include "recoil/base/error.hpp"
#include "recoil/geometry/closest_points.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/geometry/predicates.hpp"

namespace recoil::particles {

namespace {

constexpr std::int32_t leaf_size = 2;

geometry::StencilPoints<3> stencil(const Eigen::Vector3d& point, const std::vector<Eigen::Vector3d>& vertices,
                                   const std::array<std::int32_t, 3>& triangle) {
  geometry::StencilPoints<3> points;
  points << point, vertices[triangle[0]], vertices[triangle[1]], vertices[triangle[2]];
  return points;
}

/// Normal of a triangle, of unit length; zero for slivers, whose normals rounding spoils.
Eigen::Vector3d unit_normal(const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c) {
  constexpr double sliver = 1e-6;
  const Eigen::Vector3d u = b - a, v = c - a, normal = u.cross(v);
  const double size = normal.norm(),
               longest = std::max({u.squaredNorm(), v.squaredNorm(), (v - u).squaredNorm()});
  return size > sliver * longest ? Eigen::Vector3d(normal / size) : Eigen::Vector3d(Eigen::Vector3d::Zero());
}

/// An edge as a triangle passes it.
struct Passage {
  std::int32_t low, high;
  int direction; ///< 1 from low to high, else -1
};

std::vector<Passage> sorted_passages(const std::vector<std::array<std::int32_t, 3>>& triangles) {
  std::vector<Passage> passages;
  passages.reserve(3 * triangles.size());
  for (const auto& triangle : triangles)
    for (int i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(triangle[i], triangle[(i + 1) % 3]);
      passages.push_back({low, high, low == triangle[i] ? 1 : -1});
    }
  std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
    return std::tie(a.low, a.high) < std::tie(b.low, b.high);
  });
  return passages;
}

} // namespace

ClosedSurface::ClosedSurface(std::string name, std::vector<Eigen::Vector3d> vertices,
                             std::vector<std::array<std::int32_t, 3>> triangles)
    : name_(std::move(name)), vertices_(std::move(vertices)), triangles_(std::move(triangles)) {
  if (triangles_.empty())
    throw InputError(name_, "the surface has no triangles; a body of particles needs a closed surface");
  check_closed();
  const Eigen::Vector3d reference = vertices_[triangles_[0][0]];
  double scale = 0;
  for (const auto& [a, b, c] : triangles_) {
    const double part =
        (vertices_[a] - reference)
            .dot((vertices_[b] - reference).cross(Eigen::Vector3d(vertices_[c] - reference))) /
        6;
    volume_ += part;
    scale += std::abs(part);
  }
  if (!(std::abs(volume_) > 1e-12 * scale) || !std::isfinite(volume_))
    throw InputError(name_, "the surface encloses no volume; it must be the boundary of a solid body");
  if (volume_ < 0)
    for (auto& triangle : triangles_) std::swap(triangle[1], triangle[2]);
  volume_ = std::abs(volume_);
  sort_triangles();
  build(0, static_cast<std::int32_t>(triangles_.size()));
}

std::string ClosedSurface::describe_vertex(std::int32_t vertex) const {
  std::ostringstream text;
  text << vertex << " ("
       << vertices_[vertex].transpose().format(Eigen::IOFormat(6, Eigen::DontAlignCols, ", ", ", ")) << ")";
  return text.str();
}

void ClosedSurface::check_closed() const {
  for (std::size_t t = 0; t < triangles_.size(); ++t)
    for (const std::int32_t vertex : triangles_[t])
      if (vertex < 0 || vertex >= std::ssize(vertices_) || !vertices_[vertex].allFinite())
        throw InputError(name_, "triangle " + std::to_string(t) +
                                    " has a corner that does not exist or is not finite");
  std::int64_t open = 0, turned = 0;
  std::optional<Passage> first_open, first_turned;
  const std::vector<Passage> passages = sorted_passages(triangles_);
  for (auto begin = passages.begin(); begin != passages.end();) {
    int balance = 0;
    auto end = begin;
    for (; end != passages.end() && end->low == begin->low && end->high == begin->high; ++end)
      balance += end->direction;
    if ((end - begin) % 2 != 0) {
      ++open;
      if (!first_open) first_open = *begin;
    } else if (balance != 0) {
      ++turned;
      if (!first_turned) first_turned = *begin;
    }
    begin = end;
  }
  const auto edge = [&](const Passage& passage) {
    return "the first of them from vertex " + describe_vertex(passage.low) + " to vertex " +
           describe_vertex(passage.high);
  };
  if (open > 0)
    throw InputError(name_, "the surface is not closed: " + std::to_string(open) +
                                (open == 1 ? " edge belongs" : " edges belong") +
                                " to an odd number of triangles, " + edge(*first_open) +
                                "; close holes, merge vertices at the same place, and remove triangles that "
                                "are there twice or stick out");
  if (turned > 0)
    throw InputError(name_, "the triangles at " + std::to_string(turned) +
                                (turned == 1 ? " edge" : " edges") + " are not oriented alike, " +
                                edge(*first_turned) + "; turn triangles so that all normals point outwards");
}

void ClosedSurface::sort_triangles() {
  Eigen::AlignedBox3d all;
  for (const auto& triangle : triangles_)
    for (const std::int32_t vertex : triangle) all.extend(vertices_[vertex]);
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t t = 0; t < triangles_.size(); ++t) {
    const auto& [a, b, c] = triangles_[t];
    const Eigen::Vector3d centre = (vertices_[a] + vertices_[b] + vertices_[c]) / 3;
    order.emplace_back(geometry::morton_code<3>(centre, all.min(), all.max()), t);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::array<std::int32_t, 3>> sorted;
  for (const auto& [code, t] : order) sorted.push_back(triangles_[t]);
  triangles_ = std::move(sorted);
  normals_.reserve(triangles_.size());
  for (const auto& [a, b, c] : triangles_)
    normals_.push_back(unit_normal(vertices_[a], vertices_[b], vertices_[c]));
}

std::int32_t ClosedSurface::build(std::int32_t first, std::int32_t last) {
  const auto number = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back({{}, first, last, 0});
  Eigen::AlignedBox3d box;
  if (last - first <= leaf_size) {
    for (std::int32_t t = first; t < last; ++t)
      for (const std::int32_t vertex : triangles_[t]) box.extend(vertices_[vertex]);
  } else {
    const std::int32_t middle = first + (last - first) / 2;
    const std::int32_t left = build(first, middle), right = build(middle, last);
    box = nodes_[left].box.merged(nodes_[right].box);
    nodes_[number].right = right;
  }
  nodes_[number].box = box;
  return number;
}

/// The signed number of times that a ray from `point` along x crosses the triangle: 1 outwards, -1 inwards.
int ClosedSurface::crossings(const Eigen::Vector3d& point, std::int32_t triangle) const {
  const auto& corner = triangles_[triangle];
  const Eigen::Vector2d seen = point.tail<2>();
  // Winding number of the triangle seen along x around the point, as if this were shifted by (eps^2, eps).
  int winding = 0;
  for (int i = 0; i < 3; ++i) {
    const Eigen::Vector2d a = vertices_[corner[i]].tail<2>(), b = vertices_[corner[(i + 1) % 3]].tail<2>();
    if (a.y() <= seen.y() && seen.y() < b.y())
      winding += geometry::orientation(a, b, seen) > 0;
    else if (b.y() <= seen.y() && seen.y() < a.y())
      winding -= geometry::orientation(b, a, seen) > 0;
  }
  if (winding == 0) return 0;
  const int side =
      geometry::orientation(vertices_[corner[0]], vertices_[corner[1]], vertices_[corner[2]], point);
  return side * winding < 0 ? winding : 0;
}

bool ClosedSurface::contains(const Eigen::Vector3d& point) const {
  int winding = 0;
  std::vector<std::int32_t> open{0};
  while (!open.empty()) {
    const std::int32_t number = open.back();
    const Node& node = nodes_[number];
    open.pop_back();
    if (node.box.max().x() < point.x() ||
        (node.box.min().tail<2>().array() > point.tail<2>().array()).any() ||
        (node.box.max().tail<2>().array() < point.tail<2>().array()).any())
      continue;
    if (node.right != 0) {
      open.push_back(node.right);
      open.push_back(number + 1);
      continue;
    }
    for (std::int32_t t = node.first; t < node.last; ++t) winding += crossings(point, t);
  }
  return winding > 0;
}

/// Squared distance of a triangle, or infinity where it is farther than `bound` because its plane is.
double ClosedSurface::distance_squared(const Eigen::Vector3d& point, std::int32_t triangle,
                                       double bound) const {
  constexpr double rounding = 1e-8;
  const auto& corners = triangles_[triangle];
  const double off_plane = normals_[triangle].dot(point - vertices_[corners[0]]);
  if (off_plane * off_plane > bound * (1 + rounding)) return std::numeric_limits<double>::infinity();
  return geometry::distance_squared<3>(geometry::StencilKind::vertex_face,
                                       stencil(point, vertices_, corners));
}

std::optional<ClosedSurface::Nearest> ClosedSurface::nearest(const Eigen::Vector3d& point,
                                                             double within) const {
  double bound = within * within;
  std::int32_t closest = -1;
  std::vector<std::pair<double, std::int32_t>> open{{nodes_[0].box.squaredExteriorDistance(point), 0}};
  while (!open.empty()) {
    const auto [box_distance, number] = open.back();
    const Node& node = nodes_[number];
    open.pop_back();
    if (box_distance >= bound) continue;
    if (node.right != 0) {
      std::pair left{nodes_[number + 1].box.squaredExteriorDistance(point), number + 1};
      std::pair right{nodes_[node.right].box.squaredExteriorDistance(point), node.right};
      if (left < right) std::swap(left, right);
      open.push_back(left);
      open.push_back(right);
      continue;
    }
    for (std::int32_t t = node.first; t < node.last; ++t) {
      const double distance = distance_squared(point, t, bound);
      if (distance >= bound) continue;
      bound = distance;
      closest = t;
    }
  }
  if (closest < 0) return std::nullopt;
  const auto found = geometry::closest_points<3>(geometry::StencilKind::vertex_face,
                                                 stencil(point, vertices_, triangles_[closest]));
  return Nearest{point - found.separation, std::sqrt(found.distance_squared)};
}

/// Calls act(triangle) for those nearer than the root of `bound`, until one call returns false.
template <class Act>
void ClosedSurface::for_triangles_within(const Eigen::Vector3d& point, double bound, Act act) const {
  std::vector<std::int32_t> open{0};
  while (!open.empty()) {
    const std::int32_t number = open.back();
    const Node& node = nodes_[number];
    open.pop_back();
    if (node.box.squaredExteriorDistance(point) >= bound) continue;
    if (node.right != 0) {
      open.push_back(node.right);
      open.push_back(number + 1);
      continue;
    }
    for (std::int32_t t = node.first; t < node.last; ++t)
      if (distance_squared(point, t, bound) < bound && !act(t)) return;
  }
}

bool ClosedSurface::is_closer(const Eigen::Vector3d& point, double distance) const {
  bool found = false;
  for_triangles_within(point, distance * distance, [&](std::int32_t) { return !(found = true); });
  return found;
}

void ClosedSurface::find_triangles(const Eigen::Vector3d& point, double within,
                                   std::vector<std::int32_t>& found) const {
  for_triangles_within(point, within * within, [&](std::int32_t triangle) {
    found.push_back(triangle);
    return true;
  });
}

std::optional<ClosedSurface::Nearest>
ClosedSurface::nearest_on(std::int32_t triangle, const Eigen::Vector3d& point, double within) const {
  const auto& [a, b, c] = triangles_[triangle];
  const Eigen::Vector3d& normal = normals_[triangle];
  const double off_plane = normal.dot(point - vertices_[a]);
  if (std::abs(off_plane) >= within) return std::nullopt;
  // Most points lie beside the inside of a triangle, which needs no factorisation.
  const auto is_beside = [&](std::int32_t from, std::int32_t to) {
    return (vertices_[to] - vertices_[from]).cross(Eigen::Vector3d(point - vertices_[from])).dot(normal) > 0;
  };
  if (is_beside(a, b) && is_beside(b, c) && is_beside(c, a))
    return Nearest{point - off_plane * normal, std::abs(off_plane)};
  const auto found = geometry::closest_points<3>(geometry::StencilKind::vertex_face,
                                                 stencil(point, vertices_, triangles_[triangle]));
  if (found.distance_squared >= within * within) return std::nullopt;
  return Nearest{point - found.separation, std::sqrt(found.distance_squared)};
}

double ClosedSurface::signed_distance(const Eigen::Vector3d& point) const {
  const double distance = nearest(point)->distance;
  return contains(point) ? -distance : distance;
}

ClosedSurface boundary_of_body(const mesh::SimplexMesh& mesh, std::int32_t body) {
  const std::string& name = mesh.body_names[body];
  if (mesh.dim != 3)
    throw InputError(name, "bodies of particles fill tetrahedra or closed surfaces in 3D, not meshes in 2D");
  // Facets opposite to vertex i, seen from outside of a positively oriented tetrahedron.
  constexpr int corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::map<std::int32_t, std::int32_t> number;
  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::int32_t, 3>> triangles;
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    if (mesh.cell_body[cell] != body) continue;
    for (int i = 0; i < 4; ++i) {
      if (mesh.facet_ids[cell][i] == mesh::interior_facet) continue;
      auto& triangle = triangles.emplace_back();
      for (int k = 0; k < 3; ++k) {
        const std::int32_t vertex = mesh.cells[cell][corners[i][k]];
        const auto [entry, is_new] = number.try_emplace(vertex, std::ssize(vertices));
        if (is_new) vertices.push_back(mesh.vertices[vertex]);
        triangle[k] = entry->second;
      }
    }
  }
  return {name, std::move(vertices), std::move(triangles)};
}

ClosedSurface on_every_rank(const parallel::Communicator& comm, const ClosedSurface* of_first_rank) {
  std::string name;
  std::vector<std::array<double, 3>> places;
  std::vector<std::array<std::int32_t, 3>> triangles;
  if (comm.rank() == 0) {
    name = of_first_rank->name();
    for (const Eigen::Vector3d& vertex : of_first_rank->vertices())
      places.push_back({vertex.x(), vertex.y(), vertex.z()});
    triangles = of_first_rank->triangles();
  }
  comm.broadcast(name);
  comm.broadcast(places);
  comm.broadcast(triangles);
  return parallel::collectively(comm, [&] {
    std::vector<Eigen::Vector3d> vertices;
    for (const auto& [x, y, z] : places) vertices.emplace_back(x, y, z);
    return ClosedSurface(std::move(name), std::move(vertices), std::move(triangles));
  });
}

} // namespace recoil::particles
