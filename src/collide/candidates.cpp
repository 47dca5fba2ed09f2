#include "recoil/collide/candidates.hpp"

#include <cstring>
#include <type_traits>

#include "collide/pair_search.hpp"
#include "collide/regions.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::collide {

namespace {

// Trees of the sets that some SetPair names; the others stay empty and neither travel nor count.
template <int dim>
std::vector<ItemTree<dim>> build_trees(std::span<const ItemSet<dim>> sets, std::span<const SetPair> which,
                                       GroupTable& groups) {
  std::vector<bool> used(sets.size(), false);
  for (const auto& [first, second] : which)
    for (const int s : {first, second}) {
      RECOIL_ASSERT(s >= 0 && s < std::ssize(sets));
      used[s] = true;
    }
  std::vector<ItemTree<dim>> trees(sets.size());
  for (std::size_t s = 0; s < sets.size(); ++s)
    if (used[s]) trees[s] = ItemTree<dim>(sets[s], groups);
  return trees;
}

// Items that other ranks sent, per set and sorted by (rank, index), and where they came from.
template <int dim>
struct ReceivedItems {
  std::vector<ItemSet<dim>> sets;
  std::vector<std::vector<RemoteItem>> origin;
};

template <int dim>
struct PackedItem {
  Bounds<double, dim> bounds;
  std::array<GlobalIndex, 3> labels;
  std::int32_t group;
  LocalIndex index;
};

template <int dim>
PackedItem<dim> pack(const ItemSet<dim>& set, LocalIndex index) {
  const std::size_t i = index;
  PackedItem<dim> item{{}, set.labels[i], set.groups[i], index};
  for (int k = 0; k < dim; ++k) {
    item.bounds[k] = set.boxes[i].min()[k];
    item.bounds[k + dim] = set.boxes[i].max()[k];
  }
  return item;
}

template <int dim>
void unpack(const PackedItem<dim>& item, ItemSet<dim>& set) {
  using Corner = Eigen::Map<const Eigen::Vector<double, dim>>;
  set.boxes.emplace_back(Corner(item.bounds.data()), Corner(item.bounds.data() + dim));
  set.labels.push_back(item.labels);
  set.groups.push_back(item.group);
}

template <class T>
void append(std::vector<std::byte>& bytes, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto more = std::as_bytes(values);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

// Numbers of items per set, then the items of all sets; empty where there is no item at all.
template <int dim>
std::vector<std::byte> pack_all(std::span<const ItemSet<dim>> sets, std::span<const ItemTree<dim>> trees,
                                const Regions<dim>& regions, Traffic& traffic) {
  std::vector<Bounds<double, dim>> boxes;
  for (const auto& region : regions) boxes.push_back(region.bounds);
  std::vector<GlobalIndex> counts;
  std::vector<PackedItem<dim>> items;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto indices = trees[s].overlapping(boxes, traffic.tests);
    counts.push_back(std::ssize(indices));
    for (const LocalIndex i : indices) items.push_back(pack(sets[s], i));
  }
  std::vector<std::byte> bytes;
  if (items.empty()) return bytes;
  append<GlobalIndex>(bytes, counts);
  append<PackedItem<dim>>(bytes, items);
  traffic.boxes_sent += std::ssize(items);
  traffic.bytes_sent += std::ssize(bytes);
  ++traffic.ranks_met;
  return bytes;
}

template <int dim>
void unpack_all(const parallel::Message& message, ReceivedItems<dim>& received) {
  const std::byte* from = message.bytes.data();
  std::vector<GlobalIndex> counts(received.sets.size());
  std::memcpy(counts.data(), from, counts.size() * sizeof(GlobalIndex));
  from += counts.size() * sizeof(GlobalIndex);
  for (std::size_t s = 0; s < counts.size(); ++s)
    for (GlobalIndex k = 0; k < counts[s]; ++k, from += sizeof(PackedItem<dim>)) {
      PackedItem<dim> item;
      std::memcpy(&item, from, sizeof(item));
      unpack(item, received.sets[s]);
      received.origin[s].push_back({message.rank, item.index});
    }
  RECOIL_ASSERT(from == message.bytes.data() + message.bytes.size());
}

// Sends every receiver the items of `sets` that overlap its regions, found through `trees`. Collective.
template <int dim>
ReceivedItems<dim> exchange_items(const parallel::Communicator& comm, std::span<const ItemSet<dim>> sets,
                                  std::span<const ItemTree<dim>> trees,
                                  const std::vector<Regions<dim>>& regions, const std::vector<int>& receivers,
                                  Traffic& traffic) {
  std::vector<parallel::Message> outgoing;
  for (const int rank : receivers) {
    auto bytes = pack_all<dim>(sets, trees, regions[rank], traffic);
    if (!bytes.empty()) outgoing.push_back({rank, std::move(bytes)});
  }
  ReceivedItems<dim> received{std::vector<ItemSet<dim>>(sets.size()),
                              std::vector<std::vector<RemoteItem>>(sets.size())};
  for (const auto& message : parallel::exchange_bytes(comm, std::move(outgoing))) {
    unpack_all(message, received);
    ++traffic.ranks_met;
  }
  for (const auto& origin : received.origin) traffic.boxes_received += std::ssize(origin);
  return received;
}

// Own items against own ones and against what others sent. Received items are not paired among themselves:
// their owners do that.
template <int dim>
void find_pairs(std::span<const ItemSet<dim>> sets, std::span<const ItemTree<dim>> trees,
                std::span<const ItemTree<dim>> received_trees, std::span<const SetPair> which,
                PairSearch<dim>& search, Candidates& candidates) {
  const auto own = [&](int s) { return Side<dim>{trees[s], 0}; };
  const auto remote = [&](int s) {
    const std::int32_t num_own = sets[s].boxes.size();
    return Side<dim>{received_trees[s], num_own};
  };
  candidates.pairs.resize(which.size());
  for (std::size_t k = 0; k < which.size() && !search.over_budget(); ++k) {
    const auto [first, second] = which[k];
    Pairs& pairs = candidates.pairs[k];
    if (first == second)
      search.within(own(first), pairs);
    else
      search.between(own(first), own(second), pairs);
    search.between(own(first), remote(second), pairs);
    if (first != second) search.between(remote(first), own(second), pairs);
  }
}

// Keeps of the received items those that are in a pair, numbers them again and sorts the pairs.
template <int dim>
void keep_partners(std::span<const ItemSet<dim>> sets, const ReceivedItems<dim>& received,
                   std::span<const SetPair> which, Candidates& candidates) {
  std::vector<std::vector<std::int32_t>> number(sets.size());
  for (std::size_t s = 0; s < sets.size(); ++s) number[s].assign(received.origin[s].size(), -1);
  // Calls `work` with every entry of a pair that is a received item, and its set.
  const auto for_remote_entries = [&](auto&& work) {
    for (std::size_t k = 0; k < which.size(); ++k) {
      const int set[] = {which[k].first, which[k].second};
      for (auto& pair : candidates.pairs[k])
        for (const std::size_t side : {0, 1}) {
          const std::int32_t size = sets[set[side]].boxes.size();
          if (pair[side] >= size) work(set[side], size, pair[side]);
        }
    }
  };
  for_remote_entries([&](int set, std::int32_t size, std::int32_t entry) { number[set][entry - size] = 0; });
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::size_t i = 0; i < number[s].size(); ++i) {
      if (number[s][i] < 0) continue;
      number[s][i] = std::ssize(candidates.remote[s]);
      candidates.remote[s].push_back(received.origin[s][i]);
    }
  for_remote_entries(
      [&](int set, std::int32_t size, std::int32_t& entry) { entry = size + number[set][entry - size]; });
  for (std::size_t k = 0; k < which.size(); ++k) {
    const std::size_t first = which[k].first;
    sort_pairs(candidates.pairs[k], sets[first].boxes.size() + candidates.remote[first].size());
  }
}

} // namespace

