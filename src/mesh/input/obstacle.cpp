#include "recoil/mesh/input/assemble_geometry.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/input/describe.hpp"
#include "mesh/input/obstacle_checks.hpp"
#include "mesh/input/repair.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/mesh/input/body_mesh.hpp"
#include "recoil/mesh/input/quality.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {

namespace {

using Edge = std::array<std::int32_t, 2>;

/// Triangles of the surface of the tetrahedra, facing outwards.
std::vector<std::array<std::int32_t, 3>> surface_of(RawMesh& raw, const std::string& where) {
  std::vector<std::array<std::int32_t, 3>> triangles;
  RawMesh solid;
  solid.vertices = raw.vertices;
  solid.tetrahedra = std::move(raw.tetrahedra);
  const BodyMesh body = body_mesh(std::move(solid), where);
  for (const auto& facet : find_boundary(body, where).facets) {
    auto triangle = facet_vertices(body, facet);
    std::array<Eigen::Vector3d, 4> corners;
    for (std::size_t i = 0; i < 4; ++i) corners[i] = body.vertices[body.cells[facet.cell][i]];
    if (signed_volume(corners, 3) < 0) std::swap(triangle[1], triangle[2]);
    triangles.push_back(triangle);
  }
  return triangles;
}

void repair(RawMesh& raw, double share, const std::string& where) {
  if (!raw.tetrahedra.empty() || raw.triangles.empty())
    throw InputError(where,
                     "repair mends surfaces of triangles, which this file does not hold; leave it out");
  const Repair done = repair_surface(raw, share);
  log_warning_once(where + ": repair: " + describe(done));
}

/// Edges of the triangles in the order of triangles: those that belong to one triangle only, or each edge
/// once.
std::vector<Edge> edges_of(const std::vector<std::array<std::int32_t, 3>>& triangles, bool boundary_only) {
  std::vector<std::pair<Edge, std::size_t>> sides; // ascending, and its place: 3 * triangle + side
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t i = 0; i < 3; ++i) {
      const auto a = triangles[t][i], b = triangles[t][(i + 1) % 3];
      sides.push_back({{std::min(a, b), std::max(a, b)}, 3 * t + i});
    }
  std::sort(sides.begin(), sides.end());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t end = i + 1;
    while (end < sides.size() && sides[end].first == sides[i].first) ++end;
    if (!boundary_only || end == i + 1) places.push_back(sides[i].second);
    i = end;
  }
  std::sort(places.begin(), places.end());
  std::vector<Edge> edges;
  for (const auto place : places)
    edges.push_back({triangles[place / 3][place % 3], triangles[place / 3][(place + 1) % 3]});
  return edges;
}

void split_edges(SurfaceMesh& surface, int levels, const std::string& where) {
  const double refined = double(surface.edges.size()) * std::pow(2.0, levels);
  require_mesh_memory(refined, double(surface.vertices.size()) + refined, where,
                      "n_refs " + std::to_string(levels), "take fewer levels");
  for (int level = 0; level < levels && !surface.edges.empty(); ++level) {
    const std::size_t edges = surface.edges.size();
    for (std::size_t e = 0; e < edges; ++e) {
      const auto [a, b] = surface.edges[e];
      const std::int32_t middle = surface.vertices.size();
      const Eigen::Vector3d position = 0.5 * (surface.vertices[a] + surface.vertices[b]);
      surface.vertices.push_back(position);
      surface.edges[e] = {a, middle};
      surface.edges.push_back({middle, b});
    }
  }
}

template <class Act>
void for_each_index(SurfaceMesh& surface, const Act& act) {
  for (auto& triangle : surface.triangles)
    for (auto& v : triangle) act(v);
  for (auto& edge : surface.edges)
    for (auto& v : edge) act(v);
  for (auto& v : surface.points) act(v);
}

void drop_unused_vertices(SurfaceMesh& surface) {
  std::vector<std::int32_t> number(surface.vertices.size(), -1);
  for_each_index(surface, [&](std::int32_t& v) { number[v] = 0; });
  std::int32_t next = 0;
  for (std::size_t v = 0; v < number.size(); ++v)
    if (number[v] == 0) {
      surface.vertices[next] = surface.vertices[v];
      number[v] = next++;
    }
  surface.vertices.resize(next);
  for_each_index(surface, [&](std::int32_t& v) { v = number[v]; });
}

