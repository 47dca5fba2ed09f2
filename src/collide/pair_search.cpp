#include "collide/pair_search.hpp"

#include <algorithm>
#include <numeric>

namespace recoil::collide {

namespace {

bool share_label(const std::array<GlobalIndex, 3>& a, const std::array<GlobalIndex, 3>& b) {
  for (const GlobalIndex label : a)
    if (label >= 0 && (label == b[0] || label == b[1] || label == b[2])) return true;
  return false;
}

} // namespace

// The smaller tree asks: the larger one is then entered often and left early.
template <int dim>
void PairSearch<dim>::between(const Side<dim>& a, const Side<dim>& b, Pairs& pairs) {
  if (a.tree.num_items() <= b.tree.num_items())
    search(a, b, Order::as_found, pairs);
  else
    search(b, a, Order::swapped, pairs);
}

// Whole leaves are looked up, not items: neighbours on the curve share their way through the tree. Within one
// tree each leaf starts at itself, because what comes before has met it already.
template <int dim>
void PairSearch<dim>::search(const Side<dim>& query, const Side<dim>& target, Order order, Pairs& pairs) {
  const bool within = &query.tree == &target.tree;
  const auto& leaves = query.tree.nodes();
  const auto& nodes = target.tree.nodes();
  for (std::int32_t q = 0; q < query.tree.num_nodes(); ++q) {
    const Node& leaf = leaves[q];
    if (leaf.skip != q + 1) continue;
    for (std::int32_t i = within ? q : 0; i < target.tree.num_nodes();) {
      const Node& node = nodes[i];
      ++tests_;
      if (!overlap(leaf.bounds, node.bounds) || !may_meet(leaf, node)) {
        i = node.skip;
        continue;
      }
      if (node.skip == i + 1) compare_leaves(query, q, target, i, order, pairs);
      if (over_budget()) return;
      ++i;
    }
  }
}

template <int dim>
void PairSearch<dim>::compare_leaves(const Side<dim>& query, std::int32_t query_leaf, const Side<dim>& target,
                                     std::int32_t target_leaf, Order order, Pairs& pairs) {
  const ItemTree<dim>&mine = query.tree, &theirs = target.tree;
  const Node& leaf = mine.nodes()[query_leaf];
  const Node& other = theirs.nodes()[target_leaf];
  const std::int32_t end = (&leaf + 1)->first, other_end = (&other + 1)->first;
  const auto near_other = mine.marks(other.bounds, leaf.first);
  tests_ += end - leaf.first;
  for (std::int32_t a = leaf.first; a < end; ++a) {
    if (near_other[a - leaf.first] == 0) continue;
    const std::int32_t begin = &leaf == &other ? a + 1 : other.first;
    tests_ += other_end - begin;
    // Which boxes overlap cannot be guessed: they are collected without a branch.
    const auto marks = theirs.marks(mine.bounds(a), other.first);
    std::array<std::int32_t, ItemTree<dim>::leaf_size> met;
    std::size_t num_met = 0;
    for (std::int32_t b = begin; b < other_end; ++b) {
      met[num_met] = b;
      num_met += marks[b - other.first];
    }
    for (std::size_t k = 0; k < num_met; ++k) {
      const std::int32_t b = met[k];
      if (!groups_.admits(mine.group(a), theirs.group(b)) || share_label(mine.labels(a), theirs.labels(b)))
        continue;
      std::array<std::int32_t, 2> pair{query.offset + mine.index(a), target.offset + theirs.index(b)};
      if (order == Order::swapped || (order == Order::ascending && pair[0] > pair[1]))
        std::swap(pair[0], pair[1]);
      pairs.push_back(pair);
      ++num_pairs_;
    }
  }
}

void sort_pairs(Pairs& pairs, std::size_t num_first) {
  std::vector<std::size_t> begin(num_first + 2, 0);
  for (const auto& pair : pairs) ++begin[pair[0] + 2];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Pairs sorted(pairs.size());
  for (const auto& pair : pairs) sorted[begin[pair[0] + 1]++] = pair;
  for (std::size_t i = 0; i < num_first; ++i)
    std::sort(sorted.begin() + begin[i], sorted.begin() + begin[i + 1]);
  pairs.swap(sorted);
}

template class PairSearch<2>;
template class PairSearch<3>;

} // namespace recoil::collide