template <int dim>
Candidates find_candidates(const parallel::Communicator& comm, std::span<const ItemSet<dim>> sets,
                           std::span<const SetPair> which, const GroupFilter& filter,
                           GlobalIndex max_pairs_per_rank) {
  Candidates candidates;
  GroupTable groups(filter);
  const auto trees = build_trees<dim>(sets, which, groups);
  const auto regions = gather_regions<dim>(comm, regions_of<dim>(trees));
  const auto receivers = receivers_of<dim>(regions, comm.rank());
  const auto received = exchange_items<dim>(comm, sets, trees, regions, receivers, candidates.traffic);
  const auto received_trees = build_trees<dim>(received.sets, which, groups);

  PairSearch<dim> search(groups, max_pairs_per_rank);
  find_pairs<dim>(sets, trees, received_trees, which, search, candidates);
  candidates.traffic.tests += search.tests();
  candidates.remote.resize(sets.size());
  candidates.over_budget = comm.any(search.over_budget());
  if (candidates.over_budget)
    candidates.pairs.assign(which.size(), {});
  else
    keep_partners<dim>(sets, received, which, candidates);
  return candidates;
}

template <int dim>
std::vector<Box<dim>> boxes_around(const parallel::Communicator& comm, std::span<const ItemSet<dim>> sets) {
  const GroupFilter all;
  GroupTable groups(all);
  std::vector<ItemTree<dim>> trees;
  for (const ItemSet<dim>& set : sets) trees.emplace_back(set, groups);
  std::vector<Box<dim>> boxes;
  for (const Regions<dim>& regions : gather_regions<dim>(comm, regions_of<dim>(trees)))
    for (const Region<dim>& region : regions) {
      using Corner = Eigen::Map<const Eigen::Vector<double, dim>>;
      boxes.emplace_back(Corner(region.bounds.data()), Corner(region.bounds.data() + dim));
    }
  return boxes;
}

template std::vector<Box<2>> boxes_around<2>(const parallel::Communicator&, std::span<const ItemSet<2>>);
template std::vector<Box<3>> boxes_around<3>(const parallel::Communicator&, std::span<const ItemSet<3>>);
template Candidates find_candidates<2>(const parallel::Communicator&, std::span<const ItemSet<2>>,
                                       std::span<const SetPair>, const GroupFilter&, GlobalIndex);
template Candidates find_candidates<3>(const parallel::Communicator&, std::span<const ItemSet<3>>,
                                       std::span<const SetPair>, const GroupFilter&, GlobalIndex);

} // namespace recoil::collide
