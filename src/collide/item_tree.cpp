#include "collide/item_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "recoil/base/error.hpp"

namespace recoil::collide {

namespace {

constexpr float float_infinity = std::numeric_limits<float>::infinity();

float round_down(double value) {
  const float result = value;
  return result > value ? std::nextafter(result, -float_infinity) : result;
}

float round_up(double value) {
  const float result = value;
  return result < value ? std::nextafter(result, float_infinity) : result;
}

template <int dim>
bool is_empty(const Box<dim>& box) {
  const bool empty = (box.min().array() > box.max().array()).any();
  // A NaN that is passed over would be a contact that is never found.
  RECOIL_ASSERT(empty || (box.min().array() <= box.max().array()).all());
  return empty;
}

// Puts the bits of `value` apart: bit i goes to i * dim.
template <int dim>
std::uint64_t spread(std::uint64_t value) {
  if constexpr (dim == 2) {
    value = (value | value << 16) & 0x0000ffff0000ffff;
    value = (value | value << 8) & 0x00ff00ff00ff00ff;
    value = (value | value << 4) & 0x0f0f0f0f0f0f0f0f;
    value = (value | value << 2) & 0x3333333333333333;
    value = (value | value << 1) & 0x5555555555555555;
  } else {
    value = (value | value << 32) & 0x001f00000000ffff;
    value = (value | value << 16) & 0x001f0000ff0000ff;
    value = (value | value << 8) & 0x100f00f00f00f00f;
    value = (value | value << 4) & 0x10c30c30c30c30c3;
    value = (value | value << 2) & 0x1249249249249249;
  }
  return value;
}

// Sort keys of boxes: Morton codes of their centres.
template <int dim>
class KeyMaker {
public:
  KeyMaker(const ItemSet<dim>& set, std::span<const std::int32_t> items) {
    Box<dim> centres;
    for (const std::int32_t i : items) {
      const auto c = centre(set.boxes[i]);
      if (c.allFinite()) centres.extend(c);
    }
    if (centres.isEmpty()) return;
    low_ = centres.min();
    const double width = (centres.max() - centres.min()).maxCoeff();
    scale_ = width > 0 && std::isfinite(width) ? cells / width : 0.0;
  }

  std::uint64_t operator()(const Box<dim>& box) const {
    const auto c = centre(box);
    if (!c.allFinite()) return 0; // an infinite box is everywhere
    std::uint64_t key = 0;
    for (int k = 0; k < dim; ++k) {
      const double cell = std::clamp((c[k] - low_[k]) * scale_, 0.0, double(cells - 1));
      key |= spread<dim>(static_cast<std::uint64_t>(cell)) << k;
    }
    return key;
  }

private:
  static constexpr std::uint64_t cells = std::uint64_t(1) << (63 / dim);

  static Eigen::Vector<double, dim> centre(const Box<dim>& box) { return 0.5 * box.min() + 0.5 * box.max(); }

  Eigen::Vector<double, dim> low_ = Eigen::Vector<double, dim>::Zero();
  double scale_ = 0;
};

struct KeyedItem {
  std::uint64_t key;
  std::int32_t item;
};

// Stable sort by key in linear time.
void radix_sort(std::vector<KeyedItem>& items) {
  constexpr int bits = 11;
  constexpr std::size_t buckets = std::size_t(1) << bits;
  std::vector<KeyedItem> sorted(items.size());
  for (int shift = 0; shift < 64; shift += bits) {
    std::array<std::uint32_t, buckets + 1> begin{};
    for (const KeyedItem& item : items) ++begin[(item.key >> shift & (buckets - 1)) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const KeyedItem& item : items) sorted[begin[item.key >> shift & (buckets - 1)]++] = item;
    items.swap(sorted);
  }
}

// Among items at one place those of one group stay together, so that the filter prunes nodes.
void sort_ties(std::vector<KeyedItem>& items, const std::vector<std::int32_t>& groups) {
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && items[end].key == items[begin].key) ++end;
    if (end - begin > 1)
      std::stable_sort(
          items.begin() + begin, items.begin() + end,
          [&](const KeyedItem& a, const KeyedItem& b) { return groups[a.item] < groups[b.item]; });
  }
}

template <int dim>
std::vector<KeyedItem> sorted_items(const ItemSet<dim>& set) {
  std::vector<std::int32_t> items;
  for (std::int32_t i = 0; i < std::ssize(set.boxes); ++i)
    if (!is_empty<dim>(set.boxes[i])) items.push_back(i);
  const KeyMaker<dim> key(set, items);
  std::vector<KeyedItem> result;
  result.reserve(items.size());
  for (const std::int32_t i : items) result.push_back({key(set.boxes[i]), i});
  radix_sort(result);
  sort_ties(result, set.groups);
  return result;
}

