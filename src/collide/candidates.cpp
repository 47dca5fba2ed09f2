#include "recoil/collide/candidates.hpp"

#include "collide/exchange_items.hpp"
#include "collide/item_tree.hpp"
#include "collide/pair_search.hpp"
#include "collide/regions.hpp"
#include "recoil/base/error.hpp"

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

// Own items against own ones and against what others sent. Received items are not paired among themselves:
// their owners do that.
template <int dim>
void find_pairs(std::span<const ItemSet<dim>> sets, std::span<const ItemTree<dim>> trees,
                std::span<const ItemTree<dim>> received_trees, std::span<const SetPair> which,
                PairSearch<dim>& search, Candidates& candidates) {
  const auto own = [&](int s) { return Side<dim>{trees[s], 0}; };
  const auto remote = [&](int s) {
    return Side<dim>{received_trees[s], static_cast<std::int32_t>(sets[s].boxes.size())};
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
      number[s][i] = static_cast<std::int32_t>(candidates.remote[s].size());
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

template Candidates find_candidates<2>(const parallel::Communicator&, std::span<const ItemSet<2>>,
                                       std::span<const SetPair>, const GroupFilter&, GlobalIndex);
template Candidates find_candidates<3>(const parallel::Communicator&, std::span<const ItemSet<3>>,
                                       std::span<const SetPair>, const GroupFilter&, GlobalIndex);

} // namespace recoil::collide
