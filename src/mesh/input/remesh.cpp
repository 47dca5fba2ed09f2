#include "recoil/mesh/input/remesh.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/base/run_program.hpp"
#include "recoil/geometry/point_table.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::mesh {

namespace fs = std::filesystem;

namespace {

/// Vertices of a facet; the third entry is -1 in 2D.
using Facet = std::array<std::int32_t, 3>;

Facet sorted(Facet facet, int dim) {
  if (facet[0] > facet[1]) std::swap(facet[0], facet[1]);
  if (dim == 3) std::ranges::sort(facet);
  return facet;
}

/// Cells of one tag that hang together by facets, numbered over the body.
struct Regions {
  std::vector<std::int32_t> of_cell, tags; ///< tags per region
};

/// The cells on both sides of every facet; -1 outside.
using FacetCells = std::map<Facet, std::array<std::int32_t, 2>>;

FacetCells facets_of(const BodyMesh& body) {
  FacetCells cells;
  for (std::int32_t cell = 0; cell < std::ssize(body.cells); ++cell)
    for (int local = 0; local <= body.dim; ++local) {
      const Facet facet = sorted(facet_vertices(body, {cell, local, 0}), body.dim);
      const auto [found, is_new] = cells.try_emplace(facet, std::array<std::int32_t, 2>{cell, -1});
      if (!is_new) found->second[1] = cell;
    }
  return cells;
}

Regions find_regions(const BodyMesh& body, const FacetCells& facets) {
  std::vector<std::int32_t> first(body.cells.size());
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](std::int32_t cell) {
    while (first[cell] != cell) cell = first[cell] = first[first[cell]];
    return cell;
  };
  for (const auto& [_, sides] : facets)
    if (sides[1] >= 0 && body.tags[sides[0]] == body.tags[sides[1]]) {
      const std::int32_t a = root(sides[0]), b = root(sides[1]);
      first[std::max(a, b)] = std::min(a, b);
    }
  Regions regions;
  std::map<std::int32_t, std::int32_t> numbers;
  for (std::int32_t cell = 0; cell < std::ssize(body.cells); ++cell) {
    const auto [found, is_new] = numbers.try_emplace(root(cell), std::ssize(regions.tags));
    if (is_new) regions.tags.push_back(body.tags[cell]);
    regions.of_cell.push_back(found->second);
  }
  return regions;
}

/// A facet that stays, as the boundary of a region: its normal points out of it.
struct KeptFacet {
  Facet facet;
  std::int32_t region, beyond; ///< beyond: the region on the other side, -1 outside
};

std::vector<KeptFacet> facets_to_keep(const BodyMesh& body, const FacetCells& facets,
                                      const Regions& regions) {
  std::vector<KeptFacet> kept;
  for (std::int32_t cell = 0; cell < std::ssize(body.cells); ++cell)
    for (int local = 0; local <= body.dim; ++local) {
      const Facet facet = facet_vertices(body, {cell, local, 0});
      const auto sides = facets.at(sorted(facet, body.dim));
      const std::int32_t other = sides[0] == cell ? sides[1] : sides[0];
      const std::int32_t region = regions.of_cell[cell], beyond = other < 0 ? -1 : regions.of_cell[other];
      if (region != beyond) kept.push_back({facet, region, beyond});
    }
  return kept;
}

/// The facets of a region as closed surfaces, or loops in 2D: those that hang together by vertices.
std::vector<std::vector<Facet>> shells_of(std::int32_t region, const std::vector<KeptFacet>& facets,
                                          int dim) {
  std::vector<Facet> all;
  for (const KeptFacet& one : facets)
    if (one.region == region) all.push_back(one.facet);
  std::map<std::int32_t, std::int32_t> first;
  const auto root = [&](std::int32_t v) {
    while (first.at(v) != v) v = first[v];
    return v;
  };
  for (const Facet& facet : all)
    for (int i = 0; i < dim; ++i) first.try_emplace(facet[i], facet[i]);
  for (const Facet& facet : all)
    for (int i = 1; i < dim; ++i) {
      const std::int32_t a = root(facet[0]), b = root(facet[i]);
      first[std::max(a, b)] = std::min(a, b);
    }
  std::map<std::int32_t, std::vector<Facet>> shells;
  for (const Facet& facet : all) shells[root(facet[0])].push_back(facet);
  std::vector<std::vector<Facet>> result;
  for (auto& [_, shell] : shells) result.push_back(std::move(shell));
  return result;
}

