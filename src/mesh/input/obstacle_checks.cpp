#include "mesh/input/obstacle_checks.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <Eigen/Geometry>
#include <fmt/format.h>

#include "mesh/input/describe.hpp"
#include "mesh/input/hanging_vertices.hpp"
#include "mesh/input/overlaps.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"

namespace recoil::mesh {

namespace {

/// Height over longest edge. The normal of a thinner triangle is rounding where coordinates went through
/// single precision.
constexpr double thinnest = 1e-7;
/// Triangles that are turned to each other by less lie in one plane (as for FlatParts).
constexpr double sine_of_a_plane = 1e-6;
/// Share of an obstacle: with more on another one it is taken to be there twice.
constexpr double most_share = 0.5;
/// Share of a squared length: an area that is nothing but rounding.
constexpr double rounding = 1e-14;

/// Drops the items whose sorted vertices an earlier one has, and their tags if there is one per item.
template <std::size_t n>
std::size_t keep_first(std::vector<std::array<std::int32_t, n>>& items, std::vector<std::int32_t>* tags) {
  std::vector<std::pair<std::array<std::int32_t, n>, std::int32_t>> order;
  order.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    order.emplace_back(items[i], static_cast<std::int32_t>(i));
    std::ranges::sort(order.back().first);
  }
  std::ranges::sort(order);
  std::vector<char> repeats(items.size(), 0);
  for (std::size_t k = 1; k < order.size(); ++k)
    repeats[order[k].second] = order[k].first == order[k - 1].first ? 1 : 0;
  const bool tagged = tags && tags->size() == items.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (repeats[i] != 0) continue;
    items[kept] = items[i];
    if (tagged) (*tags)[kept] = (*tags)[i];
    ++kept;
  }
  const std::size_t dropped = items.size() - kept;
  items.resize(kept);
  if (tagged) tags->resize(kept);
  return dropped;
}

/// Makes one vertex of those at exactly the same position: the first keeps its number, the others stay
/// unused.
/// @return how many others there were
std::size_t merge_equal_vertices(RawMesh& raw) {
  const auto& p = raw.vertices;
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return std::lexicographical_compare(p[a].data(), p[a].data() + 3, p[b].data(), p[b].data() + 3);
  };
  for (const auto& vertex : p)
    if (!vertex.allFinite()) return 0; // the caller refuses these; they have no order
  std::vector<std::int32_t> order(p.size()), first(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), before);
  std::size_t merged = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool repeats = i > 0 && p[order[i - 1]] == p[order[i]];
    first[order[i]] = repeats ? first[order[i - 1]] : order[i];
    merged += repeats;
  }
  if (merged == 0) return 0;
  const auto renumber = [&](auto& items) {
    for (auto& item : items)
      for (auto& v : item) v = first[v];
  };
  renumber(raw.tetrahedra);
  renumber(raw.triangles);
  renumber(raw.edges);
  for (auto& v : raw.points) v = first[v];
  return merged;
}

/// Keeps the first of triangles with the same vertices, of edges with the same ends and of equal points,
/// whatever their orientation: contact would count each of them. Tags of triangles go with them.
/// @return how many were dropped
std::size_t drop_repeated_primitives(RawMesh& raw) {
  std::size_t dropped = keep_first(raw.triangles, &raw.triangle_tags) + keep_first(raw.edges, nullptr);
  std::set<std::int32_t> seen;
  dropped += std::erase_if(raw.points, [&](std::int32_t v) { return !seen.insert(v).second; });
  return dropped;
}

std::string describe_corners(const RawMesh& raw, const std::array<std::int32_t, 3>& v) {
  return describe(raw.vertices[v[0]], 3) + ", " + describe(raw.vertices[v[1]], 3) + ", " +
         describe(raw.vertices[v[2]], 3);
}

