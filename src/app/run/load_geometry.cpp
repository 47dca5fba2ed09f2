#include "recoil/app/run/load_geometry.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

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

LoadedGeometry load(const std::vector<mesh::GeometrySpec>& given, const ShapeOf& shape) {
  LoadedGeometry loaded;
  std::vector<mesh::GeometrySpec> entries;
  std::ranges::copy_if(given, std::back_inserter(entries), has_mesh);
  mesh::MeshFiles files;
  std::vector<mesh::SurfaceMesh> surfaces = take_sheets(entries, shape);
  if (std::ranges::any_of(entries, [&](const auto& entry) { return shape(entry) == BodyShape::surface; }))
    surfaces = take_body_surfaces(entries, files);
  if (!std::ranges::all_of(entries, &mesh::GeometrySpec::is_obstacle))
    loaded.dim = mesh::geometry_dimension(entries, files);
  loaded.geometry = mesh::assemble_geometry(entries, loaded.dim, files);
  loaded.geometry.body_surfaces = std::move(surfaces);
  return loaded;
}

} // namespace

LoadedGeometry load_geometry(const parallel::Communicator& comm,
                             const std::vector<mesh::GeometrySpec>& entries, const ShapeOf& shape) {
  LoadedGeometry loaded = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? load(entries, shape) : LoadedGeometry(); });
  std::vector<int> dim{loaded.dim};
  comm.broadcast(dim);
  loaded.dim = dim[0];
  return loaded;
}

} // namespace recoil::app
