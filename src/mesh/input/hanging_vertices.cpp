#include "mesh/input/hanging_vertices.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include <Eigen/Geometry>

#include "recoil/geometry/box_tree.hpp"

namespace recoil::mesh {

namespace {

using Ends = std::array<std::int32_t, 2>;
using Segment = std::array<Eigen::Vector3d, 2>;

/// Share of the shorter edge: farther off than this, edges are no continuation of each other.
constexpr double most_off = 1e-3;

/// Places of the ends of `b` along `a`, from 0 to its length [m]; none unless they overlap.
std::optional<std::array<double, 2>> places_along(const Segment& a, const Segment& b, double tolerance) {
  const Eigen::Vector3d along_a = a[1] - a[0], along_b = b[1] - b[0];
  const double length = along_a.norm(), other = along_b.norm();
  const double off = std::min(tolerance, most_off * std::min(length, other));
  // The line of the longer one is known better.
  const bool a_is_longer = length >= other;
  const Segment& line = a_is_longer ? a : b;
  const Eigen::Vector3d axis = (a_is_longer ? along_a : along_b).normalized();
  for (const Eigen::Vector3d& end : a_is_longer ? b : a)
    if (!((end - line[0]).cross(axis).norm() <= off)) return {};
  const double first = along_a.dot(b[0] - a[0]) / length, second = along_a.dot(b[1] - a[0]) / length;
  const double common = std::min(length, std::max(first, second)) - std::max(0.0, std::min(first, second));
  if (!(common > 2 * off)) return {};
  return std::array{first, second};
}

/// For each edge, the vertices inside of it at which edges on the same line end, in their order along it.
std::vector<std::vector<std::int32_t>> vertices_inside(const std::vector<Eigen::Vector3d>& vertices,
                                                       const std::vector<Ends>& edges, double tolerance) {
  const auto segment = [&](std::int32_t e) { return Segment{vertices[edges[e][0]], vertices[edges[e][1]]}; };
  std::vector<Eigen::AlignedBox3d> boxes;
  for (std::int32_t e = 0; e < std::ssize(edges); ++e) {
    Eigen::AlignedBox3d box(vertices[edges[e][0]]);
    box.extend(vertices[edges[e][1]]);
    boxes.emplace_back(box.min().array() - tolerance, box.max().array() + tolerance);
  }
  const geometry::BoxTree tree(boxes);
  std::vector<std::vector<std::int32_t>> inside(edges.size());
  for (std::int32_t e = 0; e < std::ssize(edges); ++e) {
    const Segment own = segment(e);
    const double length = (own[1] - own[0]).norm(), margin = 2 * std::min(tolerance, most_off * length);
    std::vector<std::pair<double, std::int32_t>> found;
    for (const std::int32_t other : tree.meeting(boxes[e])) {
      if (other == e) continue;
      const auto places = places_along(own, segment(other), tolerance);
      for (std::size_t i = 0; places && i < 2; ++i)
        if ((*places)[i] > margin && (*places)[i] < length - margin)
          found.emplace_back((*places)[i], edges[other][i]);
    }
    std::sort(found.begin(), found.end());
    // Vertices that nearly coincide make no piece between them.
    double last = 0;
    for (const auto& [place, vertex] : found) {
      if (place - last > margin) inside[e].push_back(vertex), last = place;
    }
  }
  return inside;
}

/// A triangle and the vertices inside of its sides, side i from corner i to corner i + 1.
struct SplitTriangle {
  std::array<std::int32_t, 3> corners;
  std::array<std::vector<std::int32_t>, 3> inside;
};

/// Halves it from a vertex on one of its sides to the opposite corner, then the halves.
void add_pieces(const SplitTriangle& triangle, std::vector<std::array<std::int32_t, 3>>& pieces) {
  std::size_t side = 0;
  while (side < 3 && triangle.inside[side].empty()) ++side;
  if (side == 3) {
    pieces.push_back(triangle.corners);
    return;
  }
  const auto& on = triangle.inside[side];
  const auto middle = on.begin() + (std::ssize(on) - 1) / 2;
  const std::size_t next = (side + 1) % 3, opposite = (side + 2) % 3;
  SplitTriangle first = triangle, second = triangle;
  first.corners[next] = *middle;
  first.inside[side] = {on.begin(), middle};
  first.inside[next].clear();
  second.corners[side] = *middle;
  second.inside[side] = {middle + 1, on.end()};
  second.inside[opposite].clear();
  add_pieces(first, pieces);
  add_pieces(second, pieces);
}

} // namespace

double single_precision_error(std::span<const Eigen::Vector3d> vertices) {
  double largest = 0;
  for (const Eigen::Vector3d& p : vertices) largest = std::max(largest, p.cwiseAbs().maxCoeff());
  return std::numeric_limits<float>::epsilon() * largest;
}

bool edges_overlap(const std::array<Eigen::Vector3d, 2>& a, const std::array<Eigen::Vector3d, 2>& b,
                   double tolerance) {
  return places_along(a, b, tolerance).has_value();
}

std::vector<std::int32_t> free_sides(std::span<const std::array<std::int32_t, 3>> triangles) {
  std::vector<std::pair<Ends, std::int32_t>> sides;
  for (std::int32_t t = 0; t < std::ssize(triangles); ++t)
    for (std::int32_t i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(triangles[t][i], triangles[t][(i + 1) % 3]);
      sides.push_back({{low, high}, 3 * t + i});
    }
  std::sort(sides.begin(), sides.end());
  std::vector<std::int32_t> free;
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    for (end = i + 1; end < sides.size() && sides[end].first == sides[i].first;) ++end;
    if (end == i + 1) free.push_back(sides[i].second);
  }
  std::sort(free.begin(), free.end());
  return free;
}