double twice_the_area(const RawMesh& raw, const std::array<std::int32_t, 3>& v) {
  const Eigen::Vector3d a = raw.vertices[v[1]] - raw.vertices[v[0]];
  return a.cross(raw.vertices[v[2]] - raw.vertices[v[0]]).norm();
}

void check_slivers(const RawMesh& raw, const std::string& where) {
  for (std::size_t t = 0; t < raw.triangles.size(); ++t) {
    const auto& v = raw.triangles[t];
    double longest = 0;
    for (std::size_t i = 0; i < 3; ++i)
      longest = std::max(longest, (raw.vertices[v[(i + 1) % 3]] - raw.vertices[v[i]]).norm());
    const double height = twice_the_area(raw, v) / longest;
    if (!(height <= thinnest * longest)) continue;
    throw InputError(
        where, fmt::format("triangle {} (counted from 0) is a sliver, at {}: its height is {:.2g} of "
                           "its longest edge, and less than {:g} tells no normal; collapse its shortest "
                           "edge, or swap its longest one",
                           t, describe_corners(raw, v), height / longest, thinnest));
  }
}

/// Whether a transformation has left nothing of a triangle but a line.
bool is_flattened(const SurfaceMesh& surface, const std::array<std::int32_t, 3>& v) {
  const auto side = [&](std::size_t i) -> Eigen::Vector3d {
    return surface.vertices[v[(i + 1) % 3]] - surface.vertices[v[i]];
  };
  const double longest = std::max({side(0).norm(), side(1).norm(), side(2).norm()});
  return side(0).cross(side(1)).norm() <= rounding * longest * longest;
}

/// The end of a message: ", the first of 5" or nothing.
std::string out_of(std::size_t count) { return count > 1 ? fmt::format(", one of {} such", count) : ""; }

/// What more than two triangles do at an edge.
enum class SharedEdge { creases, continues_flat, overlaps };

SharedEdge judge(const SurfaceMesh& surface, const std::array<std::int32_t, 2>& edge,
                 std::span<const std::int32_t> sides) {
  const Eigen::Vector3d& origin = surface.vertices[edge[0]];
  const Eigen::Vector3d along = surface.vertices[edge[1]] - origin;
  SharedEdge found = SharedEdge::creases;
  for (std::size_t i = 0; i < sides.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto normal = [&](std::int32_t side) -> Eigen::Vector3d {
        const auto& corners = surface.triangles[side / 3];
        return along.cross(surface.vertices[corners[(side + 2) % 3]] - origin).normalized();
      };
      const Eigen::Vector3d a = normal(sides[i]), b = normal(sides[j]);
      if (a.cross(b).norm() > sine_of_a_plane) continue;
      const auto starts = [&](std::int32_t side) { return surface.triangles[side / 3][side % 3]; };
      if (a.dot(b) > 0 && starts(sides[i]) == starts(sides[j])) return SharedEdge::overlaps;
      found = SharedEdge::continues_flat;
    }
  return found;
}

/// Edges of more than two triangles.
void check_shared_edges(const SurfaceMesh& surface, std::span<const std::int32_t> numbers,
                        const std::string& where) {
  std::vector<std::pair<std::array<std::int32_t, 2>, std::int32_t>> sides;
  for (std::int32_t t = 0; t < std::ssize(surface.triangles); ++t)
    for (std::int32_t i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(surface.triangles[t][i], surface.triangles[t][(i + 1) % 3]);
      sides.push_back({{low, high}, 3 * t + i});
    }
  std::sort(sides.begin(), sides.end());
  std::size_t flat = 0;
  std::string first;
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    std::vector<std::int32_t> around;
    for (end = i; end < sides.size() && sides[end].first == sides[i].first; ++end)
      around.push_back(sides[end].second);
    if (around.size() < 3) continue;
    const SharedEdge kind = judge(surface, sides[i].first, around);
    if (kind == SharedEdge::creases) continue;
    std::vector<int> triangles;
    for (const std::int32_t side : around) triangles.push_back(numbers[side / 3]);
    const std::string place = fmt::format(
        "(triangles {}, counted from 0) between {} and {}", list_of(triangles),
        describe(surface.vertices[sides[i].first[0]], 3), describe(surface.vertices[sides[i].first[1]], 3));
    if (kind == SharedEdge::overlaps)
      throw InputError(where, "an edge is shared by more than two triangles of which some overlap " + place +
                                  "; remove the overlapping triangles");
    if (flat++ == 0) first = place;
  }
  if (flat > 0)
    log_warning_once(
        fmt::format("{}: an edge inside of a flat part is shared by more than two triangles {}{}: contact "
                    "pushes bodies along the flat part there; remove hidden triangles, or make what meets "
                    "the flat part an obstacle of its own that ends more than <dhat> before it",
                    where, first, out_of(flat)));
}