/// dim times the signed measure inside, up to a factor that does not matter: the outermost shell has the
/// largest.
double enclosed(const BodyMesh& body, const std::vector<Facet>& shell) {
  double sum = 0;
  for (const Facet& facet : shell) {
    const auto& a = body.vertices[facet[0]];
    const auto& b = body.vertices[facet[1]];
    sum += body.dim == 2 ? a.x() * b.y() - a.y() * b.x() : a.dot(b.cross(body.vertices[facet[2]]));
  }
  return sum;
}

std::vector<std::vector<Facet>> outermost_first(const BodyMesh& body,
                                                std::vector<std::vector<Facet>> shells) {
  std::ranges::sort(shells, std::greater(), [&](const auto& shell) { return enclosed(body, shell); });
  return shells;
}

/// The edges of a loop, each beginning where the one before ends, as signed numbers of lines of Gmsh.
std::string chain(const std::vector<Facet>& loop, const std::map<Facet, int>& lines) {
  std::multimap<std::int32_t, Facet> by_start;
  for (const Facet& edge : loop) by_start.emplace(edge[0], edge);
  std::vector<int> signed_lines;
  auto next = by_start.begin();
  while (next != by_start.end()) {
    const Facet edge = next->second;
    by_start.erase(next);
    const int line = lines.at(sorted(edge, 2));
    signed_lines.push_back(edge[0] < edge[1] ? line : -line);
    next = by_start.find(edge[1]);
    // Loops that touch at a vertex.
    if (next == by_start.end()) next = by_start.begin();
  }
  return fmt::format("{}", fmt::join(signed_lines, ","));
}

constexpr const char* settings =
    "SetFactory(\"Built-in\");\nGeometry.AutoCoherence = 0;\nMesh.MshFileVersion = 2.2;\n"
    "Mesh.SaveAll = 0;\nGeneral.NumThreads = 1;\n";

/// In 2D every edge is a line of its own, with a vertex at each end.
std::string plane_model(const BodyMesh& body, const std::vector<std::int32_t>& vertices,
                        const std::vector<KeptFacet>& facets, const Regions& regions) {
  std::map<Facet, int> lines;
  std::map<std::int32_t, std::pair<double, int>> lengths; // of the edges at a vertex
  for (const KeptFacet& one : facets) {
    if (!lines.try_emplace(sorted(one.facet, 2), std::ssize(lines) + 1).second) continue;
    const double length = (body.vertices[one.facet[0]] - body.vertices[one.facet[1]]).norm();
    for (int i = 0; i < 2; ++i) {
      lengths[one.facet[i]].first += length;
      ++lengths[one.facet[i]].second;
    }
  }
  std::string text = settings;
  std::map<std::int32_t, int> points;
  for (const std::int32_t v : vertices) {
    points[v] = std::ssize(points) + 1;
    text += fmt::format("Point({}) = {{{},{},0,{}}};\n", points[v], body.vertices[v].x(),
                        body.vertices[v].y(), lengths.at(v).first / lengths.at(v).second);
  }
  for (const auto& [edge, line] : lines)
    text += fmt::format("Line({}) = {{{},{}}};\n", line, points.at(edge[0]), points.at(edge[1]));
  text += fmt::format("Transfinite Curve {{1:{}}} = 2;\n", lines.size());
  int loops = 0;
  for (std::int32_t region = 0; region < std::ssize(regions.tags); ++region) {
    std::vector<int> own;
    for (const auto& loop : outermost_first(body, shells_of(region, facets, 2))) {
      own.push_back(++loops);
      text += fmt::format("Curve Loop({}) = {{{}}};\n", loops, chain(loop, lines));
    }
    text += fmt::format("Plane Surface({0}) = {{{1}}};\nPhysical Surface({0}) = {{{0}}};\n", region + 1,
                        fmt::join(own, ","));
  }
  return text;
}