Splits split_at_hanging_vertices(RawMesh& raw, double tolerance) {
  const std::vector<std::int32_t> sides = free_sides(raw.triangles);
  std::vector<Ends> edges;
  for (const std::int32_t side : sides) {
    const auto& corners = raw.triangles[side / 3];
    edges.push_back({corners[side % 3], corners[(side + 1) % 3]});
  }
  const auto inside = vertices_inside(raw.vertices, edges, tolerance);
  Splits splits;
  std::map<std::int32_t, SplitTriangle> split;
  for (std::size_t k = 0; k < sides.size(); ++k) {
    if (inside[k].empty()) continue;
    const std::int32_t triangle = sides[k] / 3;
    if (splits.vertices == 0) splits = {0, inside[k].front(), static_cast<std::size_t>(triangle)};
    splits.vertices += inside[k].size();
    SplitTriangle& entry = split[triangle];
    entry.corners = raw.triangles[triangle];
    entry.inside[sides[k] % 3] = inside[k];
  }
  if (split.empty()) return splits;
  const bool tagged = raw.triangle_tags.size() == raw.triangles.size();
  std::vector<std::array<std::int32_t, 3>> triangles;
  std::vector<std::int32_t> tags;
  for (std::int32_t t = 0; t < std::ssize(raw.triangles); ++t) {
    if (const auto found = split.find(t); found != split.end())
      add_pieces(found->second, triangles);
    else
      triangles.push_back(raw.triangles[t]);
    if (tagged) tags.resize(triangles.size(), raw.triangle_tags[t]);
  }
  raw.triangles = std::move(triangles);
  raw.triangle_tags = std::move(tags);
  return splits;
}

Splits split_overlapping_edges(const std::vector<Eigen::Vector3d>& vertices, std::vector<Ends>& edges,
                               double tolerance) {
  const auto inside = vertices_inside(vertices, edges, tolerance);
  Splits splits;
  std::vector<Ends> pieces;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (splits.vertices == 0 && !inside[e].empty()) splits = {0, inside[e].front(), e};
    splits.vertices += inside[e].size();
    std::int32_t from = edges[e][0];
    for (const std::int32_t vertex : inside[e]) {
      pieces.push_back({from, vertex});
      from = vertex;
    }
    pieces.push_back({from, edges[e][1]});
  }
  edges = std::move(pieces);
  return splits;
}

} // namespace recoil::mesh
