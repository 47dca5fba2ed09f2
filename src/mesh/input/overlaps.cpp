#include "mesh/input/overlaps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <Eigen/Geometry>

#include "mesh/input/hanging_vertices.hpp"
#include "recoil/geometry/box_tree.hpp"
#include "recoil/geometry/morton.hpp"

namespace recoil::mesh {

namespace {

/// Share of the extent of the surfaces: what is off a plane or line by no more lies in it.
constexpr double relative_offset = 1e-7;
/// Triangles that are turned to each other by more do not lie in one plane, however small they are.
constexpr double largest_sine = 1e-3;
/// Share of the smaller area: neighbours overlap by rounding.
constexpr double least_share = 1e-2;

using Corners = std::array<Eigen::Vector3d, 3>;
using Polygon = std::vector<Eigen::Vector2d>;

double cross(const Eigen::Vector2d& a, const Eigen::Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }

double area_of(const Polygon& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i)
    twice += cross(polygon[i], polygon[(i + 1) % polygon.size()]);
  return 0.5 * twice;
}

/// What lies to the left of the line from a to b (Sutherland and Hodgman).
Polygon left_part(const Polygon& polygon, const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
  Polygon part;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Eigen::Vector2d &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
    const double at_p = cross(b - a, p - a), at_q = cross(b - a, q - a);
    if (at_p >= 0) part.push_back(p);
    if ((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0)) part.push_back(p + at_p / (at_p - at_q) * (q - p));
  }
  return part;
}

Polygon common_part(Polygon a, Polygon b) {
  if (area_of(a) < 0) std::reverse(a.begin(), a.end());
  if (area_of(b) < 0) std::reverse(b.begin(), b.end());
  for (std::size_t i = 0; i < b.size() && !a.empty(); ++i) a = left_part(a, b[i], b[(i + 1) % b.size()]);
  return a;
}

/// Fills `overlap` but for its numbers.
bool overlap_in_plane(const Corners& a, const Corners& b, double tolerance, Overlap& overlap) {
  const auto twice_area = [](const Corners& t) -> Eigen::Vector3d {
    return (t[1] - t[0]).cross(t[2] - t[0]);
  };
  const Eigen::Vector3d normal_a = twice_area(a), normal_b = twice_area(b);
  const bool a_is_larger = normal_a.norm() >= normal_b.norm();
  const Corners &large = a_is_larger ? a : b, &small = a_is_larger ? b : a;
  const Eigen::Vector3d normal = (a_is_larger ? normal_a : normal_b).normalized();
  const Eigen::Vector3d other = a_is_larger ? normal_b : normal_a;
  if (!(normal.cross(other).norm() <= largest_sine * other.norm())) return false;
  for (const Eigen::Vector3d& corner : small)
    if (!(std::abs(normal.dot(corner - large[0])) <= tolerance)) return false;
  const Eigen::Vector3d x = (large[1] - large[0]).normalized(), y = normal.cross(x);
  const auto in_plane = [&](const Corners& t) {
    Polygon polygon;
    for (const Eigen::Vector3d& p : t) polygon.emplace_back(x.dot(p - large[0]), y.dot(p - large[0]));
    return polygon;
  };
  const Polygon common = common_part(in_plane(a), in_plane(b));
  if (common.size() < 3 || !(2 * area_of(common) > least_share * other.norm())) return false;
  Eigen::Vector2d middle = Eigen::Vector2d::Zero();
  for (const Eigen::Vector2d& p : common) middle += p / double(common.size());
  overlap.measure = area_of(common);
  overlap.same_side = normal_a.dot(normal_b) > 0;
  overlap.place = large[0] + middle.x() * x + middle.y() * y;
  return true;
}

template <std::size_t n>
std::array<Eigen::Vector3d, n> points_of(std::span<const Eigen::Vector3d> vertices,
                                         const std::array<std::int32_t, n>& numbers) {
  std::array<Eigen::Vector3d, n> points;
  for (std::size_t i = 0; i < n; ++i) points[i] = vertices[numbers[i]];
  return points;
}

template <std::size_t n>
Eigen::AlignedBox3d box_around(const std::array<Eigen::Vector3d, n>& points, double tolerance) {
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& p : points) box.extend(p);
  return {(box.min().array() - tolerance).matrix(), (box.max().array() + tolerance).matrix()};
}