/// In 3D a discrete surface for each part of a shell between the same two regions.
std::string solid_model(const BodyMesh& body, const std::vector<std::int32_t>& vertices,
                        const std::vector<KeptFacet>& facets, const Regions& regions,
                        const fs::path& surface) {
  std::map<std::int32_t, std::int32_t> points;
  std::vector<Eigen::Vector3d> positions;
  for (const std::int32_t v : vertices) {
    points[v] = std::ssize(positions);
    positions.push_back(body.vertices[v]);
  }
  std::map<Facet, std::array<std::int32_t, 2>> sides;
  for (const KeptFacet& one : facets)
    sides[sorted(one.facet, 3)] = {std::min(one.region, one.beyond), std::max(one.region, one.beyond)};
  std::map<std::array<std::int32_t, 3>, int> patches; // region, beyond, first vertex of the shell
  std::map<Facet, int> patch_of;
  std::vector<std::vector<std::vector<int>>> shells(regions.tags.size());
  for (std::int32_t region = 0; region < std::ssize(regions.tags); ++region)
    for (const auto& shell : outermost_first(body, shells_of(region, facets, 3))) {
      std::set<int> used;
      for (const Facet& facet : shell) {
        const Facet key = sorted(facet, 3);
        const auto [low, high] = sides.at(key);
        if (!patch_of.contains(key)) {
          const std::array<std::int32_t, 3> patch{low, high, shell.front()[0]};
          patch_of[key] = patches.try_emplace(patch, std::ssize(patches) + 1).first->second;
        }
        used.insert(patch_of[key]);
      }
      shells[region].emplace_back(used.begin(), used.end());
    }
  std::vector<std::array<std::int32_t, 4>> triangles;
  std::vector<std::int32_t> tags;
  std::set<Facet> written;
  for (const KeptFacet& one : facets) {
    if (!written.insert(sorted(one.facet, 3)).second) continue;
    triangles.push_back({points.at(one.facet[0]), points.at(one.facet[1]), points.at(one.facet[2]), -1});
    tags.push_back(patch_of.at(sorted(one.facet, 3)));
  }
  write_file_atomically(surface, gmsh_text(positions, triangles, tags));
  std::string text = settings + fmt::format("Merge \"{}\";\n", surface.filename().string());
  int loops = 0;
  for (std::size_t region = 0; region < shells.size(); ++region) {
    std::vector<int> own;
    for (const auto& shell : shells[region]) {
      own.push_back(++loops);
      text += fmt::format("Surface Loop({}) = {{{}}};\n", loops, fmt::join(shell, ","));
    }
    text += fmt::format("Volume({0}) = {{{1}}};\nPhysical Volume({0}) = {{{0}}};\n", region + 1,
                        fmt::join(own, ","));
  }
  return text;
}

[[noreturn]] void fail(const std::string& name, const std::string& what, const fs::path& log) {
  throw Error(ExitCode::no_solution,
              fmt::format("a new mesh for the inside of body '{}': {}; Gmsh's messages are in {}", name, what,
                          log.string()));
}

/// What Gmsh has written, which may be no mesh: a program in its place, or a full disk.
RawMesh mesh_of_gmsh(const fs::path& file, const std::string& name, const fs::path& log) {
  try {
    return read_mesh(file);
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_input && error.code() != ExitCode::file_error) throw;
    fail(name, std::string("Gmsh wrote a mesh that cannot be read: ") + error.what(), log);
  }
}

