#include "recoil/mesh/input/assemble_slices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mesh/input/body_slices.hpp"
#include "mesh/input/describe.hpp"
#include "mesh/input/entry_checks.hpp"
#include "mesh/input/file_bodies.hpp"
#include "mesh/input/refinement.hpp"
#include "mesh/input/shape_by_numbers.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {

namespace {

/// A body with fewer cells is refined by the first rank until slices differ by a few percent.
constexpr std::int64_t least_cells_of_a_slice = 32;
/// Meshes of files above this are told to be read by one rank.
constexpr std::int64_t many_cells_of_a_file = 2'000'000;

SlicedBody generate_slices(const parallel::Communicator& comm, const GeometrySpec& spec,
                           const ShapeByNumbers& shape, int dim) {
  const std::string where = describe(spec);
  SlicedBody body;
  body.mesh = slice_of_shape(comm, shape);
  body.box = place_vertices(comm, spec, dim, body.mesh.vertices);
  parallel::collectively(comm, [&] { orient(body.mesh, where); });
  refine_slices(comm, body.mesh, spec.n_refs, where);
  return body;
}

std::vector<std::int32_t> find_lone_vertices(const BodyMesh& mesh) {
  std::vector<char> in_cell(mesh.vertices.size(), 0);
  for (const auto& cell : mesh.cells)
    for (int i = 0; i <= mesh.dim; ++i) in_cell[cell[i]] = 1;
  std::vector<std::int32_t> lone;
  for (std::size_t v = 0; v < in_cell.size(); ++v)
    if (!in_cell[v]) lone.push_back(std::int32_t(v));
  return lone;
}

/// What the first rank says of a body besides its slices.
struct WholeBody {
  Eigen::AlignedBox3d box;
  std::vector<std::int32_t> lone_vertices; ///< numbers of those that no cell has, ascending
  int levels_left = 0;                     ///< of refinement
};

/// What the first rank does before it hands out slices: all that a body needs but the last of its levels of
/// refinement, and the checks that need the whole of it. What refinement makes of a sound mesh is sound.
BodyMesh prepare_whole(const GeometrySpec& spec, FileMesh&& raw, int dim, int ranks, WholeBody& whole) {
  const std::string where = describe(spec);
  for (auto& p : raw.vertices) p *= spec.file_scale;
  BodyMesh mesh = body_mesh(std::move(raw), where);
  check_dimension(mesh, dim, where);
  if (spec.normalize_mesh) normalize(mesh.vertices, where);
  transform_vertices(affine_map(spec.transformation, bounding_box(mesh.vertices), dim, where), mesh.vertices);
  whole.box = bounding_box(mesh.vertices);
  orient(mesh, where);
  check_refinement(mesh, spec.n_refs, where, ranks);
  whole.lone_vertices = find_lone_vertices(mesh);
  int& levels_left = whole.levels_left;
  for (levels_left = spec.n_refs; levels_left > 0; --levels_left) {
    if (std::ssize(mesh.cells) >= least_cells_of_a_slice * ranks) break;
    refine_once(mesh, where);
  }
  if (levels_left < spec.n_refs) orient(mesh, where);
  check_connections(mesh, find_boundary(mesh, where), where);
  return mesh;
}

/// @param make what the file or generator holds; called on the first rank
template <class Make>
SlicedBody hand_out(const parallel::Communicator& comm, const GeometrySpec& spec, int dim, const Make& make) {
  WholeBody whole;
  SlicedBody body;
  body.mesh = parallel::collectively(comm, [&] {
    return comm.rank() == 0 ? prepare_whole(spec, make(), dim, comm.size(), whole) : BodyMesh();
  });
  body.mesh = scatter_body(comm, dim, std::move(body.mesh));
  auto& lone = whole.lone_vertices;
  comm.broadcast(lone);
  body.num_lone = std::ssize(lone);
  for (const std::int32_t id : body.mesh.place->vertex_ids)
    body.lone_before.push_back(std::int32_t(std::ranges::lower_bound(lone, id) - lone.begin()));
  std::vector<double> shared{double(whole.levels_left)};
  for (int k = 0; k < 3; ++k) shared.insert(shared.end(), {whole.box.min()[k], whole.box.max()[k]});
  comm.broadcast(shared);
  for (int k = 0; k < 3; ++k) {
    body.box.min()[k] = shared[1 + 2 * k];
    body.box.max()[k] = shared[2 + 2 * k];
  }
  refine_slices(comm, body.mesh, int(shared[0]), describe(spec));
  return body;
}

FileMesh read_entry(const GeometrySpec& spec, bool is_last_use, MeshFiles& files) {
  return naming_entry(spec, [&] {
    FileMesh raw = is_last_use ? files.take(spec.mesh) : files.load(spec.mesh);
    const auto cells = std::int64_t(std::max(raw.tetrahedra.size(), raw.triangles.size()));
    if (cells > many_cells_of_a_file)
      log_warning_once(
          describe(spec) + ": the first rank alone reads the " + std::to_string(cells) +
          " cells of this file and needs the memory for it; all ranks read a "
          "Gmsh file (.msh, 2.2 or 4.1) whose nodes and elements are its last large sections, refine "
          "a coarser file (n_refs), or make a generator");
    return raw;
  });
}

SlicedBody make_body(const parallel::Communicator& comm, std::span<const GeometrySpec> specs, std::size_t s,
                     int dim, MeshFiles& files) {
  const GeometrySpec& spec = specs[s];
  if (!spec.generator) {
    const bool is_last_use = std::ranges::none_of(specs.subspan(s + 1), [&](const GeometrySpec& later) {
      return !later.generator && later.mesh == spec.mesh;
    });
    std::optional<SlicedBody> body;
    if (const auto slices = files.load_slices(comm, spec.mesh);
        slices && slices->num_cells >= least_cells_of_a_slice * comm.size())
      body = body_of_file(comm, spec, *slices, dim);
    if (is_last_use) files.drop_slices(spec.mesh);
    if (!body) return hand_out(comm, spec, dim, [&] { return read_entry(spec, is_last_use, files); });
    refine_slices(comm, body->mesh, spec.n_refs, describe(spec));
    return std::move(*body);
  }
  const auto shape = parallel::collectively(
      comm, [&] { return shape_by_numbers(*spec.generator, spec.where, comm.size()); });
  if (shape.num_cells < least_cells_of_a_slice * comm.size())
    return hand_out(comm, spec, dim, [&] {
      return FileMesh{generate(*spec.generator, spec.where), {}, {}, {}};
    });
  if (shape.dim != dim) {
    BodyMesh mesh;
    mesh.dim = shape.dim;
    check_dimension(mesh, dim, describe(spec));
  }
  return generate_slices(comm, spec, shape, dim);
}

/// Of `found` in slices those that no slice matched.
void add_empty_everywhere(const parallel::Communicator& comm, std::size_t selections,
                          std::vector<EmptySelection>& found, std::vector<EmptySelection>& empty) {
  std::vector<double> ranks(selections, 0);
  for (const EmptySelection& selection : found) ranks[selection.place] = 1;
  comm.sum(std::span(ranks));
  if (comm.rank() == 0)
    for (EmptySelection& selection : found)
      if (ranks[selection.place] == comm.size()) empty.push_back(std::move(selection));
  found.clear();
}

struct SelectedIds {
  std::vector<std::int32_t> points, cells;
  std::vector<std::array<std::int32_t, 4>> facets;
};

SelectedIds select_from_slices(const parallel::Communicator& comm, const GeometrySpec& spec,
                               const SlicedBody& body, std::vector<EmptySelection>& empty) {
  const bool numbered = std::ranges::any_of(spec.surface_selection, [](const Selection& selection) {
    return std::holds_alternative<FileSelection>(selection.shape);
  });
  const Boundary boundary = find_boundary_of_slices(comm, body.mesh, numbered, describe(spec));
  SelectedIds ids;
  std::vector<EmptySelection> found;
  parallel::collectively(comm, [&] {
    ids.points = select_vertices(body.mesh, boundary, spec.point_selection, body.box, found);
  });
  add_empty_everywhere(comm, spec.point_selection.size(), found, empty);
  parallel::collectively(comm, [&] {
    ids.facets = select_facets(body.mesh, boundary, spec.surface_selection, body.box, found);
  });
  add_empty_everywhere(comm, spec.surface_selection.size(), found, empty);
  parallel::collectively(
      comm, [&] { ids.cells = select_cells(body.mesh, spec.volume_selection, body.box, found); });
  add_empty_everywhere(comm, spec.volume_selection.size(), found, empty);
  return ids;
}

/// As assemble_geometry() appends a body, in slices.
void append_slices(SlicedMesh& scene, const GeometrySpec& spec, const SlicedBody& body,
                   const SelectedIds& ids, int ranks) {
  const BodyMesh& mesh = body.mesh;
  const PlaceInBody& place = *mesh.place;
  const std::int64_t used = place.num_vertices - body.num_lone;
  std::vector<Eigen::Vector3d> offsets{Eigen::Vector3d::Zero()};
  if (spec.array)
    offsets = copy_offsets(*spec.array, body.box, mesh.dim, describe(spec), double(place.num_cells),
                           double(used), ranks);
  const auto copies = std::ssize(offsets);
  constexpr double limit = std::numeric_limits<std::int32_t>::max();
  if (double(scene.num_vertices) + double(copies) * double(used) > limit ||
      double(scene.num_cells) + double(copies) * double(place.num_cells) > limit)
    throw InputError(describe(spec), "makes the scene larger than 32-bit indices can number");

  SimplexMesh& share = scene.share;
  const auto body_index = std::int32_t(share.body_names.size());
  share.body_names.push_back(spec.name);
  for (const Eigen::Vector3d& offset : offsets) {
    const auto first = std::int32_t(share.vertices.size());
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      const std::int32_t id = place.vertex_ids[v];
      const std::int64_t before = v < body.lone_before.size() ? body.lone_before[v] : body.num_lone;
      scene.vertex_ids.push_back(std::int32_t(scene.num_vertices + id - before));
      share.vertices.push_back(mesh.vertices[v] + offset);
    }
    share.vertex_point_id.insert(share.vertex_point_id.end(), ids.points.begin(), ids.points.end());
    for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
      auto cell = mesh.cells[c];
      for (int i = 0; i <= mesh.dim; ++i) cell[i] += first;
      share.cells.push_back(cell);
      scene.cell_ids.push_back(std::int32_t(scene.num_cells + place.first_cell + std::int64_t(c)));
    }
    share.cell_body.insert(share.cell_body.end(), mesh.cells.size(), body_index);
    share.cell_volume_id.insert(share.cell_volume_id.end(), ids.cells.begin(), ids.cells.end());
    share.facet_ids.insert(share.facet_ids.end(), ids.facets.begin(), ids.facets.end());
    share.cell_source.insert(share.cell_source.end(), mesh.cell_source.begin(), mesh.cell_source.end());
    scene.num_vertices += used;
    scene.num_cells += place.num_cells;
  }
}

