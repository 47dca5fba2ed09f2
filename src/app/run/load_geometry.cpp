#include "recoil/app/run/load_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::app {

namespace {

/// The rows of node files, which refer to the meshes as they were read.
void read_node_values(const mesh::SimplexMesh& mesh, std::vector<DirichletEntry>& entries) {
  for (DirichletEntry& entry : entries)
    if (!entry.node_file.empty())
      entry.nodes = mesh::read_node_values(entry.node_file, mesh.dim, std::ssize(mesh.vertices), entry.where);
}

/// About half of what runs without contact take per node (docs/performance.md): what is refused would not
/// have run.
constexpr double bytes_per_node_2d = 2e3, bytes_per_node_3d = 5e3;

int largest_order(const Scene& scene) {
  int order = scene.space.order;
  for (const auto& [body, own] : scene.space.body_orders) order = std::max(order, own);
  return order;
}

/// Refuses a scene whose run cannot fit into the memory of the machines that the ranks run on, before it is
/// distributed. Collective. @throws InputError on every rank.
void require_memory_of_run(const parallel::Communicator& comm, const LoadedScene& loaded) {
  const Scene& scene = loaded.file.scene;
  const int order = largest_order(scene);
  const double vertices = comm.max(double(loaded.geometry.deformable.vertices.size()));
  const double nodes = vertices * std::pow(order, loaded.dim);
  const double bytes = nodes * (loaded.dim == 2 ? bytes_per_node_2d : bytes_per_node_3d) / comm.size();
  const MemoryLimit limit = memory_limit(parallel::ranks_on_this_machine(comm));
  parallel::collectively(comm, [&] {
    if (bytes <= limit.bytes) return;
    throw InputError(
        scene.file.string() + " (/geometry)",
        fmt::format("{:.4g} vertices of order {} make about {:.4g} nodes, for which a run takes at least {} "
                    "of memory on each of {} rank(s), but {} gives {} to each; use more machines, a coarser "
                    "mesh (n_refs, divisions, array) or a lower space/discr_order",
                    vertices, order, nodes, describe_bytes(bytes), comm.size(), limit.source,
                    describe_bytes(limit.bytes)));
  });
}

bool has_mesh(const mesh::GeometrySpec& entry) { return entry.generator || !entry.mesh.empty(); }

/// Bodies whose particles come from a file have no mesh, other bodies of particles may have a surface alone.
void load_meshes(const Scene& scene, LoadedScene& loaded) {
  std::vector<mesh::GeometrySpec> entries;
  std::ranges::copy_if(scene.geometry, std::back_inserter(entries), has_mesh);
  mesh::MeshFiles files;
  std::vector<mesh::SurfaceMesh> surfaces;
  if (scene.solver.type == SolverType::bonded_particles) surfaces = take_body_surfaces(entries, files);
  if (!std::ranges::all_of(entries, &mesh::GeometrySpec::is_obstacle))
    loaded.dim = mesh::geometry_dimension(entries, files);
  loaded.geometry = mesh::assemble_geometry(entries, loaded.dim, files);
  loaded.geometry.body_surfaces = std::move(surfaces);
}

} // namespace

LoadedScene load_scene(const parallel::Communicator& comm, const std::filesystem::path& path) {
  LoadedScene loaded;
  SceneFile first =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? read_scene(path) : SceneFile(); });
  comm.broadcast(first.resolved);
  comm.broadcast(first.locations);
  // The first rank too, so that all of them hold the same scene.
  loaded.file =
      parallel::collectively(comm, [&] { return read_resolved(first.resolved, first.locations, path); });
  check_output_fields(loaded.file.scene);
  Scene& scene = loaded.file.scene;
  std::vector<int> dim(1);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    load_meshes(scene, loaded);
    dim[0] = loaded.dim;
    if (scene.solver.type == SolverType::bonded_particles) return;
    validate_against_mesh(scene, loaded.geometry.deformable, loaded.geometry.obstacles,
                          loaded.geometry.empty_selections);
    read_node_values(loaded.geometry.deformable, scene.boundary_conditions.dirichlet);
  });
  comm.broadcast(dim);
  loaded.dim = dim[0];
  if (comm.rank() != 0) set_dimension(scene, loaded.dim);
  if (scene.solver.type == SolverType::bonded_particles) {
    if (loaded.dim != 3)
      throw InputError(scene.file.string() + " (/geometry)",
                       "bonded particles live in 3D; this geometry is 2D");
    return loaded;
  }
  for (DirichletEntry& entry : scene.boundary_conditions.dirichlet) comm.broadcast(entry.nodes);
  require_memory_of_run(comm, loaded);
  return loaded;
}

} // namespace recoil::app