/// Free sides of triangles, as edges.
struct Rim {
  std::vector<std::int32_t> sides;
  std::vector<std::array<std::int32_t, 2>> edges;

  explicit Rim(const SurfaceMesh& surface) : sides(free_sides(surface.triangles)) {
    for (const std::int32_t side : sides) {
      const auto& corners = surface.triangles[side / 3];
      edges.push_back({corners[side % 3], corners[(side + 1) % 3]});
    }
  }
};

/// Whether the triangles of a side of `a` and one of `b` continue each other in one plane.
bool continue_each_other(const SurfaceMesh& a, std::int32_t side_a, const SurfaceMesh& b,
                         std::int32_t side_b) {
  const auto corner = [](const SurfaceMesh& surface, std::int32_t side, std::int32_t k) {
    return surface.vertices[surface.triangles[side / 3][(side + k) % 3]];
  };
  const Eigen::Vector3d origin = corner(a, side_a, 0);
  const Eigen::Vector3d along = corner(a, side_a, 1) - origin;
  const Eigen::Vector3d normal_a = along.cross(corner(a, side_a, 2) - origin).normalized();
  const Eigen::Vector3d normal_b = along.cross(corner(b, side_b, 2) - origin).normalized();
  return normal_a.dot(normal_b) < 0 && normal_a.cross(normal_b).norm() <= sine_of_a_plane;
}

/// Overlaps of rims whose triangles continue each other.
std::vector<Overlap> seams(const SurfaceMesh& a, const Rim& rim_a, const SurfaceMesh& b, const Rim& rim_b) {
  std::vector<Overlap> found =
      overlapping_edges(EdgeSpan{a.vertices, rim_a.edges}, EdgeSpan{b.vertices, rim_b.edges});
  std::erase_if(found, [&](const Overlap& overlap) {
    return !continue_each_other(a, rim_a.sides[overlap.first], b, rim_b.sides[overlap.second]);
  });
  return found;
}

/// Sides at which the surface ends or bends, as edges.
std::vector<std::array<std::int32_t, 2>> creases_of(const SurfaceMesh& surface, const Rim& rim) {
  std::vector<std::array<std::int32_t, 2>> creases = rim.edges;
  std::map<std::array<std::int32_t, 2>, std::int32_t> first;
  for (std::int32_t t = 0; t < std::ssize(surface.triangles); ++t)
    for (std::int32_t i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(surface.triangles[t][i], surface.triangles[t][(i + 1) % 3]);
      const auto [other, is_new] = first.insert({{low, high}, 3 * t + i});
      if (!is_new && !continue_each_other(surface, other->second, surface, 3 * t + i))
        creases.push_back({low, high});
    }
  return creases;
}

