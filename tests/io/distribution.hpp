#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::testing {

/// Ids of `rank` when 0..count-1 are dealt to `size` ranks at random, in random order; ranks in `empty` get
/// none. The same seed gives all ranks one deal.
inline std::vector<GlobalIndex> random_ids(GlobalIndex count, int rank, int size, unsigned seed,
                                           const std::vector<int>& empty = {}) {
  std::vector<int> takers;
  for (int r = 0; r < size; ++r)
    if (std::find(empty.begin(), empty.end(), r) == empty.end()) takers.push_back(r);
  std::mt19937 random(seed);
  std::vector<GlobalIndex> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), random);
  std::vector<GlobalIndex> mine;
  for (const GlobalIndex id : ids)
    if (takers[random() % takers.size()] == rank) mine.push_back(id);
  return mine;
}

} // namespace recoil::testing
