#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace recoil::particles {

/// Points by the cubes of edge `size` that they lie in. Cubes share buckets of a hash table, so that memory
/// goes with the number of points, however far apart these are.
class CellList {
public:
  CellList(std::span<const Eigen::Vector3d> points, double size) {
    if (points.empty()) return;
    Eigen::Vector3d low = points.front();
    for (const Eigen::Vector3d& point : points) low = low.cwiseMin(point);
    for (const Eigen::Vector3d& point : points) {
      Cell& cell = cells_.emplace_back();
      for (int k = 0; k < 3; ++k)
        cell[k] = static_cast<std::int64_t>(std::min(std::floor((point[k] - low[k]) / size), 1e18));
    }
    buckets_.assign(2 * points.size() + 1, 0);
    for (const Cell& cell : cells_) ++buckets_[bucket(cell) + 1];
    std::partial_sum(buckets_.begin(), buckets_.end(), buckets_.begin());
    members_.resize(points.size());
    std::vector<std::int64_t> next(buckets_.begin(), buckets_.end() - 1);
    for (std::int64_t i = 0; i < std::ssize(cells_); ++i) members_[next[bucket(cells_[i])]++] = i;
  }

  /// Calls act(j) for each point j > i in the cube of point i and those around it: all that are not farther
  /// than `size`, and others.
  template <class Act>
  void for_each_later_near(std::int64_t i, Act act) const {
    for (int shift = 0; shift < 27; ++shift) {
      Cell cell = cells_[i];
      cell[0] += shift % 3 - 1, cell[1] += shift / 3 % 3 - 1, cell[2] += shift / 9 - 1;
      const std::size_t place = bucket(cell);
      for (std::int64_t k = buckets_[place]; k < buckets_[place + 1]; ++k)
        if (members_[k] > i && cells_[members_[k]] == cell) act(members_[k]);
    }
  }

private:
  using Cell = std::array<std::int64_t, 3>;
  std::size_t bucket(const Cell& cell) const {
    std::uint64_t hash = 0;
    for (const std::int64_t part : cell) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 29;
    }
    return hash % (buckets_.size() - 1);
  }

  std::vector<Cell> cells_;           ///< of each point
  std::vector<std::int64_t> buckets_; ///< begin of each in members_
  std::vector<std::int64_t> members_;
};

} // namespace recoil::particles
