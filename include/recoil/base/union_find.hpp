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

private:
  std::vector<Index> parent_;
};

} // namespace recoil
