#include "recoil/mesh/input/assemble_geometry.hpp"

#include <algorithm>
#include <limits>

#include "mesh/input/describe.hpp"
#include "mesh/input/entry_checks.hpp"
#include "mesh/input/gmsh_slices.hpp"
#include "mesh/input/obstacle_checks.hpp"
#include "mesh/input/overlaps.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/mesh/input/body_mesh.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {

void check_source(const GeometrySpec& spec) {
  if (!spec.generator && spec.mesh.empty())
    throw InputError(spec.where, "the entry has neither a mesh nor a generator; give it one of them");
  if (!spec.generator && !spec.is_obstacle && in_lower_case(spec.mesh.extension().string()) == ".stl")
    throw InputError(describe(spec),
                     "STL holds surfaces, which can be obstacles (is_obstacle) only; a deformable body needs "
                     "a mesh of tetrahedra");
  if (spec.repair && !spec.is_obstacle)
    throw InputError(describe(spec),
                     "repair mends surfaces, of obstacles or of bodies that particles fill; a mesh "
                     "of tetrahedra is mended by its mesh generator. Leave it out");
  if (!spec.is_obstacle && spec.extract != Extract::volume)
    throw InputError(
        describe(spec),
        "extract must be volume for a deformable body; only obstacles keep a part of their mesh");
}

void check_dimension(const BodyMesh& mesh, int dim, const std::string& where) {
  if (mesh.dim != dim)
    throw InputError(where, "is a mesh of " + cells_of(mesh.dim) + " in a scene in " + std::to_string(dim) +
                                "D; all deformable bodies need the same dimension");
}

std::vector<Overlap> overlapping_facets(std::span<const Eigen::Vector3d> vertices,
                                        std::span<const std::array<std::int32_t, 3>> facets, int dim) {
  if (dim == 3) return overlapping_triangles(TriangleSpan{vertices, facets});
  std::vector<std::array<std::int32_t, 2>> edges;
  for (const auto& facet : facets) edges.push_back({facet[0], facet[1]});
  return overlapping_edges(EdgeSpan{vertices, edges});
}

namespace {

std::string place_of_overlap(int dim, const std::array<std::int64_t, 2>& cells,
                             const Eigen::Vector3d& place) {
  return "(cells " + std::to_string(cells[0]) + ", " + std::to_string(cells[1]) +
         ", counted from 0) around " + describe(place, dim);
}

} // namespace

std::string unconnected_warning(const std::string& where, int dim, std::int64_t count,
                                const std::array<std::int64_t, 2>& cells, const Eigen::Vector3d& place) {
  return where + ": facets of cells lie on each other without common vertices " +
         place_of_overlap(dim, cells, place) + ", one of " + std::to_string(count) +
         " such: the cells are not connected there; merge the vertices in the mesh, unless this is a "
         "crack";
}

void check_connections(const BodyMesh& mesh, const Boundary& boundary, const std::string& where) {
  std::vector<std::array<std::int32_t, 3>> facets;
  for (const BoundaryFacet& facet : boundary.facets) facets.push_back(facet_vertices(mesh, facet));
  const std::vector<Overlap> found = overlapping_facets(mesh.vertices, facets, mesh.dim);
  if (found.empty()) return;
  const auto cells = [&](const Overlap& overlap) {
    return std::array{mesh.cell_source[boundary.facets[overlap.first].cell],
                      mesh.cell_source[boundary.facets[overlap.second].cell]};
  };
  if (const auto overlap = std::ranges::find_if(found, &Overlap::same_side); overlap != found.end())
    throw InputError(where, "cells overlap " + place_of_overlap(mesh.dim, cells(*overlap), overlap->place) +
                                "; remove the overlapping cells");
  const Overlap& shown =
      *std::ranges::min_element(found, {}, [](const Overlap& o) { return std::pair(o.first, o.second); });
  log_warning_once(unconnected_warning(where, mesh.dim, std::ssize(found), cells(shown), shown.place));
}