/// The new body, with the kept vertices first and where they were.
RemeshedBody take_over(const BodyMesh& old, const std::vector<std::int32_t>& vertices, const Regions& regions,
                       RawMesh raw, const std::string& name, const fs::path& log) {
  RemeshedBody result{{old.dim, {}, {}, {}, {}, {}, {}}, vertices};
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& cell : old.cells)
    for (int i = 0; i < old.dim; ++i)
      shortest = std::min(shortest, (old.vertices[cell[i]] - old.vertices[cell[i + 1]]).norm());
  geometry::PointTable<3> table(1e-6 * shortest);
  for (const std::int32_t v : vertices) {
    table.add(old.vertices[v], result.mesh.vertices.size());
    result.mesh.vertices.push_back(old.vertices[v]);
  }
  std::vector<std::int32_t> number(raw.vertices.size(), -1);
  const auto number_of = [&](std::int32_t v) {
    if (number[v] < 0) {
      if (const auto kept = table.find(raw.vertices[v])) {
        number[v] = *kept;
      } else {
        number[v] = std::ssize(result.mesh.vertices);
        result.mesh.vertices.push_back(raw.vertices[v]);
      }
    }
    return number[v];
  };
  const std::size_t count = old.dim == 2 ? raw.triangles.size() : raw.tetrahedra.size();
  for (std::size_t cell = 0; cell < count; ++cell) {
    std::array<std::int32_t, 4> corners{-1, -1, -1, -1};
    for (int i = 0; i <= old.dim; ++i)
      corners[i] = number_of(old.dim == 2 ? raw.triangles[cell][i] : raw.tetrahedra[cell][i]);
    const std::int32_t region = (old.dim == 2 ? raw.triangle_tags : raw.tetrahedron_tags)[cell] - 1;
    if (region < 0 || region >= std::ssize(regions.tags)) fail(name, "a cell has no region", log);
    result.mesh.cells.push_back(corners);
    result.mesh.tags.push_back(regions.tags[region]);
    result.mesh.cell_source.push_back(cell);
  }
  if (count == 0) fail(name, "it has no cells", log);
  orient(result.mesh, "Gmsh's mesh of body '" + name + "'");
  return result;
}

std::set<Facet> kept_facets_of(const BodyMesh& body) {
  const FacetCells facets = facets_of(body);
  const Regions regions = find_regions(body, facets);
  std::set<Facet> result;
  for (const KeptFacet& one : facets_to_keep(body, facets, regions))
    result.insert(sorted(one.facet, body.dim));
  return result;
}

} // namespace

RemeshedBody remesh_interior(const BodyMesh& body, const Gmsh& gmsh, const fs::path& folder,
                             const std::string& name) {
  const FacetCells facets = facets_of(body);
  const Regions regions = find_regions(body, facets);
  const std::vector<KeptFacet> kept = facets_to_keep(body, facets, regions);
  std::set<std::int32_t> on_facets;
  for (const KeptFacet& one : kept) on_facets.insert(one.facet.begin(), one.facet.begin() + body.dim);
  const std::vector<std::int32_t> vertices(on_facets.begin(), on_facets.end());

  const fs::path model = folder / "interior.geo", mesh = folder / "interior.msh", log = folder / "gmsh.log";
  write_file_atomically(model, body.dim == 2
                                   ? plane_model(body, vertices, kept, regions)
                                   : solid_model(body, vertices, kept, regions, folder / "boundary.msh"));
  std::error_code ignored;
  fs::remove(mesh, ignored);
  const int status = run_program({gmsh.program, fmt::format("-{}", body.dim), model.string(), "-format",
                                  "msh22", "-o", mesh.string(), "-v", "3", "-nopopup"},
                                 log, gmsh.time_limit);
  if (status != 0 || !fs::exists(mesh, ignored))
    fail(name,
         fmt::format("'{}' ends with status {}{}", gmsh.program, status,
                     status == 0 ? " and leaves no mesh" : ""),
         log);
  RemeshedBody result = take_over(body, vertices, regions, mesh_of_gmsh(mesh, name, log), name, log);
  std::vector<std::int32_t> new_number(body.vertices.size(), -1);
  for (std::size_t i = 0; i < vertices.size(); ++i) new_number[vertices[i]] = i;
  std::set<Facet> expected;
  for (const KeptFacet& one : kept) {
    Facet facet = one.facet;
    for (int i = 0; i < body.dim; ++i) facet[i] = new_number[facet[i]];
    expected.insert(sorted(facet, body.dim));
  }
  if (kept_facets_of(result.mesh) != expected) fail(name, "Gmsh has changed its boundary", log);
  return result;
}

} // namespace recoil::mesh
