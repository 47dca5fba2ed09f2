#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "recoil/collide/candidates.hpp"

namespace recoil::collide {

/// Lower corner, then upper corner of a box.
template <class Real, int dim>
using Bounds = std::array<Real, 2 * dim>;

/// Whether two closed boxes have a point in common.
template <class A, class B, std::size_t n>
inline bool overlap(const std::array<A, n>& a, const std::array<B, n>& b) {
  bool result = true; // without branches: three comparisons cost less than one wrong guess
  for (std::size_t k = 0; k < n / 2; ++k) result &= (a[k] <= b[k + n / 2]) & (b[k] <= a[k + n / 2]);
  return result;
}

/// Makes `a` contain `b`.
template <class Real, std::size_t n>
inline void extend(std::array<Real, n>& a, const std::array<Real, n>& b) {
  for (std::size_t k = 0; k < n / 2; ++k) {
    a[k] = b[k] < a[k] ? b[k] : a[k];
    a[k + n / 2] = b[k + n / 2] > a[k + n / 2] ? b[k + n / 2] : a[k + n / 2];
  }
}

/// Gives groups small numbers and remembers what the filter says about them: it is asked about each pair of
/// groups once, and so cheap enough to prune whole branches of a search.
class GroupTable {
public:
  explicit GroupTable(const GroupFilter& filter) : filter_(filter) {}

  /// The number of `group`, counted from 0 in the order of first appearance.
  std::int32_t number(std::int32_t group) {
    // Neighbours in a set mostly belong to one body.
    if (last_number_ >= 0 && groups_[last_number_] == group) return last_number_;
    const auto [entry, is_new] = numbers_.try_emplace(group, std::ssize(groups_));
    if (is_new) groups_.push_back(group);
    return last_number_ = entry->second;
  }
  /// Whether items of the groups with these numbers may pair up.
  bool admits(std::int32_t a, std::int32_t b) {
    if (!filter_) return true;
    if (a >= remembered || b >= remembered) return ask(a, b);
    std::int8_t& answer = answers_[a * remembered + b];
    if (answer < 0) answer = ask(a, b);
    return answer != 0;
  }

private:
  // A table of all pairs of groups would grow with the square of the bodies; beyond this the filter is asked.
  static constexpr std::int32_t remembered = 256;

  bool ask(std::int32_t a, std::int32_t b) const { return filter_(groups_[a], groups_[b]); }

  const GroupFilter& filter_;
  std::vector<std::int32_t> groups_; // by number
  std::unordered_map<std::int32_t, std::int32_t> numbers_;
  std::vector<std::int8_t> answers_ = std::vector<std::int8_t>(std::size_t(remembered) * remembered, -1);
  std::int32_t last_number_ = -1;
};

/// A bounding-volume hierarchy over the boxes of an item set; empty boxes are left out.
///
/// Items are sorted along a Morton curve of their centres, and ranges of them split where the highest bit
/// differs. (Sorting by size first was measured: large boxes in a branch of their own cost up to four times
/// the comparisons.) Nodes lie in depth-first order: the left child of node i is i + 1, and what follows its
/// subtree is node skip. A traversal is a loop that goes to i + 1 or to skip; it needs no stack, and started
/// at a leaf it meets all that comes after that leaf and nothing before.
template <int dim>
class ItemTree {
public:
  static constexpr std::int32_t mixed = -1;
  static constexpr std::int32_t leaf_size = 8;

  struct Node {
    Bounds<float, dim> bounds; // rounded outwards: half the memory, and items are tested in full
    std::int32_t skip;         // first node after this subtree; i + 1 for leaves
    std::int32_t first;        // items begin here and end at nodes()[skip].first
    std::int32_t group;        // number in the GroupTable if all items share it, else mixed
  };

  ItemTree() = default;
  /// O(n log n) time. `groups` gains the groups of the set.
  ItemTree(const ItemSet<dim>& set, GroupTable& groups);

  /// Number of non-empty boxes.
  std::int32_t num_items() const { return index_.size(); }
  /// Number of nodes; nodes() has one more, which ends the items of the last one.
  std::int32_t num_nodes() const { return num_nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }

  // Of the item at a position in the order of the tree:
  Bounds<double, dim> bounds(std::int32_t position) const {
    Bounds<double, dim> result;
    for (std::size_t k = 0; k < 2 * dim; ++k) result[k] = corners_[k][position];
    return result;
  }
  std::int32_t group(std::int32_t position) const { return group_[position]; }
  const std::array<GlobalIndex, 3>& labels(std::int32_t position) const { return labels_[position]; }
  /// Index in the set.
  std::int32_t index(std::int32_t position) const { return index_[position]; }

  /// Marks which of the `leaf_size` items from position `first` on overlap `box`; marks beyond the end of a
  /// leaf mean nothing.
  template <class Real>
  std::array<std::int64_t, leaf_size> marks(const std::array<Real, 2 * dim>& box, std::int32_t first) const {
    // Lanes of equal width without branches: compilers turn this into a few vector comparisons.
    std::array<std::int64_t, leaf_size> result;
    result.fill(1);
    for (std::size_t k = 0; k < dim; ++k) {
      const double* low = corners_[k].data() + first;
      const double* high = corners_[k + dim].data() + first;
      const double box_low = box[k], box_high = box[k + dim];
      for (std::size_t lane = 0; lane < result.size(); ++lane)
        result[lane] &= std::int64_t(low[lane] <= box_high) & std::int64_t(box_low <= high[lane]);
    }
    return result;
  }

  /// Indices in the set, ascending, of the items that overlap one of `regions`. Adds the comparisons made to
  /// `tests`.
  std::vector<LocalIndex> overlapping(std::span<const Bounds<double, dim>> regions, GlobalIndex& tests) const;

private:
  void build(std::span<const std::uint64_t> keys, std::int32_t first, std::int32_t end);
  void fill_leaf(Node& node, std::int32_t end) const;

  std::vector<Node> nodes_;
  std::array<std::vector<double>, 2 * dim> corners_; // by coordinate; longer than num_items() by a leaf
  std::vector<std::array<GlobalIndex, 3>> labels_;
  std::vector<std::int32_t> group_, index_;
  std::int32_t num_nodes_ = 0;
};

} // namespace recoil::collide