void add_copies(SurfaceMesh& surface, const std::vector<Eigen::Vector3d>& offsets) {
  const SurfaceMesh original = surface;
  for (std::size_t c = 1; c < offsets.size(); ++c) {
    const std::int32_t shift = surface.vertices.size();
    SurfaceMesh shifted = original;
    for_each_index(shifted, [&](std::int32_t& v) { v += shift; });
    for (const auto& p : original.vertices) surface.vertices.push_back(p + offsets[c]);
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(surface.triangles, shifted.triangles);
    append(surface.edges, shifted.edges);
    append(surface.points, shifted.points);
  }
}

} // namespace

SurfaceMesh obstacle_surface(RawMesh raw, const GeometrySpec& spec, int dim) {
  const std::string where = describe(spec);
  for (auto& p : raw.vertices) p *= spec.file_scale;
  if (spec.repair) repair(raw, *spec.repair, where);
  if (!raw.tetrahedra.empty()) raw.triangles = surface_of(raw, where);
  if (spec.is_obstacle)
    merge_repeats(raw, where); // before the cut, which lays vertices of different height on each other
  else
    check_primitives(raw, where);
  if (dim == 2)
    for (auto& p : raw.vertices) p.z() = 0;
  if (spec.normalize_mesh) normalize(raw.vertices, where);
  const AffineMap map = affine_map(spec.transformation, bounding_box(raw.vertices), dim, where);
  transform_vertices(map, raw.vertices);
  for (const auto& p : raw.vertices)
    if (!p.allFinite())
      throw InputError(where, "the transformation leads to coordinates that are not finite");
  const auto box = bounding_box(raw.vertices);

  SurfaceMesh surface;
  surface.name = spec.name;
  surface.surface_id = spec.obstacle_id.value_or(-1);
  surface.vertices = std::move(raw.vertices);
  surface.triangles = std::move(raw.triangles);
  surface.edges = std::move(raw.edges);
  surface.points = std::move(raw.points);
  if (map.linear.determinant() < 0)
    for (auto& t : surface.triangles) std::swap(t[1], t[2]);

  if (spec.extract == Extract::points) {
    std::vector<std::int32_t> used;
    for_each_index(surface, [&](std::int32_t& v) { used.push_back(v); });
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    surface.points = std::move(used);
    surface.triangles.clear();
    surface.edges.clear();
  } else if (spec.extract == Extract::edges || dim == 2) {
    const bool boundary_only = spec.extract != Extract::edges;
    const auto edges = edges_of(surface.triangles, boundary_only);
    surface.edges.insert(surface.edges.end(), edges.begin(), edges.end());
    surface.triangles.clear();
  }
  if (surface.triangles.empty() && surface.edges.empty() && surface.points.empty())
    throw InputError(
        where, dim == 2
                   ? "the obstacle has no edges or points; in 2D triangles are reduced to their boundary "
                     "edges, and a closed surface has none"
                   : "the obstacle has no triangles, edges or points");
  if (spec.n_refs < 0)
    throw InputError(where, "n_refs is " + std::to_string(spec.n_refs) + "; it must not be negative");
  if (spec.n_refs > 0 && !surface.triangles.empty())
    throw InputError(where,
                     "n_refs of an obstacle splits edges only; this one has triangles: refine its file");
  drop_unused_vertices(surface);
  if (spec.is_obstacle) merge_repeated_edges(surface, where);
  drop_unused_vertices(surface);
  split_edges(surface, spec.n_refs, where);
  if (spec.array)
    add_copies(surface, copy_offsets(*spec.array, box, dim, where,
                                     double(surface.triangles.size() + surface.edges.size()),
                                     double(surface.vertices.size())));
  if (spec.is_obstacle) check_surface(surface, raw.triangle_tags, where);
  return surface;
}

} // namespace recoil::mesh