/// Free sides of `b` that lie on `a`, but not where it ends or bends: a flat part there has an edge on it.
std::vector<Overlap> rims_on_flat_parts(const SurfaceMesh& a, const Rim& rim_a, const SurfaceMesh& b,
                                        const Rim& rim_b) {
  auto found = edges_in_triangles(EdgeSpan{b.vertices, rim_b.edges}, TriangleSpan{a.vertices, a.triangles});
  if (found.empty()) return found;
  const auto creases = creases_of(a, rim_a);
  std::vector<char> is_crease(rim_b.edges.size(), 0);
  for (const Overlap& overlap :
       overlapping_edges(EdgeSpan{b.vertices, rim_b.edges}, EdgeSpan{a.vertices, creases}))
    if (&a != &b || rim_b.edges[overlap.first] != creases[overlap.second]) is_crease[overlap.first] = 1;
  std::erase_if(found, [&](const Overlap& overlap) { return is_crease[overlap.first] != 0; });
  return found;
}

bool ends_nowhere(const SurfaceMesh& surface) {
  std::vector<std::int32_t> degree(surface.vertices.size(), 0);
  for (const auto& edge : surface.edges)
    for (const std::int32_t v : edge) ++degree[v];
  return std::ranges::all_of(degree, [](std::int32_t n) { return n == 0 || n == 2; });
}

/// Overlaps of two surfaces where bodies may come: what lies back to back is hidden by the closed one of
/// them.
std::vector<Overlap> open_overlaps(const SurfaceMesh& a, const Rim& rim_a, const SurfaceMesh& b,
                                   const Rim& rim_b) {
  const auto drop_hidden = [](std::vector<Overlap>& overlaps) {
    std::erase_if(overlaps, [](const Overlap& overlap) { return !overlap.same_side; });
  };
  auto found =
      overlapping_triangles(TriangleSpan{a.vertices, a.triangles}, TriangleSpan{b.vertices, b.triangles});
  if (rim_a.sides.empty() || rim_b.sides.empty()) drop_hidden(found);
  auto edges = overlapping_edges(EdgeSpan{a.vertices, a.edges}, EdgeSpan{b.vertices, b.edges});
  if (ends_nowhere(a) || ends_nowhere(b)) drop_hidden(edges);
  found.insert(found.end(), edges.begin(), edges.end());
  return found;
}

/// Area of the triangles, or length of the edges of a surface without.
double measure_of(const SurfaceMesh& surface) {
  const auto at = [&](std::int32_t v) -> const Eigen::Vector3d& { return surface.vertices[v]; };
  double sum = 0;
  for (const auto& t : surface.triangles)
    sum += 0.5 * (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).norm();
  if (surface.triangles.empty())
    for (const auto& e : surface.edges) sum += (at(e[1]) - at(e[0])).norm();
  return sum;
}

/// Whether most of one of two obstacles lies on the other: closed ones that touch may have sides in common.
bool coincide(const SurfaceMesh& a, const SurfaceMesh& b, const std::vector<Overlap>& overlaps) {
  double common = 0;
  for (const Overlap& overlap : overlaps) common += overlap.measure;
  return !overlaps.empty() && common > most_share * std::min(measure_of(a), measure_of(b));
}

constexpr const char* end_of_rims = "contact pushes bodies along the flat part at the edge, on both of its "
                                    "sides; where they come near, end it more than <dhat> before";

void warn_of_rims(const SurfaceMesh& a, const Rim& rim_a, const std::string& where_a, const SurfaceMesh& b,
                  const Rim& rim_b, const std::string& where_b) {
  if (const auto found = rims_on_flat_parts(a, rim_a, b, rim_b); !found.empty())
    log_warning_once(fmt::format("{}: the obstacle ends on a flat part of {} around {}{}: {}", where_b,
                                 where_a, describe(found[0].place, 3), out_of(found.size()), end_of_rims));
}

Eigen::AlignedBox3d box_of(const SurfaceMesh& surface) {
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& p : surface.vertices) box.extend(p);
  return box;
}

} // namespace

