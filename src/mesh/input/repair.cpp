#include "mesh/input/repair.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <Eigen/Geometry>

#include "recoil/base/union_find.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {

namespace {

using Triangle = std::array<std::int32_t, 3>;

/// The vertex that stands for each one: the smallest number among those near it.
std::vector<std::int32_t> merged_vertices(const std::vector<Eigen::Vector3d>& vertices, double distance) {
  // Along a direction in which few vertices of usual surfaces lie side by side.
  const Eigen::Vector3d direction(0.5377, 0.6843, 0.4926);
  std::vector<std::pair<double, std::int32_t>> places;
  for (std::size_t v = 0; v < vertices.size(); ++v)
    places.emplace_back(direction.dot(vertices[v]), std::int32_t(v));
  std::ranges::sort(places);
  UnionFind<std::int32_t> sets(std::int32_t(vertices.size()));
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = i + 1; j < places.size() && places[j].first - places[i].first <= distance; ++j)
      if ((vertices[places[j].second] - vertices[places[i].second]).norm() <= distance)
        sets.unite(places[i].second, places[j].second);
  std::vector<std::int32_t> stands(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) stands[v] = sets.root(std::int32_t(v));
  return stands;
}

Triangle ascending(Triangle triangle) {
  std::ranges::sort(triangle);
  return triangle;
}

/// The triangles at each edge; side i of a triangle goes from its corner i to the next one.
using Sides = std::map<std::array<std::int32_t, 2>, std::vector<std::size_t>>;

Sides sides_of(const std::vector<Triangle>& triangles) {
  Sides sides;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t i = 0; i < 3; ++i) {
      const auto a = triangles[t][i], b = triangles[t][(i + 1) % 3];
      sides[{std::min(a, b), std::max(a, b)}].push_back(3 * t + i);
    }
  return sides;
}

/// Whether a side runs from the smaller vertex to the larger one.
bool ascends(const std::vector<Triangle>& triangles, std::size_t side) {
  return triangles[side / 3][side % 3] < triangles[side / 3][(side % 3 + 1) % 3];
}

/// Connected triangles, and which of them have to be turned to face as the first one does.
struct Part {
  std::vector<std::size_t> triangles;
  std::vector<char> turned;
  bool is_closed = true;
};

std::vector<Part> parts_of(const std::vector<Triangle>& triangles, const Sides& sides,
                           std::size_t& one_sided) {
  std::vector<int> turn(triangles.size(), -1);
  std::vector<Part> parts;
  std::set<const std::vector<std::size_t>*> torn;
  for (std::size_t first = 0; first < triangles.size(); ++first) {
    if (turn[first] >= 0) continue;
    Part& part = parts.emplace_back();
    turn[first] = 0;
    part.triangles.push_back(first);
    for (std::size_t next = 0; next < part.triangles.size(); ++next) {
      const std::size_t t = part.triangles[next];
      for (std::size_t i = 0; i < 3; ++i) {
        const auto a = triangles[t][i], b = triangles[t][(i + 1) % 3];
        const auto& at = sides.at({std::min(a, b), std::max(a, b)});
        part.is_closed &= at.size() == 2;
        if (at.size() != 2) continue;
        const std::size_t other = at[0] / 3 == t ? at[1] : at[0];
        // Neighbours that face the same way pass their edge in opposite directions.
        const int wanted = turn[t] ^ int(ascends(triangles, 3 * t + i) == ascends(triangles, other));
        int& found = turn[other / 3];
        if (found < 0) {
          found = wanted;
          part.triangles.push_back(other / 3);
        } else if (found != wanted) {
          torn.insert(&at);
        }
      }
    }
    for (const std::size_t t : part.triangles) part.turned.push_back(char(turn[t]));
  }
  one_sided = torn.size();
  return parts;
}

/// Six times the volume inside of a part with its turns.
double volume_of(const Part& part, const std::vector<Triangle>& triangles,
                 const std::vector<Eigen::Vector3d>& vertices) {
  double volume = 0;
  for (std::size_t k = 0; k < part.triangles.size(); ++k) {
    const Triangle& t = triangles[part.triangles[k]];
    const double own = vertices[t[0]].dot(vertices[t[1]].cross(vertices[t[2]]));
    volume += part.turned[k] != 0 ? -own : own;
  }
  return volume;
}

