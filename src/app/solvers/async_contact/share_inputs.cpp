#include "app/solvers/async_contact/async_model.hpp"
#include "recoil/app/solvers/async_contact/async_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/particles/read_particles.hpp"

namespace recoil::app {
namespace {

using Point = std::array<double, 3>;

/// Gives all ranks the points of the first one. Collective.
void broadcast(const parallel::Communicator& comm, std::vector<Eigen::Vector3d>& points) {
  std::vector<Point> plain;
  for (const Eigen::Vector3d& x : points) plain.push_back({x[0], x[1], x[2]});
  comm.broadcast(plain);
  points.clear();
  for (const Point& x : plain) points.emplace_back(x[0], x[1], x[2]);
}

void broadcast(const parallel::Communicator& comm, std::vector<mesh::SurfaceMesh>& meshes) {
  std::vector<std::string> names;
  std::vector<std::int32_t> ids;
  for (const mesh::SurfaceMesh& mesh : meshes) {
    names.push_back(mesh.name);
    ids.push_back(mesh.surface_id);
  }
  comm.broadcast(names);
  comm.broadcast(ids);
  meshes.resize(ids.size());
  for (std::size_t k = 0; k < meshes.size(); ++k) {
    mesh::SurfaceMesh& mesh = meshes[k];
    mesh.name = names[k];
    mesh.surface_id = ids[k];
    broadcast(comm, mesh.vertices);
    comm.broadcast(mesh.triangles);
    comm.broadcast(mesh.edges);
    comm.broadcast(mesh.points);
  }
}

/// The bodies of a mesh one by one, each with the vertices that its cells use, in their order.
std::vector<SolidMesh> split(const mesh::SimplexMesh& mesh) {
  std::vector<SolidMesh> solids(mesh.body_names.size());
  for (std::size_t k = 0; k < solids.size(); ++k) solids[k].name = mesh.body_names[k];
  std::vector<std::int32_t> body(mesh.vertices.size(), -1), number(mesh.vertices.size());
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell)
    for (const std::int32_t v : mesh.cells[cell]) body[v] = mesh.cell_body[cell];
  for (std::size_t v = 0; v < body.size(); ++v) {
    std::vector<Eigen::Vector3d>& vertices = solids[body[v]].vertices;
    number[v] = static_cast<std::int32_t>(vertices.size());
    vertices.push_back(mesh.vertices[v]);
  }
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    auto& added = solids[mesh.cell_body[cell]].cells.emplace_back(mesh.cells[cell]);
    for (std::int32_t& v : added) v = number[v];
  }
  return solids;
}

void broadcast(const parallel::Communicator& comm, std::vector<SolidMesh>& solids) {
  std::vector<std::string> names;
  for (const SolidMesh& solid : solids) names.push_back(solid.name);
  comm.broadcast(names);
  solids.resize(names.size());
  for (std::size_t k = 0; k < solids.size(); ++k) {
    solids[k].name = names[k];
    broadcast(comm, solids[k].vertices);
    comm.broadcast(solids[k].cells);
  }
}

particles::ParticleSet read_spheres(const SphereBody& body) {
  particles::ParticleSet set;
  if (body.file.empty()) {
    set.positions = body.centers;
    set.radii.assign(body.centers.size(), *body.radius);
    return set;
  }
  particles::ParticleFileOptions options;
  options.radius = body.radius;
  try {
    return particles::read_particles(body.file, options);
  } catch (const InputError& error) {
    throw InputError(body.where, error.what());
  }
}

} // namespace

AsyncInputs share_inputs(const parallel::Communicator& comm, const LoadedScene& loaded) {
  AsyncInputs inputs{
      loaded.geometry.body_surfaces, loaded.geometry.obstacles, split(loaded.geometry.deformable), {}};
  broadcast(comm, inputs.sheets);
  broadcast(comm, inputs.obstacles);
  broadcast(comm, inputs.solids);
  for (const SphereBody& body : async_of(loaded.file.scene).spheres) {
    particles::ParticleSet& set = inputs.spheres.emplace_back(parallel::collectively(
        comm, [&] { return comm.rank() == 0 ? read_spheres(body) : particles::ParticleSet(); }));
    broadcast(comm, set.positions);
    comm.broadcast(set.radii);
  }
  return inputs;
}

} // namespace recoil::app
