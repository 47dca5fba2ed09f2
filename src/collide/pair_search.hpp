#pragma once

#include <array>
#include <vector>

#include "collide/item_tree.hpp"

namespace recoil::collide {

using Pairs = std::vector<std::array<std::int32_t, 2>>;

/// Items to search, and what to add to their indices in the pairs.
template <int dim>
struct Side {
  const ItemTree<dim>& tree;
  std::int32_t offset;
};

/// Finds the pairs between two trees or within one. Gives up, in the middle, once it has found more than
/// `max_pairs` in all its searches.
template <int dim>
class PairSearch {
public:
  PairSearch(GroupTable& groups, GlobalIndex max_pairs) : groups_(groups), max_pairs_(max_pairs) {}

  /// Appends the pairs (item of a, item of b), in an order that depends on nothing but the input.
  void between(const Side<dim>& a, const Side<dim>& b, Pairs& pairs);
  /// Appends the pairs (i, j), i < j, within one set.
  void within(const Side<dim>& a, Pairs& pairs) { search(a, a, Order::ascending, pairs); }

  bool over_budget() const { return num_pairs_ > max_pairs_; }
  /// Pairs of boxes compared so far.
  GlobalIndex tests() const { return tests_; }

private:
  enum class Order { as_found, swapped, ascending };
  using Node = typename ItemTree<dim>::Node;

  void search(const Side<dim>& query, const Side<dim>& target, Order order, Pairs& pairs);
  void compare_leaves(const Side<dim>& query, std::int32_t query_leaf, const Side<dim>& target,
                      std::int32_t target_leaf, Order order, Pairs& pairs);
  bool may_meet(const Node& a, const Node& b) const {
    return a.group == ItemTree<dim>::mixed || b.group == ItemTree<dim>::mixed ||
           groups_.admits(a.group, b.group);
  }

  GroupTable& groups_;
  GlobalIndex max_pairs_, num_pairs_ = 0, tests_ = 0;
};

/// Sorts pairs lexicographically; first entries lie below `num_first`. Linear but for the few pairs of one
/// item.
void sort_pairs(Pairs& pairs, std::size_t num_first);

} // namespace recoil::collide
