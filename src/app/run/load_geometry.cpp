#include "recoil/app/run/load_geometry.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "recoil/mesh/input/assemble_slices.hpp"

namespace recoil::app {

namespace {

using ShapeOf = std::function<BodyShape(const mesh::GeometrySpec&)>;

bool has_mesh(const mesh::GeometrySpec& entry) { return entry.generator || !entry.mesh.empty(); }

/// Moves sheets out of `entries` and gives their surfaces, read and mended as those of obstacles.
std::vector<mesh::SurfaceMesh> take_sheets(std::vector<mesh::GeometrySpec>& entries, const ShapeOf& shape) {
  const auto is_sheet = [&](const mesh::GeometrySpec& entry) {
    return !entry.is_obstacle && shape(entry) == BodyShape::sheet;
  };
  std::vector<mesh::GeometrySpec> bodies;
  std::ranges::copy_if(entries, std::back_inserter(bodies), is_sheet);
  std::erase_if(entries, is_sheet);
  for (mesh::GeometrySpec& body : bodies) body.is_obstacle = true;
  return mesh::assemble_geometry(bodies, 3).obstacles;
}

std::vector<mesh::GeometrySpec> entries_with_meshes(const std::vector<mesh::GeometrySpec>& given) {
  std::vector<mesh::GeometrySpec> entries;
  std::ranges::copy_if(given, std::back_inserter(entries), has_mesh);
  return entries;
}

/// On the first rank. @param files what was read of them already
LoadedGeometry load(std::vector<mesh::GeometrySpec> entries, const ShapeOf& shape, mesh::MeshFiles& files) {
  LoadedGeometry loaded;
  std::vector<mesh::SurfaceMesh> surfaces = take_sheets(entries, shape);
  if (std::ranges::any_of(entries, [&](const auto& entry) { return shape(entry) == BodyShape::surface; }))
    surfaces = take_body_surfaces(entries, files);
  if (!std::ranges::all_of(entries, &mesh::GeometrySpec::is_obstacle))
    loaded.dim = mesh::geometry_dimension(entries, files);
  loaded.geometry = mesh::assemble_geometry(entries, loaded.dim, files);
  loaded.geometry.body_surfaces = std::move(surfaces);
  return loaded;
}

/// Deformable bodies in slices, obstacles on the first rank.
LoadedGeometry load_slices(const parallel::Communicator& comm, const std::vector<mesh::GeometrySpec>& entries,
                           mesh::MeshFiles& files) {
  LoadedGeometry loaded;
  loaded.dim = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? mesh::geometry_dimension(entries, files) : 0; });
  std::vector<int> dim{loaded.dim};
  comm.broadcast(dim);
  loaded.dim = dim[0];
  std::vector<mesh::GeometrySpec> bodies, obstacles;
  std::ranges::partition_copy(entries, std::back_inserter(obstacles), std::back_inserter(bodies),
                              &mesh::GeometrySpec::is_obstacle);
  std::vector<mesh::EmptySelection> empty;
  loaded.slices = mesh::assemble_slices(comm, bodies, loaded.dim, files, empty);
  loaded.geometry = parallel::collectively(comm, [&] {
    return comm.rank() == 0 ? mesh::assemble_geometry(obstacles, loaded.dim, files)
                            : mesh::AssembledGeometry();
  });
  loaded.geometry.empty_selections = std::move(empty);
  return loaded;
}

} // namespace

LoadedGeometry load_geometry(const parallel::Communicator& comm, const std::vector<mesh::GeometrySpec>& given,
                             const ShapeOf& shape, double in_slices_from) {
  const std::vector<mesh::GeometrySpec> entries = entries_with_meshes(given);
  mesh::MeshFiles files;
  if (comm.size() > 1 && in_slices_from != never_in_slices) {
    if (mesh::count_deformable_cells(comm, entries, files) >= in_slices_from)
      return load_slices(comm, entries, files);
  }
  LoadedGeometry loaded = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? load(entries, shape, files) : LoadedGeometry(); });
  std::vector<int> dim{loaded.dim};
  comm.broadcast(dim);
  loaded.dim = dim[0];
  return loaded;
}

} // namespace recoil::app
