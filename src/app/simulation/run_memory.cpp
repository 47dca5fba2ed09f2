#include "app/simulation/run_memory.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::app {

namespace {

/// About half of what runs without contact take per node (docs/performance.md): what is refused would not
/// have run.
constexpr double bytes_per_node_2d = 2e3, bytes_per_node_3d = 5e3;

int largest_order(const Scene& scene) {
  int order = scene.space.order;
  for (const auto& [body, own] : scene.space.body_orders) order = std::max(order, own);
  return order;
}

} // namespace

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
                    "of memory on "
                    "each of {} rank(s), but {} gives {} to each; use more machines, a coarser mesh "
                    "(n_refs, divisions, array) or a lower space/discr_order",
                    vertices, order, nodes, describe_bytes(bytes), comm.size(), limit.source,
                    describe_bytes(limit.bytes)));
  });
}

} // namespace recoil::app