namespace {

/// One deformable entry up to its own coordinates, ids and boundary.
struct Body {
  BodyMesh mesh;
  std::vector<std::array<std::int32_t, 4>> facet_ids;
  std::vector<std::int32_t> volume_ids, point_ids;
  Eigen::AlignedBox3d box;
};

Body build_body(const GeometrySpec& spec, FileMesh&& raw, int dim, std::vector<EmptySelection>& empty) {
  const std::string where = describe(spec);
  for (auto& p : raw.vertices) p *= spec.file_scale;
  Body body;
  body.mesh = body_mesh(std::move(raw), where);
  check_dimension(body.mesh, dim, where);
  if (spec.normalize_mesh) normalize(body.mesh.vertices, where);
  transform_vertices(affine_map(spec.transformation, bounding_box(body.mesh.vertices), dim, where),
                     body.mesh.vertices);
  body.box = bounding_box(body.mesh.vertices);
  orient(body.mesh, where);
  if (spec.n_refs != 0) {
    refine(body.mesh, spec.n_refs, where);
    orient(body.mesh, where);
  }
  const Boundary boundary = find_boundary(body.mesh, where);
  check_connections(body.mesh, boundary, where);
  body.point_ids = select_vertices(body.mesh, boundary, spec.point_selection, body.box, empty);
  body.facet_ids = select_facets(body.mesh, boundary, spec.surface_selection, body.box, empty);
  body.volume_ids = select_cells(body.mesh, spec.volume_selection, body.box, empty);
  return body;
}

void append(SimplexMesh& scene, const GeometrySpec& spec, const Body& body) {
  const BodyMesh& mesh = body.mesh;
  std::vector<std::int32_t> number(mesh.vertices.size(), -1);
  for (const auto& cell : mesh.cells)
    for (int i = 0; i <= mesh.dim; ++i) number[cell[i]] = 0;
  std::int32_t used = 0;
  for (auto& v : number)
    if (v == 0) v = used++;

  std::vector<Eigen::Vector3d> offsets{Eigen::Vector3d::Zero()};
  if (spec.array)
    offsets = copy_offsets(*spec.array, body.box, mesh.dim, describe(spec), double(mesh.cells.size()), used);
  const auto copies = offsets.size();
  constexpr double limit = std::numeric_limits<std::int32_t>::max();
  if (double(scene.vertices.size()) + double(copies) * used > limit ||
      double(scene.cells.size()) + double(copies) * double(mesh.cells.size()) > limit)
    throw InputError(describe(spec), "makes the scene larger than 32-bit indices can number");

  const std::int32_t body_index = scene.body_names.size();
  scene.body_names.push_back(spec.name);
  const auto grow = [](auto& array, std::size_t count) {
    if (array.empty()) array.reserve(count);
  };
  grow(scene.vertices, copies * used);
  grow(scene.cells, copies * mesh.cells.size());
  for (const auto& offset : offsets) {
    const std::int32_t first = scene.vertices.size();
    for (std::size_t v = 0; v < number.size(); ++v)
      if (number[v] >= 0) {
        scene.vertices.push_back(mesh.vertices[v] + offset);
        scene.vertex_point_id.push_back(body.point_ids[v]);
      }
    for (auto cell : mesh.cells) {
      for (int i = 0; i <= mesh.dim; ++i) cell[i] = first + number[cell[i]];
      scene.cells.push_back(cell);
    }
    scene.cell_body.insert(scene.cell_body.end(), mesh.cells.size(), body_index);
    scene.cell_volume_id.insert(scene.cell_volume_id.end(), body.volume_ids.begin(), body.volume_ids.end());
    scene.facet_ids.insert(scene.facet_ids.end(), body.facet_ids.begin(), body.facet_ids.end());
    scene.cell_source.insert(scene.cell_source.end(), mesh.cell_source.begin(), mesh.cell_source.end());
  }
}

/// A surface as a body, before it is known whether it is closed.
SurfaceMesh body_surface(RawMesh raw, const GeometrySpec& spec) {
  if (raw.triangles.empty())
    throw InputError(describe(spec), "holds neither tetrahedra nor triangles; a body needs a mesh of "
                                     "tetrahedra or, if it is of particles, a closed surface of triangles");
  if (spec.n_refs != 0)
    throw InputError(describe(spec), "n_refs refines tetrahedra, and changes nothing about a surface that "
                                     "particles fill; leave it out");
  raw.edges.clear();
  raw.points.clear();
  return obstacle_surface(std::move(raw), spec, 3);
}

/// How often each file is still needed.
std::map<std::string, int> count_uses(std::span<const GeometrySpec> specs) {
  std::map<std::string, int> uses;
  for (const auto& spec : specs)
    if (!spec.generator) ++uses[spec.mesh.string()];
  return uses;
}

} // namespace