// Where the range [first, end) of sorted keys falls in two: at its highest differing bit, or in the middle.
std::int32_t split(std::span<const std::uint64_t> keys, std::int32_t first, std::int32_t end) {
  const std::uint64_t different = keys[first] ^ keys[end - 1];
  if (different == 0) return first + (end - first) / 2;
  const std::uint64_t bit = std::bit_floor(different);
  const auto middle = std::partition_point(keys.begin() + first, keys.begin() + end,
                                           [&](std::uint64_t key) { return (key & bit) == 0; });
  return middle - keys.begin();
}

} // namespace

template <int dim>
ItemTree<dim>::ItemTree(const ItemSet<dim>& set, GroupTable& groups) {
  RECOIL_ASSERT(set.labels.size() == set.boxes.size() && set.groups.size() == set.boxes.size());
  const std::vector<KeyedItem> items = sorted_items(set);
  std::vector<std::uint64_t> keys;
  keys.reserve(items.size());
  for (auto& values : corners_) values.reserve(items.size() + leaf_size);
  group_.reserve(items.size());
  index_.reserve(items.size());
  labels_.reserve(items.size());
  for (const auto& [key, i] : items) {
    keys.push_back(key);
    index_.push_back(i);
    labels_.push_back(set.labels[i]);
    group_.push_back(groups.number(set.groups[i]));
    const Box<dim>& box = set.boxes[i];
    for (int k = 0; k < dim; ++k) {
      corners_[k].push_back(box.min()[k]);
      corners_[k + dim].push_back(box.max()[k]);
    }
  }
  for (auto& values : corners_) values.resize(items.size() + leaf_size, 0.0);
  nodes_.reserve(items.size());
  if (!items.empty()) build(keys, 0, num_items());
  num_nodes_ = nodes_.size();
  nodes_.push_back({{}, num_nodes_, num_items(), mixed});
}

// Recursion is at most 63 levels deep along the bits of the keys and log2(n) below.
template <int dim>
void ItemTree<dim>::build(std::span<const std::uint64_t> keys, std::int32_t first, std::int32_t end) {
  const std::size_t me = nodes_.size();
  nodes_.push_back({{}, 0, first, mixed});
  if (end - first <= leaf_size) {
    fill_leaf(nodes_[me], end);
  } else {
    const std::int32_t middle = split(keys, first, end);
    build(keys, first, middle);
    const std::size_t right = nodes_.size();
    build(keys, middle, end);
    nodes_[me].bounds = nodes_[me + 1].bounds;
    extend(nodes_[me].bounds, nodes_[right].bounds);
    nodes_[me].group = nodes_[me + 1].group == nodes_[right].group ? nodes_[right].group : mixed;
  }
  nodes_[me].skip = nodes_.size();
}

template <int dim>
void ItemTree<dim>::fill_leaf(Node& node, std::int32_t end) const {
  Bounds<double, dim> all = bounds(node.first);
  node.group = group(node.first);
  for (std::int32_t i = node.first + 1; i < end; ++i) {
    extend(all, bounds(i));
    if (group(i) != node.group) node.group = mixed;
  }
  for (std::size_t k = 0; k < dim; ++k) {
    node.bounds[k] = round_down(all[k]);
    node.bounds[k + dim] = round_up(all[k + dim]);
  }
}

template <int dim>
std::vector<LocalIndex> ItemTree<dim>::overlapping(std::span<const Bounds<double, dim>> regions,
                                                   GlobalIndex& tests) const {
  const auto meets = [&](const auto& bounds) {
    return std::any_of(regions.begin(), regions.end(), [&](const auto& region) {
      ++tests;
      return overlap(bounds, region);
    });
  };
  std::vector<LocalIndex> result;
  for (std::int32_t i = 0; i < num_nodes_;) {
    const Node& node = nodes_[i];
    const bool met = meets(node.bounds);
    if (met && node.skip == i + 1)
      for (std::int32_t item = node.first; item < nodes_[i + 1].first; ++item)
        if (meets(bounds(item))) result.push_back(index(item));
    i = met ? i + 1 : node.skip;
  }
  std::sort(result.begin(), result.end());
  return result;
}

template class ItemTree<2>;
template class ItemTree<3>;

} // namespace recoil::collide