/// Whether a point lies inside of a closed part: the solid angle of its triangles is 4 pi.
bool is_inside(const Part& part, const std::vector<Triangle>& triangles,
               const std::vector<Eigen::Vector3d>& vertices, const Eigen::Vector3d& point) {
  double angle = 0;
  for (std::size_t k = 0; k < part.triangles.size(); ++k) {
    const Triangle& t = triangles[part.triangles[k]];
    const Eigen::Vector3d a = vertices[t[0]] - point, b = vertices[t[1]] - point, c = vertices[t[2]] - point;
    const double A = a.norm(), B = b.norm(), C = c.norm();
    const double own =
        2 * std::atan2(a.dot(b.cross(c)), A * B * C + a.dot(b) * C + b.dot(c) * A + c.dot(a) * B);
    angle += part.turned[k] != 0 ? -own : own;
  }
  return std::abs(angle) > 6;
}

} // namespace

Repair repair_surface(RawMesh& raw, double share) {
  Repair repair;
  const std::vector<std::int32_t> stands =
      merged_vertices(raw.vertices, share * bounding_box(raw.vertices).sizes().norm());
  for (std::size_t v = 0; v < stands.size(); ++v) repair.merged += stands[v] != std::int32_t(v);
  std::vector<Triangle> kept;
  std::vector<std::int32_t> tags;
  std::set<Triangle> known;
  for (std::size_t t = 0; t < raw.triangles.size(); ++t) {
    Triangle triangle = raw.triangles[t];
    for (auto& v : triangle) v = stands[v];
    const Triangle key = ascending(triangle);
    if (key[0] == key[1] || key[1] == key[2]) {
      ++repair.flat;
    } else if (!known.insert(key).second) {
      ++repair.repeated;
    } else {
      kept.push_back(triangle);
      tags.push_back(t < raw.triangle_tags.size() ? raw.triangle_tags[t] : 0);
    }
  }
  const Sides sides = sides_of(kept);
  for (const auto& [edge, at] : sides) {
    repair.open_edges += at.size() == 1;
    repair.branches += at.size() > 2;
  }
  std::vector<Part> parts = parts_of(kept, sides, repair.one_sided);
  for (const Part& part : parts) {
    const auto turned = std::ranges::count(part.turned, char(1));
    bool turn_all = 2 * turned > std::ssize(part.turned);
    const Eigen::Vector3d& corner = raw.vertices[kept[part.triangles.front()][0]];
    const auto holds = [&](const Part& other) {
      return &other != &part && other.is_closed && is_inside(other, kept, raw.vertices, corner);
    };
    if (part.is_closed && std::ranges::none_of(parts, holds))
      turn_all = volume_of(part, kept, raw.vertices) < 0;
    for (std::size_t k = 0; k < part.triangles.size(); ++k) {
      if ((part.turned[k] != 0) == turn_all) continue;
      std::swap(kept[part.triangles[k]][1], kept[part.triangles[k]][2]);
      ++repair.turned;
    }
  }
  raw.triangles = std::move(kept);
  raw.triangle_tags = std::move(tags);
  for (auto& edge : raw.edges)
    for (auto& v : edge) v = stands[v];
  return repair;
}

std::string describe(const Repair& repair) {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(repair.merged, "vertices merged with others");
  add(repair.flat, "triangles without area removed");
  add(repair.repeated, "repeated triangles removed");
  add(repair.turned, "triangles turned");
  if (text.empty()) text = "nothing to repair";
  const std::size_t done = text.size();
  add(repair.open_edges, "edges are open");
  add(repair.branches, "edges have more than two triangles");
  add(repair.one_sided, "edges are where the surface has one side only");
  if (text.size() == done) return text + "; the surface is closed";
  text[done] = ';';
  return text;
}

} // namespace recoil::mesh