void check_primitives(const RawMesh& raw, const std::string& where) {
  const auto fail = [&](const char* what, std::size_t index, std::int32_t v) {
    throw InputError(where, std::string(what) + " " + std::to_string(index) +
                                " (counted from 0) uses vertex " + std::to_string(v) + " twice, at " +
                                describe(raw.vertices[v], 3));
  };
  for (std::size_t t = 0; t < raw.triangles.size(); ++t) {
    const auto& v = raw.triangles[t];
    if (v[0] == v[1] || v[0] == v[2]) fail("triangle", t, v[0]);
    if (v[1] == v[2]) fail("triangle", t, v[1]);
    if (twice_the_area(raw, v) == 0)
      throw InputError(where, "triangle " + std::to_string(t) + " (counted from 0) has no area, at " +
                                  describe_corners(raw, v) + "; remove it from the mesh");
  }
  for (std::size_t e = 0; e < raw.edges.size(); ++e)
    if (raw.edges[e][0] == raw.edges[e][1]) fail("edge", e, raw.edges[e][0]);
}

void merge_repeats(RawMesh& raw, const std::string& where) {
  if (!std::ranges::all_of(raw.vertices, [](const Eigen::Vector3d& p) { return p.allFinite(); }))
    return check_primitives(raw, where); // the caller refuses these
  const std::size_t vertices = merge_equal_vertices(raw);
  check_primitives(raw, where);
  check_slivers(raw, where);
  raw.triangle_tags.resize(raw.triangles.size());
  std::iota(raw.triangle_tags.begin(), raw.triangle_tags.end(), 0);
  std::size_t primitives = drop_repeated_primitives(raw);
  const std::vector<std::int32_t> numbers = raw.triangle_tags;
  const Splits splits = split_at_hanging_vertices(raw, single_precision_error(raw.vertices));
  if (splits.vertices > 0) {
    primitives += drop_repeated_primitives(raw);
    log_warning_once(fmt::format("{}: a vertex lies inside of the side of triangle {} (counted from 0) at "
                                 "{}{}: the triangle is split there",
                                 where, numbers[splits.item], describe(raw.vertices[splits.vertex], 3),
                                 out_of(splits.vertices)));
  }
  if (primitives > 0)
    log_warning_once(where + ": " + std::to_string(primitives) +
                     " repeated triangles, edges or points of the obstacle are left out");
  if (vertices > 0)
    log_warning_once(where + ": " + std::to_string(vertices) +
                     " vertices of the obstacle are at the position of another one and are merged with it");
}

void merge_repeated_edges(SurfaceMesh& surface, const std::string& where) {
  if (!surface.triangles.empty() || surface.edges.empty()) return;
  RawMesh raw;
  raw.vertices = surface.vertices;
  raw.edges = std::move(surface.edges);
  raw.points = std::move(surface.points);
  const std::size_t vertices = merge_equal_vertices(raw);
  const std::size_t shrunk = std::erase_if(raw.edges, [](const auto& edge) { return edge[0] == edge[1]; });
  std::size_t repeated = drop_repeated_primitives(raw);
  const Splits splits =
      split_overlapping_edges(raw.vertices, raw.edges, single_precision_error(raw.vertices));
  if (splits.vertices > 0) repeated += drop_repeated_primitives(raw);
  surface.edges = std::move(raw.edges);
  surface.points = std::move(raw.points);
  if (splits.vertices > 0)
    log_warning_once(fmt::format("{}: edges of the obstacle lie on each other at {}{}: they are split there",
                                 where, describe(surface.vertices[splits.vertex], 3),
                                 out_of(splits.vertices)));
  if (vertices + shrunk + repeated > 0)
    log_warning_once(fmt::format("{}: of the edges of the obstacle {} have no length in the plane and {} "
                                 "are there twice; they are left out ({} vertices lie on another one)",
                                 where, shrunk, repeated, vertices));
}