double count_cells(const GeometrySpec& spec, MeshFiles& files, int ranks) {
  double cells = 0;
  int dim = 3;
  if (spec.generator) {
    const ShapeByNumbers shape = shape_by_numbers(*spec.generator, spec.where, ranks);
    cells = double(shape.num_cells);
    dim = shape.dim;
  } else {
    const auto [own, count] = naming_entry(spec, [&] { return files.dimension_and_cells(spec.mesh); });
    dim = own;
    cells = double(count);
  }
  cells *= std::pow(double(children_of_a_cell(dim)), std::max(spec.n_refs, 0));
  if (spec.array)
    for (const int size : spec.array->size) cells *= size;
  return cells;
}

} // namespace

double count_deformable_cells(const parallel::Communicator& comm, std::span<const GeometrySpec> specs,
                              MeshFiles& files) {
  for (const GeometrySpec& spec : specs)
    if (!spec.is_obstacle && !spec.generator) files.load_slices(comm, spec.mesh);
  const double cells = parallel::collectively(comm, [&] {
    double sum = 0;
    for (const GeometrySpec& spec : specs) {
      if (comm.rank() != 0 || spec.is_obstacle) continue;
      check_source(spec);
      sum += count_cells(spec, files, comm.size());
    }
    return sum;
  });
  return comm.max(cells);
}

SlicedMesh assemble_slices(const parallel::Communicator& comm, std::span<const GeometrySpec> specs, int dim,
                           MeshFiles& files, std::vector<EmptySelection>& empty) {
  SlicedMesh scene;
  scene.share.dim = dim;
  for (std::size_t s = 0; s < specs.size(); ++s) {
    parallel::collectively(comm, [&] { check_source(specs[s]); });
    SlicedBody body = make_body(comm, specs, s, dim, files);
    if (specs[s].n_refs != 0) parallel::collectively(comm, [&] { orient(body.mesh, describe(specs[s])); });
    const SelectedIds ids = select_from_slices(comm, specs[s], body, empty);
    parallel::collectively(comm, [&] { append_slices(scene, specs[s], body, ids, comm.size()); });
  }
  return scene;
}

} // namespace recoil::mesh
