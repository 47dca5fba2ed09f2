#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "recoil/parallel/exchange.hpp"

namespace recoil::mesh {

/// The numbers 0 .. count - 1 in one block for each rank, of equal sizes.
struct Blocks {
  std::int64_t count;
  int ranks;

  std::int64_t begin(int rank) const { return count * rank / ranks; }
  int of(std::int64_t number) const {
    int rank = int(std::min<std::int64_t>(number * ranks / std::max<std::int64_t>(count, 1), ranks - 1));
    while (rank + 1 < ranks && begin(rank + 1) <= number) ++rank;
    while (begin(rank) > number) --rank;
    return rank;
  }
};

/// Keys that several ranks may have, met at the rank in whose block the first entry of a key lies.
struct MetKeys {
  struct Key {
    std::int64_t number; ///< place among the different keys of all ranks, in lexicographic order
    std::int32_t ranks;  ///< how many have it
  };
  std::vector<Key> keys; ///< of those given
  std::int64_t total;    ///< different keys of all ranks
};

/// @param keys ascending, each once. Collective.
template <std::size_t n>
MetKeys meet_keys(const parallel::Communicator& comm, const Blocks& blocks,
                  const std::vector<std::array<std::int32_t, n>>& keys) {
  using Key = std::array<std::int32_t, n>;
  std::vector<std::vector<Key>> outgoing(comm.size());
  for (const Key& key : keys) outgoing[blocks.of(key[0])].push_back(key);
  const std::vector<std::vector<Key>> met = parallel::exchange(comm, outgoing);
  outgoing.clear();
  std::vector<Key> all;
  for (const auto& given : met) all.insert(all.end(), given.begin(), given.end());
  std::sort(all.begin(), all.end());
  std::vector<Key> different;
  std::vector<std::int32_t> ranks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i] == all[i - 1]) {
      ++ranks.back();
      continue;
    }
    different.push_back(all[i]);
    ranks.push_back(1);
  }
  const std::int64_t first = comm.exclusive_scan(GlobalIndex(different.size()));
  std::vector<std::vector<MetKeys::Key>> answers(comm.size());
  for (std::size_t rank = 0; rank < met.size(); ++rank)
    for (const Key& key : met[rank]) {
      const auto place = std::lower_bound(different.begin(), different.end(), key) - different.begin();
      answers[rank].push_back({first + place, ranks[place]});
    }
  MetKeys result{{}, comm.sum(GlobalIndex(different.size()))};
  // Blocks ascend with ranks, and so do keys.
  for (const auto& part : parallel::exchange(comm, answers))
    result.keys.insert(result.keys.end(), part.begin(), part.end());
  return result;
}

} // namespace recoil::mesh
