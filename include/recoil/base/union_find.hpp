#pragma once

#include <numeric>
#include <vector>

namespace recoil {

/// Disjoint sets of the numbers 0 .. size - 1, with path halving. The root of a set is its smallest number.
template <class Index>
class UnionFind {
public:
  explicit UnionFind(Index size) : parent_(size) { reset(); }

  /// Makes every number a set of its own again.
  void reset() { std::iota(parent_.begin(), parent_.end(), Index{0}); }
  Index root(Index k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  void unite(Index a, Index b) {
    a = root(a);
    b = root(b);
    if (a < b)
      parent_[b] = a;
    else
      parent_[a] = b;
  }
  /// The set of each number; sets are numbered from 0 on in the order of their smallest numbers.
  std::vector<Index> numbers() {
    std::vector<Index> result(parent_.size());
    Index count = 0;
    for (Index k = 0; k < static_cast<Index>(parent_.size()); ++k) {
      const Index first = root(k);
      result[k] = first == k ? count++ : result[first];
    }
    return result;
  }

private:
  std::vector<Index> parent_;
};

} // namespace recoil
