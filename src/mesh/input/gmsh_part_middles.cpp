#include <algorithm>

#include "mesh/input/gmsh_part.hpp"
#include "recoil/base/log.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

/// An edge of second order whose middle node a rank has.
struct MiddleNode {
  std::int64_t node;
  std::array<std::int64_t, 2> ends;
  std::array<double, 3> middle;
  double length;
};

/// The middle nodes of edges, with the places of the ends. Marks vertices that are ends. Collective.
std::vector<MiddleNode> locate_middles(const parallel::Communicator& comm, const Blocks& blocks,
                                       const ReadPart& part, std::vector<char>& is_end) {
  std::vector<std::int64_t> ends;
  for (const auto& [node, a, b] : part.middles) ends.insert(ends.end(), {a, b});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const std::int64_t begin = blocks.begin(comm.rank());
  const auto places = ask_owners(
      comm, ends, [&](std::int64_t v) { return blocks.of(v); },
      [&](std::int64_t v, int) {
        is_end[v - begin] = 1;
        const Eigen::Vector3d& p = part.positions[v - begin];
        return std::array{p.x(), p.y(), p.z()};
      });
  const auto place = [&](std::int64_t v) {
    return Eigen::Vector3d(places[std::size_t(std::ranges::lower_bound(ends, v) - ends.begin())].data());
  };
  std::vector<std::vector<MiddleNode>> outgoing(comm.size());
  for (const auto& [node, a, b] : part.middles) {
    const Eigen::Vector3d p = place(a), q = place(b), middle = 0.5 * (p + q);
    outgoing[blocks.of(node)].push_back(
        {node, {std::min(a, b), std::max(a, b)}, {middle.x(), middle.y(), middle.z()}, (q - p).norm()});
  }
  std::vector<MiddleNode> all;
  for (const auto& given : parallel::exchange(comm, outgoing))
    all.insert(all.end(), given.begin(), given.end());
  return all;
}

} // namespace

bool straighten_edges(const parallel::Communicator& comm, const Blocks& blocks, ReadPart& part,
                      const std::string& file) {
  if (!comm.any(!part.middles.empty())) return true;
  std::vector<char> is_end(part.positions.size(), 0);
  std::vector<MiddleNode> middles = locate_middles(comm, blocks, part, is_end);
  part.middles = {};
  std::ranges::sort(middles, {}, [](const MiddleNode& m) { return std::pair(m.node, m.ends); });
  const std::int64_t begin = blocks.begin(comm.rank());
  bool fine = true;
  GlobalIndex curved = 0;
  double curvature = 0;
  for (std::size_t k = 0; k < middles.size(); ++k) {
    const MiddleNode& m = middles[k];
    fine = fine && !is_end[m.node - begin];
    if (k > 0 && middles[k - 1].node == m.node) {
      fine = fine && middles[k - 1].ends == m.ends;
      continue;
    }
    const Eigen::Vector3d middle(m.middle.data());
    const double away = (part.positions[m.node - begin] - middle).norm() / m.length;
    if (away > gmsh_straight) ++curved;
    curvature = std::max(curvature, away);
    part.positions[m.node - begin] = middle;
  }
  if (!comm.all(fine)) return false;
  curved = comm.sum(curved);
  curvature = comm.max(curvature);
  if (curved > 0 && comm.rank() == 0) log_warning_once(gmsh_curved_warning(file, curved, curvature));
  return true;
}

} // namespace recoil::mesh