void check_surface(const SurfaceMesh& surface, std::span<const std::int32_t> numbers,
                   const std::string& where) {
  const auto number = [&](std::int32_t t) { return numbers[t % std::ssize(numbers)]; };
  for (std::int32_t t = 0; t < std::ssize(surface.triangles); ++t)
    if (is_flattened(surface, surface.triangles[t]))
      throw InputError(where,
                       fmt::format("triangle {} (counted from 0) has no area after its transformation, "
                                   "around {}; change scale or dimensions",
                                   number(t), describe(surface.vertices[surface.triangles[t][0]], 3)));
  if (!surface.triangles.empty()) {
    std::vector<std::int32_t> all(surface.triangles.size());
    for (std::size_t t = 0; t < all.size(); ++t) all[t] = number(std::int32_t(t));
    check_shared_edges(surface, all, where);
  }
  const Rim rim(surface);
  if (const auto found = seams(surface, rim, surface, rim); !found.empty())
    log_warning_once(fmt::format(
        "{}: sides of the triangles {} and {} (counted from 0) lie on each other around {}{}, but "
        "their vertices do not coincide: contact pushes bodies along the surface at such a seam; "
        "merge the vertices in the mesh",
        where, number(rim.sides[found[0].first] / 3), number(rim.sides[found[0].second] / 3),
        describe(found[0].place, 3), out_of(found.size())));
  const auto found = open_overlaps(surface, rim, surface, rim);
  if (const auto on = rims_on_flat_parts(surface, rim, surface, rim); found.empty() && !on.empty())
    log_warning_once(
        fmt::format("{}: a side of triangle {} lies on triangle {} (counted from 0) around {}{}: {}", where,
                    number(rim.sides[on[0].first] / 3), number(on[0].second), describe(on[0].place, 3),
                    out_of(on.size()), end_of_rims));
  if (found.empty()) return;
  if (surface.triangles.empty())
    log_warning_once(fmt::format("{}: edges of the obstacle lie on each other around {}{}: contact counts "
                                 "both; leave copies further apart or one of them out",
                                 where, describe(found[0].place, 3), out_of(found.size())));
  else
    log_warning_once(fmt::format("{}: triangles {} and {} (counted from 0) lie on each other around {}{}: "
                                 "contact counts both; remove one of them",
                                 where, number(found[0].first), number(found[0].second),
                                 describe(found[0].place, 3), out_of(found.size())));
}

void check_between(std::span<const SurfaceMesh> surfaces, std::span<const std::string> where) {
  if (surfaces.size() < 2) return;
  std::vector<Eigen::AlignedBox3d> boxes;
  std::vector<Rim> rims;
  for (const SurfaceMesh& surface : surfaces) {
    boxes.push_back(box_of(surface));
    rims.emplace_back(surface);
  }
  for (std::size_t b = 0; b < surfaces.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      if (!boxes[a].intersects(boxes[b])) continue;
      const std::string both = where[a] + " and " + where[b];
      if (const auto found = seams(surfaces[a], rims[a], surfaces[b], rims[b]); !found.empty())
        log_warning_once(
            fmt::format("{}: the obstacles continue each other in one plane along a seam around {}{}: "
                        "contact pushes bodies along the plane there; write both into one file with common "
                        "vertices",
                        both, describe(found[0].place, 3), out_of(found.size())));
      const auto found = open_overlaps(surfaces[a], rims[a], surfaces[b], rims[b]);
      if (!coincide(surfaces[a], surfaces[b], found)) {
        warn_of_rims(surfaces[a], rims[a], where[a], surfaces[b], rims[b], where[b]);
        warn_of_rims(surfaces[b], rims[b], where[b], surfaces[a], rims[a], where[a]);
      } else {
        log_warning_once(fmt::format("{}: the obstacles lie on each other around {}{}: contact counts both; "
                                     "take one of them out, or move it by more than <dhat>",
                                     both, describe(found[0].place, 3), out_of(found.size())));
      }
    }
}

} // namespace recoil::mesh
