#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/cage/facet_mesh.hpp"

/// Surfaces for tests of cages and pieces.
namespace shapes {

using recoil::cage::FacetMesh;
using recoil::cage::Point;
using Surface = FacetMesh<3>;

inline void append(Surface& to, const Surface& other) {
  const auto first = static_cast<std::int32_t>(to.vertices.size());
  to.vertices.insert(to.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (auto facet : other.facets) {
    for (auto& v : facet) v += first;
    to.facets.push_back(facet);
  }
}
inline Surface joined(Surface a, const Surface& b) {
  append(a, b);
  return a;
}
inline Surface moved(Surface surface, const Point<3>& by, double scale = 1) {
  for (auto& x : surface.vertices) x = scale * x + by;
  return surface;
}
inline Surface turned(Surface surface) {
  for (auto& facet : surface.facets) std::swap(facet[0], facet[1]);
  return surface;
}

/// Octahedron refined `n` times onto the unit sphere.
inline Surface sphere(int n) {
  Surface s{{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}},
            {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}}};
  for (int level = 0; level < n; ++level) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> middles;
    const auto middle = [&](std::int32_t a, std::int32_t b) {
      const auto [entry, is_new] =
          middles.try_emplace(std::minmax(a, b), static_cast<std::int32_t>(s.vertices.size()));
      if (is_new) s.vertices.push_back((s.vertices[a] + s.vertices[b]).normalized());
      return entry->second;
    };
    std::vector<std::array<std::int32_t, 3>> facets;
    for (const auto& [a, b, c] : s.facets) {
      const auto ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      facets.insert(facets.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    s.facets = std::move(facets);
  }
  return s;
}

inline Surface torus(double large, double small, int n, int m) {
  Surface s;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      const double a = 2 * std::numbers::pi * i / n, b = 2 * std::numbers::pi * j / m;
      const double r = large + small * std::cos(b);
      s.vertices.emplace_back(r * std::cos(a), r * std::sin(a), small * std::sin(b));
    }
  const auto at = [&](int i, int j) { return (i % n) * m + j % m; };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      s.facets.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      s.facets.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  return s;
}

/// Boundary of the cubes of an array that `is_full` names, on unit cubes: bodies of any topology. Edges and
/// vertices where cubes touch are not split.
template <class Full>
Surface cubes(int nx, int ny, int nz, const Full& is_full) {
  Surface s;
  std::map<std::array<int, 3>, std::int32_t> numbers;
  const auto vertex = [&](std::array<int, 3> at) {
    const auto [entry, is_new] = numbers.try_emplace(at, static_cast<std::int32_t>(s.vertices.size()));
    if (is_new) s.vertices.emplace_back(at[0], at[1], at[2]);
    return entry->second;
  };
  const auto full = [&](int x, int y, int z) {
    return x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz && is_full(x, y, z);
  };
  for (int x = 0; x < nx; ++x)
    for (int y = 0; y < ny; ++y)
      for (int z = 0; z < nz; ++z) {
        if (!full(x, y, z)) continue;
        for (int axis = 0; axis < 3; ++axis)
          for (int side = 0; side < 2; ++side) {
            std::array<int, 3> next{x, y, z};
            next[axis] += side == 1 ? 1 : -1;
            if (full(next[0], next[1], next[2])) continue;
            std::array<std::int32_t, 4> corners;
            for (int k = 0; k < 4; ++k) {
              std::array<int, 3> at{x, y, z};
              at[axis] += side;
              at[(axis + 1) % 3] += k == 1 || k == 2;
              at[(axis + 2) % 3] += k >= 2;
              corners[k] = vertex(at);
            }
            if (side == 0) std::swap(corners[1], corners[3]);
            s.facets.push_back({corners[0], corners[1], corners[2]});
            s.facets.push_back({corners[0], corners[2], corners[3]});
          }
      }
  return s;
}

inline Surface box(double x, double y, double z) {
  auto s = cubes(1, 1, 1, [](int, int, int) { return true; });
  for (auto& p : s.vertices) p = {x * p.x(), y * p.y(), z * p.z()};
  return s;
}

/// Without every `step`-th facet.
inline Surface with_holes(Surface surface, int step) {
  std::vector<std::array<std::int32_t, 3>> kept;
  for (std::size_t f = 0; f < surface.facets.size(); ++f)
    if (f % step != 0) kept.push_back(surface.facets[f]);
  surface.facets = std::move(kept);
  return surface;
}

struct Shape {
  std::string name;
  Surface surface;
  bool is_repaired = false; ///< whether the input is no boundary of a body
};

inline std::vector<Shape> all() {
  const auto ball = sphere(3);
  std::vector<Shape> shapes;
  shapes.push_back({"sphere", ball});
  shapes.push_back({"coarse sphere", sphere(1)});
  shapes.push_back({"inside out sphere", turned(ball)});
  shapes.push_back({"torus", torus(1, 0.35, 32, 16)});
  shapes.push_back({"thin ring", torus(1, 0.04, 60, 8)});
  shapes.push_back({"box", box(1, 2, 3)});
  shapes.push_back({"thin plate", box(1, 1, 0.02)});
  shapes.push_back({"needle", box(0.03, 0.03, 2)});
  shapes.push_back(
      {"plate with tunnels", cubes(7, 7, 2, [](int x, int y, int) { return x % 2 == 0 || y % 2 == 0; })});
  shapes.push_back({"frame with handles", cubes(5, 5, 5, [](int x, int y, int z) {
                      return (x % 4 == 0) + (y % 4 == 0) + (z % 4 == 0) >= 2;
                    })});
  shapes.push_back({"sponge", cubes(9, 9, 9, [](int x, int y, int z) {
                      return (x % 3 == 1) + (y % 3 == 1) + (z % 3 == 1) < 2;
                    })});
  shapes.push_back({"thin shell", joined(ball, moved(turned(ball), Point<3>::Zero(), 0.96))});
  shapes.push_back({"open bowl", cubes(8, 8, 4, [](int x, int y, int z) {
                      return z == 0 || x == 0 || y == 0 || x == 7 || y == 7;
                    })});
  shapes.push_back({"several balls", joined(joined(sphere(2), moved(sphere(2), {2.5, 0.1, 0}, 0.7)),
                                            moved(sphere(1), {0.3, 2, 0.2}, 0.4))});
  shapes.push_back({"ball in a shell", joined(joined(ball, moved(turned(ball), Point<3>::Zero(), 0.8)),
                                              moved(sphere(2), Point<3>::Zero(), 0.5))});
  shapes.push_back({"cubes that share an edge", cubes(2, 2, 1, [](int x, int y, int) { return x == y; })});
  shapes.push_back(
      {"cubes that share a vertex", cubes(2, 2, 2, [](int x, int y, int z) { return x == y && y == z; })});
  shapes.push_back({"random cubes", cubes(5, 5, 5, [](int x, int y, int z) {
                      return (x * 7919 + y * 104729 + z * 1299709 + x * y * 31 + y * z * 17) % 7 < 4;
                    })});
  shapes.push_back({"balls that intersect", joined(ball, moved(ball, {0.9, 0.2, 0.1})), true});
  shapes.push_back({"ball with holes", with_holes(ball, 9), true});
  shapes.push_back(
      {"torus with a hole and a plate through it",
       joined(with_holes(torus(1, 0.4, 24, 12), 100), moved(box(2, 0.5, 0.3), {-0.3, -0.2, -0.1})), true});
  shapes.push_back({"box given twice", joined(box(1, 1, 1), box(1, 1, 1)), true});
  return shapes;
}

} // namespace shapes
