#include "mesh/halve_shared.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <Eigen/Geometry>

#include "mesh/meet_keys.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

/// Of the ranks whose cells have a vertex.
struct Sharers {
  std::int32_t count;
  std::int32_t rank; ///< of two the other one, else the owner
};

/// Ids of lines in regular meshes ascend by a stride, which may be a multiple of the number of sharers
/// [Knuth 1998, 6.4, multiplicative hashing].
std::uint64_t scattered(GlobalIndex id) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return static_cast<std::uint64_t>(id) * golden_ratio >> 32;
}

std::vector<Sharers> find_sharers(const parallel::Communicator& comm, GlobalIndex num_vertices,
                                  const std::vector<GlobalIndex>& ids) {
  const Blocks blocks{num_vertices, comm.size()};
  const std::int64_t first = blocks.begin(comm.rank());
  std::vector<std::vector<std::int32_t>> ranks(blocks.begin(comm.rank() + 1) - first);
  return parallel::ask_owners(
      comm, ids, [&](GlobalIndex id) { return blocks.of(id); },
      [&](GlobalIndex id, int rank) {
        const auto& all = ranks[id - first];
        const auto count = std::int32_t(all.size());
        return Sharers{count, count == 2 ? all[all[0] == rank ? 1 : 0] : all[scattered(id) % count]};
      },
      [&](GlobalIndex id, int rank) { ranks[id - first].push_back(rank); });
}

int longest_extent(const std::vector<std::array<double, 3>>& positions,
                   const std::vector<std::size_t>& vertices) {
  Eigen::AlignedBox3d box;
  for (const std::size_t v : vertices) box.extend(Eigen::Vector3d::Map(positions[v].data()));
  int axis = 0;
  box.sizes().maxCoeff(&axis);
  return axis;
}

} // namespace

std::vector<int> halve_shared_vertices(const parallel::Communicator& comm, GlobalIndex num_vertices,
                                       const std::vector<GlobalIndex>& ids,
                                       const std::vector<std::array<double, 3>>& positions) {
  const auto sharers = find_sharers(comm, num_vertices, ids);
  std::vector<int> owner(ids.size());
  std::map<int, std::vector<std::size_t>> shared_with;
  for (std::size_t v = 0; v < ids.size(); ++v) {
    owner[v] = sharers[v].rank;
    if (sharers[v].count == 2) shared_with[sharers[v].rank].push_back(v);
  }
  for (auto& [other, vertices] : shared_with) {
    const int axis = longest_extent(positions, vertices);
    std::ranges::sort(vertices, {}, [&](std::size_t v) { return std::tuple(positions[v][axis], ids[v]); });
    const int low = std::min(comm.rank(), other), high = std::max(comm.rank(), other);
    for (std::size_t k = 0; k < vertices.size(); ++k)
      owner[vertices[k]] = 2 * k < vertices.size() ? high : low;
  }
  return owner;
}

} // namespace recoil::mesh