double tolerance_of(std::span<const Eigen::Vector3d> a, std::span<const Eigen::Vector3d> b) {
  Eigen::AlignedBox3d box;
  for (const auto& vertices : {a, b})
    for (const Eigen::Vector3d& p : vertices) box.extend(p);
  return box.isEmpty() ? 0 : relative_offset * box.diagonal().norm();
}

/// A tree of so many boxes takes a few MB; more are searched block by block.
constexpr std::size_t block_size = 1 << 14;

/// Numbers of neighbours, and the box around all of them.
struct Block {
  std::vector<std::int32_t> numbers; ///< ascending
  Eigen::AlignedBox3d box;
};

/// Cuts `count` things, `box(i)` each, into blocks along a space-filling curve.
template <class BoxOf>
std::vector<Block> blocks_of(std::size_t count, const BoxOf& box) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> order(count);
  Eigen::AlignedBox3d all;
  for (std::size_t i = 0; i < count; ++i) all.extend(box(i));
  for (std::size_t i = 0; i < count; ++i)
    order[i] = {geometry::morton_code<3>(box(i).center(), all.min(), all.max()), std::int32_t(i)};
  if (count > block_size) std::ranges::sort(order);
  std::vector<Block> blocks;
  for (std::size_t begin = 0; begin < count; begin += block_size) {
    Block& block = blocks.emplace_back();
    for (std::size_t k = begin; k < std::min(begin + block_size, count); ++k) {
      block.numbers.push_back(order[k].second);
      block.box.extend(box(order[k].second));
    }
    std::ranges::sort(block.numbers);
  }
  return blocks;
}

/// Calls visit(i, j) where `box_a(i)` and `box_b(j)` meet.
template <class BoxA, class BoxB, class Visit>
void for_each_meeting(std::size_t num_a, const BoxA& box_a, std::size_t num_b, const BoxB& box_b,
                      const Visit& visit) {
  const std::vector<Block> blocks = blocks_of(num_a, box_a);
  for (const Block& targets : blocks_of(num_b, box_b)) {
    std::vector<Eigen::AlignedBox3d> boxes;
    for (const std::int32_t j : targets.numbers) boxes.push_back(box_b(j));
    const geometry::BoxTree tree(std::move(boxes));
    for (const Block& block : blocks) {
      if (!block.box.intersects(targets.box)) continue;
      for (const std::int32_t i : block.numbers)
        for (const std::int32_t k : tree.meeting(box_a(i))) visit(i, targets.numbers[k]);
    }
  }
}

/// As one search of all finds them.
void sort_by_numbers(std::vector<Overlap>& overlaps) {
  std::ranges::sort(overlaps, {}, [](const Overlap& o) { return std::pair(o.first, o.second); });
}

/// Pairs of which `meet(points of a, points of b, tolerance, overlap)` is true.
template <std::size_t n>
std::vector<Overlap> find_overlaps(std::span<const Eigen::Vector3d> vertices_a,
                                   std::span<const std::array<std::int32_t, n>> a,
                                   std::span<const Eigen::Vector3d> vertices_b,
                                   std::span<const std::array<std::int32_t, n>> b, const auto& meet) {
  const bool within_one = a.data() == b.data();
  const double tolerance = tolerance_of(vertices_a, vertices_b);
  const auto box_a = [&](std::size_t i) { return box_around(points_of(vertices_a, a[i]), tolerance); };
  const auto box_b = [&](std::size_t j) { return box_around(points_of(vertices_b, b[j]), 0); };
  std::vector<Overlap> overlaps;
  for_each_meeting(a.size(), box_a, b.size(), box_b, [&](std::int32_t i, std::int32_t j) {
    if (within_one && j <= i) return;
    Overlap overlap{i, j, true, {}, 0};
    if (meet(points_of(vertices_a, a[i]), points_of(vertices_b, b[j]), tolerance, overlap))
      overlaps.push_back(overlap);
  });
  sort_by_numbers(overlaps);
  return overlaps;
}

