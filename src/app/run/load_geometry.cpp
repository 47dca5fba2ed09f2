#include "recoil/app/run/load_geometry.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace recoil::app {

namespace {

bool has_mesh(const mesh::GeometrySpec& entry) { return entry.generator || !entry.mesh.empty(); }

/// Moves bodies out of `entries` and gives their surfaces, read and mended as those of obstacles.
std::vector<mesh::SurfaceMesh> take_sheets(std::vector<mesh::GeometrySpec>& entries) {
  std::vector<mesh::GeometrySpec> bodies;
  std::ranges::copy_if(entries, std::back_inserter(bodies),
                       std::not_fn(std::mem_fn(&mesh::GeometrySpec::is_obstacle)));
  std::erase_if(entries, std::not_fn(std::mem_fn(&mesh::GeometrySpec::is_obstacle)));
  for (mesh::GeometrySpec& body : bodies) body.is_obstacle = true;
  return mesh::assemble_geometry(bodies, 3).obstacles;
}

LoadedGeometry load(const std::vector<mesh::GeometrySpec>& given, BodyShape bodies) {
  LoadedGeometry loaded;
  std::vector<mesh::GeometrySpec> entries;
  std::ranges::copy_if(given, std::back_inserter(entries), has_mesh);
  mesh::MeshFiles files;
  std::vector<mesh::SurfaceMesh> surfaces;
  if (bodies == BodyShape::surface) surfaces = take_body_surfaces(entries, files);
  if (bodies == BodyShape::sheet) surfaces = take_sheets(entries);
  if (!std::ranges::all_of(entries, &mesh::GeometrySpec::is_obstacle))
    loaded.dim = mesh::geometry_dimension(entries, files);
  loaded.geometry = mesh::assemble_geometry(entries, loaded.dim, files);
  loaded.geometry.body_surfaces = std::move(surfaces);
  return loaded;
}

} // namespace

LoadedGeometry load_geometry(const parallel::Communicator& comm,
                             const std::vector<mesh::GeometrySpec>& entries, BodyShape bodies) {
  LoadedGeometry loaded = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? load(entries, bodies) : LoadedGeometry(); });
  std::vector<int> dim{loaded.dim};
  comm.broadcast(dim);
  loaded.dim = dim[0];
  return loaded;
}

} // namespace recoil::app
