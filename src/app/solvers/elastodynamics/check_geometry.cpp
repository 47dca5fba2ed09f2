#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/solvers/elastodynamics/validate_against_mesh.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::app {

namespace {

/// The rows of node files, which refer to the meshes as they were read.
void read_node_values(int dim, GlobalIndex num_vertices, std::vector<DirichletEntry>& entries) {
  for (DirichletEntry& entry : entries)
    if (!entry.node_file.empty())
      entry.nodes = mesh::read_node_values(entry.node_file, dim, num_vertices, entry.where);
}

/// Of the whole deformable mesh, on every rank. Collective.
GlobalIndex num_vertices(const parallel::Communicator& comm, const LoadedScene& loaded) {
  if (loaded.slices) return loaded.slices->num_vertices;
  return comm.max(GlobalIndex(loaded.geometry.deformable.vertices.size()));
}

/// About half of what runs without contact take per node (docs/performance.md): what is refused would not
/// have run.
constexpr double bytes_per_node_2d = 2e3, bytes_per_node_3d = 5e3;

int largest_order(const Scene& scene) {
  const SpaceSpec& space = elements_of(scene).space;
  int order = space.order;
  for (const auto& [body, own] : space.body_orders) order = std::max(order, own);
  return order;
}

/// Refuses a scene whose run cannot fit into the memory of the machines that the ranks run on, before it is
/// distributed. Collective. @throws InputError on every rank.
void require_memory_of_run(const parallel::Communicator& comm, const LoadedScene& loaded) {
  const Scene& scene = loaded.file.scene;
  const int order = largest_order(scene);
  const double vertices = double(num_vertices(comm, loaded));
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

} // namespace

void check_geometry_of_elements(const parallel::Communicator& comm, LoadedScene& loaded) {
  Scene& scene = loaded.file.scene;
  std::vector<DirichletEntry>& prescribed = scene.boundary_conditions.dirichlet;
  const GlobalIndex vertices = num_vertices(comm, loaded);
  const MeshIds ids = loaded.slices ? collect_ids(comm, loaded.slices->share) : MeshIds();
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return set_dimension(scene, loaded.dim);
    const mesh::AssembledGeometry& meshes = loaded.geometry;
    if (loaded.slices)
      validate_against_ids(scene, loaded.dim, ids, meshes.obstacles, meshes.empty_selections);
    else
      validate_against_mesh(scene, meshes.deformable, meshes.obstacles, meshes.empty_selections);
    read_node_values(loaded.dim, vertices, prescribed);
  });
  for (DirichletEntry& entry : prescribed) comm.broadcast(entry.nodes);
  require_memory_of_run(comm, loaded);
}

} // namespace recoil::app