/// Fills the place: the middle of the two inner ones of the four ends.
bool overlap_on_line(const std::array<Eigen::Vector3d, 2>& a, const std::array<Eigen::Vector3d, 2>& b,
                     double tolerance, Overlap& overlap) {
  if (!edges_overlap(a, b, tolerance)) return false;
  std::array<Eigen::Vector3d, 4> ends{a[0], a[1], b[0], b[1]};
  const Eigen::Vector3d along = a[1] - a[0];
  overlap.same_side = along.dot(b[1] - b[0]) > 0;
  std::ranges::sort(ends, {}, [&](const Eigen::Vector3d& p) { return along.dot(p - a[0]); });
  overlap.place = 0.5 * (ends[1] + ends[2]);
  overlap.measure = (ends[2] - ends[1]).norm();
  return true;
}

/// Which part of the way from p to q is left of the sides of a triangle that turns to the left.
std::array<double, 2> part_inside(const Eigen::Vector2d& p, const Eigen::Vector2d& q,
                                  const Polygon& triangle) {
  std::array<double, 2> part{0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const Eigen::Vector2d &a = triangle[i], &b = triangle[(i + 1) % 3];
    const double at_p = cross(b - a, p - a), at_q = cross(b - a, q - a);
    if (at_p < 0 && at_q < 0) return {0, 0};
    if (at_p < 0) part[0] = std::max(part[0], at_p / (at_p - at_q));
    if (at_q < 0) part[1] = std::min(part[1], at_p / (at_p - at_q));
  }
  return part;
}

/// Fills the place: the middle of what lies inside.
bool lies_in(const std::array<Eigen::Vector3d, 2>& edge, const Corners& t, double tolerance,
             Overlap& overlap) {
  const Eigen::Vector3d normal = (t[1] - t[0]).cross(t[2] - t[0]).normalized();
  const Eigen::Vector3d x = (t[1] - t[0]).normalized(), y = normal.cross(x), along = edge[1] - edge[0];
  if (!(std::abs(normal.dot(along)) <= largest_sine * along.norm())) return false;
  for (const Eigen::Vector3d& end : edge)
    if (!(std::abs(normal.dot(end - t[0])) <= tolerance)) return false;
  const auto in_plane = [&](const Eigen::Vector3d& p) {
    return Eigen::Vector2d(x.dot(p - t[0]), y.dot(p - t[0]));
  };
  const auto [from, to] =
      part_inside(in_plane(edge[0]), in_plane(edge[1]), {in_plane(t[0]), in_plane(t[1]), in_plane(t[2])});
  overlap.place = edge[0] + 0.5 * (from + to) * along;
  overlap.measure = (to - from) * along.norm();
  return to - from > least_share && (to - from) * along.norm() > 2 * tolerance;
}

} // namespace

std::vector<Overlap> edges_in_triangles(const EdgeSpan& edges, const TriangleSpan& surface) {
  const bool within_one = edges.vertices.data() == surface.vertices.data();
  const double tolerance = tolerance_of(edges.vertices, surface.vertices);
  const auto points = [&](std::size_t e) { return points_of(edges.vertices, edges.ends[e]); };
  const auto corners = [&](std::size_t t) { return points_of(surface.vertices, surface.corners[t]); };
  std::vector<Overlap> found;
  for_each_meeting(
      edges.ends.size(), [&](std::size_t e) { return box_around(points(e), tolerance); },
      surface.corners.size(), [&](std::size_t t) { return box_around(corners(t), tolerance); },
      [&](std::int32_t e, std::int32_t t) {
        const auto is_corner = [&](std::int32_t v) {
          return std::ranges::find(surface.corners[t], v) != surface.corners[t].end();
        };
        if (within_one && std::ranges::all_of(edges.ends[e], is_corner)) return;
        Overlap overlap{e, t, true, {}, 0};
        if (lies_in(points(e), corners(t), tolerance, overlap)) found.push_back(overlap);
      });
  sort_by_numbers(found);
  return found;
}

std::vector<Overlap> overlapping_triangles(const TriangleSpan& a, const TriangleSpan& b) {
  return find_overlaps(a.vertices, a.corners, b.vertices, b.corners, overlap_in_plane);
}
std::vector<Overlap> overlapping_triangles(const TriangleSpan& surface) {
  return overlapping_triangles(surface, surface);
}
std::vector<Overlap> overlapping_edges(const EdgeSpan& a, const EdgeSpan& b) {
  return find_overlaps(a.vertices, a.ends, b.vertices, b.ends, overlap_on_line);
}
std::vector<Overlap> overlapping_edges(const EdgeSpan& edges) { return overlapping_edges(edges, edges); }

} // namespace recoil::mesh
