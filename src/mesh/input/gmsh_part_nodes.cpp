#include <algorithm>
#include <utility>

#include "mesh/input/gmsh_part.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

/// Which vertex has which tag: known to the rank that the tag is given by its bits, unless tags are numbers.
class NodeNumbers {
public:
  /// Takes the nodes that ranks have read and leaves each rank the positions of its block of vertices. False
  /// on every rank if tags are wrong. Collective.
  bool take(const parallel::Communicator& comm, std::vector<std::int64_t>& tags,
            std::vector<Eigen::Vector3d>& positions) {
    const auto [low, high] = tags.empty() ? std::pair(std::int64_t(0), std::int64_t(0)) : [&] {
      const auto [min, max] = std::ranges::minmax(tags);
      return std::pair(min, max);
    }();
    count_ = comm.sum(GlobalIndex(tags.size()));
    const std::int64_t lowest = comm.min(GlobalIndex(tags.empty() ? 1 : low));
    is_gapless_ = comm.max(GlobalIndex(high)) == count_ && count_ > 0 && lowest == 1;
    if (lowest < 0) return false;
    return is_gapless_ ? sort(comm, tags, positions) : list(comm, tags);
  }

  /// Puts numbers in the place of the tags that `for_each` calls its argument with. False on every rank if a
  /// tag is none. Collective.
  template <class ForEach>
  bool number(const parallel::Communicator& comm, const ForEach& for_each) const {
    if (is_gapless_) {
      bool fine = true;
      for_each([&](std::int64_t& tag) {
        fine = fine && tag >= 1 && tag <= count_;
        --tag;
      });
      return comm.all(fine);
    }
    std::vector<std::int64_t> asked;
    for_each([&](std::int64_t tag) { asked.push_back(tag); });
    std::sort(asked.begin(), asked.end());
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    const auto numbers = ask_owners(
        comm, asked, [&](std::int64_t tag) { return owner(tag, comm.size()); },
        [&](std::int64_t tag, int) {
          const auto found = std::ranges::lower_bound(known_, tag, {}, &Known::first);
          return found != known_.end() && found->first == tag ? found->second : std::int64_t(-1);
        });
    for_each([&](std::int64_t& tag) {
      tag = numbers[std::size_t(std::ranges::lower_bound(asked, tag) - asked.begin())];
    });
    return comm.all(std::ranges::find(numbers, -1) == numbers.end());
  }

private:
  using Known = std::pair<std::int64_t, std::int64_t>; ///< tag and number
  struct Node {
    std::array<double, 3> position;
    std::int64_t number;
  };

  /// Tags of any pattern, evenly on all ranks.
  static int owner(std::int64_t tag, int ranks) {
    const std::uint64_t mixed = std::uint64_t(tag) * 0x9e3779b97f4a7c15u;
    return int((mixed >> 33) % std::uint64_t(ranks));
  }

  /// Vertices in the order of tags.
  bool sort(const parallel::Communicator& comm, std::vector<std::int64_t>& tags,
            std::vector<Eigen::Vector3d>& positions) const {
    const Blocks blocks{count_, comm.size()};
    std::vector<std::vector<Node>> nodes(comm.size());
    for (std::size_t k = 0; k < tags.size(); ++k) {
      const Eigen::Vector3d& p = positions[k];
      nodes[blocks.of(tags[k] - 1)].push_back({{p.x(), p.y(), p.z()}, tags[k] - 1});
    }
    tags = {};
    positions = {};
    nodes = parallel::exchange(comm, nodes);
    const std::int64_t begin = blocks.begin(comm.rank());
    positions.resize(std::size_t(blocks.begin(comm.rank() + 1) - begin));
    std::vector<char> is_there(positions.size(), 0);
    bool fine = true;
    for (const auto& part : nodes)
      for (const Node& node : part) {
        positions[node.number - begin] = {node.position[0], node.position[1], node.position[2]};
        fine = fine && !std::exchange(is_there[node.number - begin], 1);
      }
    return comm.all(fine);
  }

  /// Vertices as they are read.
  bool list(const parallel::Communicator& comm, std::vector<std::int64_t>& tags) {
    const std::int64_t begin = Blocks{count_, comm.size()}.begin(comm.rank());
    std::vector<std::vector<std::array<std::int64_t, 2>>> outgoing(comm.size());
    for (std::size_t k = 0; k < tags.size(); ++k)
      outgoing[owner(tags[k], comm.size())].push_back({tags[k], begin + std::int64_t(k)});
    tags = {};
    for (const auto& part : parallel::exchange(comm, outgoing))
      for (const auto& [tag, number] : part) known_.emplace_back(tag, number);
    std::sort(known_.begin(), known_.end());
    const auto twice = std::ranges::adjacent_find(known_, {}, &Known::first);
    return comm.all(twice == known_.end());
  }

  std::int64_t count_ = 0;
  bool is_gapless_ = false;
  std::vector<Known> known_; ///< ascending
};

} // namespace

bool number_nodes(const parallel::Communicator& comm, ReadPart& part) {
  NodeNumbers numbers;
  if (!numbers.take(comm, part.node_tags, part.positions)) return false;
  return numbers.number(comm, [&](const auto& act) {
    for (int dim = 0; dim <= 3; ++dim)
      for (auto& corners : part.simplices[dim].corners)
        for (int i = 0; i <= dim; ++i) act(corners[i]);
    for (auto& middle : part.middles)
      for (std::int64_t& tag : middle) act(tag);
  });
}

} // namespace recoil::mesh
