#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace recoil::solvers::fracture_modes {

/// Disjoint sets of the numbers 0 .. size - 1 with path halving. The root of a set is its smallest number.
class UnionFind {
public:
  explicit UnionFind(std::size_t size) : parent_(size) { reset(); }

  /// Every number alone again.
  void reset() { std::iota(parent_.begin(), parent_.end(), 0); }
  int root(int k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  void unite(int a, int b) {
    a = root(a);
    b = root(b);
    if (a < b)
      parent_[b] = a;
    else
      parent_[a] = b;
  }

private:
  std::vector<int> parent_;
};

} // namespace recoil::solvers::fracture_modes
