#include "recoil/geometry/box_tree.hpp"

#include <algorithm>
#include <numeric>

namespace recoil::geometry {

namespace {

struct BoxSearch {
  const std::vector<Eigen::AlignedBox3d>& boxes;
  const Eigen::AlignedBox3d& box;
  bool ends_at_first;
  std::vector<std::int32_t> found = {};

  bool intersectVolume(const Eigen::AlignedBox3d& around) const { return around.intersects(box); }
  /// Whether to end here.
  bool intersectObject(std::int32_t number) {
    if (boxes[number].intersects(box)) found.push_back(number);
    return ends_at_first && !found.empty();
  }
};

} // namespace

BoxTree::BoxTree(std::vector<Eigen::AlignedBox3d> boxes) : boxes_(std::move(boxes)) {
  std::vector<std::int32_t> numbers(boxes_.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  tree_.init(numbers.begin(), numbers.end(), boxes_.begin(), boxes_.end());
}

std::vector<std::int32_t> BoxTree::meeting(const Eigen::AlignedBox3d& box) const {
  BoxSearch search{boxes_, box, false};
  Eigen::BVIntersect(tree_, search);
  std::sort(search.found.begin(), search.found.end());
  return search.found;
}

bool BoxTree::meets(const Eigen::AlignedBox3d& box) const {
  BoxSearch search{boxes_, box, true};
  Eigen::BVIntersect(tree_, search);
  return !search.found.empty();
}

} // namespace recoil::geometry