const FileMesh& MeshFiles::load(const std::filesystem::path& path) {
  const auto [entry, is_new] = files_.try_emplace(path.string());
  if (is_new) {
    try {
      entry->second = read_mesh(path);
    } catch (...) {
      files_.erase(entry);
      throw;
    }
  }
  return entry->second;
}

FileMesh MeshFiles::take(const std::filesystem::path& path) {
  load(path);
  return std::move(files_.extract(path.string()).mapped());
}

std::vector<SurfaceMesh> take_body_surfaces(std::vector<GeometrySpec>& specs, MeshFiles& files) {
  const auto is_surface = [&](const GeometrySpec& spec) {
    return !spec.is_obstacle && !spec.generator &&
           naming_entry(spec, [&] { return files.load(spec.mesh).tetrahedra.empty(); });
  };
  std::vector<SurfaceMesh> surfaces;
  std::erase_if(specs, [&](const GeometrySpec& spec) {
    if (!is_surface(spec)) return false;
    surfaces.push_back(body_surface(files.load(spec.mesh), spec));
    return true;
  });
  return surfaces;
}

std::shared_ptr<const FileSlices> MeshFiles::load_slices(const parallel::Communicator& comm,
                                                         const std::filesystem::path& path) {
  const auto [entry, is_new] = slices_.try_emplace(path.string());
  if (is_new) {
    std::vector<char> is_large{0};
    if (comm.rank() == 0 && in_lower_case(path.extension().string()) == ".msh") {
      std::error_code error;
      const auto bytes = std::filesystem::file_size(path, error);
      is_large[0] = !error && bytes > 0 && bytes >= least_bytes_in_slices_;
    }
    comm.broadcast(is_large);
    if (is_large[0]) entry->second = read_gmsh_slices(comm, path);
  }
  return entry->second;
}

std::pair<int, std::int64_t> MeshFiles::dimension_and_cells(const std::filesystem::path& path) {
  if (const auto found = slices_.find(path.string()); found != slices_.end() && found->second)
    return {found->second->dim, found->second->num_cells};
  const RawMesh& raw = load(path);
  if (raw.tetrahedra.empty()) return {2, std::ssize(raw.triangles)};
  return {3, std::ssize(raw.tetrahedra)};
}

int geometry_dimension(std::span<const GeometrySpec> specs, MeshFiles& files) {
  const GeometrySpec* first = nullptr;
  int dim = 3;
  for (const auto& spec : specs) {
    if (spec.is_obstacle) continue;
    check_source(spec);
    const int own = spec.generator
                        ? dimension(spec.generator->shape)
                        : naming_entry(spec, [&] { return files.dimension_and_cells(spec.mesh).first; });
    if (first && own != dim) {
      throw InputError(describe(spec), "is a mesh of " + cells_of(own) + ", but " + describe(*first) +
                                           " is one of " + cells_of(dim) +
                                           "; all deformable bodies need the same dimension");
    }
    if (!first) first = &spec;
    dim = own;
  }
  if (!first)
    throw InputError("/geometry",
                     "the scene has no deformable body; at least one entry must not be an obstacle");
  return dim;
}

int geometry_dimension(std::span<const GeometrySpec> specs) {
  MeshFiles files;
  return geometry_dimension(specs, files);
}

AssembledGeometry assemble_geometry(std::span<const GeometrySpec> specs, int dim, MeshFiles& files) {
  AssembledGeometry scene;
  scene.deformable.dim = dim;
  auto uses = count_uses(specs);
  std::vector<std::string> obstacle_names;
  for (const auto& spec : specs) {
    check_source(spec);
    FileMesh raw = spec.generator ? FileMesh{generate(*spec.generator, spec.where), {}, {}, {}}
                                  : naming_entry(spec, [&] {
                                      const bool last = --uses[spec.mesh.string()] == 0;
                                      return last ? files.take(spec.mesh) : files.load(spec.mesh);
                                    });
    if (spec.is_obstacle) {
      scene.obstacles.push_back(obstacle_surface(std::move(raw), spec, dim));
      obstacle_names.push_back(describe(spec));
    } else {
      append(scene.deformable, spec, build_body(spec, std::move(raw), dim, scene.empty_selections));
    }
  }
  check_between(scene.obstacles, obstacle_names);
  return scene;
}

AssembledGeometry assemble_geometry(std::span<const GeometrySpec> specs, int dim) {
  MeshFiles files;
  return assemble_geometry(specs, dim, files);
}

} // namespace recoil::mesh
