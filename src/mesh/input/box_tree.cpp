#include "mesh/input/box_tree.hpp"

#include <algorithm>
#include <numeric>

namespace recoil::mesh {

namespace {
constexpr std::int32_t boxes_of_a_leaf = 4;
} // namespace

BoxTree::BoxTree(std::vector<Eigen::AlignedBox3d> boxes) : boxes_(std::move(boxes)), order_(boxes_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  if (!boxes_.empty()) build(0, std::ssize(order_));
}

std::int32_t BoxTree::build(std::int32_t begin, std::int32_t end) {
  const std::int32_t number = std::ssize(nodes_);
  nodes_.push_back({{}, begin, end, 0});
  Eigen::AlignedBox3d all, middles;
  for (std::int32_t k = begin; k < end; ++k) {
    all.extend(boxes_[order_[k]]);
    middles.extend(boxes_[order_[k]].center());
  }
  nodes_[number].box = all;
  if (end - begin <= boxes_of_a_leaf) return number;
  Eigen::Index axis = 0;
  middles.sizes().maxCoeff(&axis);
  const std::int32_t half = begin + (end - begin) / 2;
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const double x = boxes_[a].center()[axis], y = boxes_[b].center()[axis];
    return x != y ? x < y : a < b;
  };
  std::nth_element(order_.begin() + begin, order_.begin() + half, order_.begin() + end, before);
  build(begin, half);
  const std::int32_t right = build(half, end);
  nodes_[number].right = right;
  return number;
}

std::vector<std::int32_t> BoxTree::meeting(const Eigen::AlignedBox3d& box) const {
  std::vector<std::int32_t> found, open;
  if (!nodes_.empty()) open.push_back(0);
  while (!open.empty()) {
    const std::int32_t number = open.back();
    const Node& node = nodes_[number];
    open.pop_back();
    if (!node.box.intersects(box)) continue;
    if (node.right != 0) {
      open.push_back(node.right);
      open.push_back(number + 1);
      continue;
    }
    for (std::int32_t k = node.begin; k < node.end; ++k)
      if (boxes_[order_[k]].intersects(box)) found.push_back(order_[k]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace recoil::mesh
