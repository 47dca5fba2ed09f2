#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Geometry>

namespace recoil::mesh {

/// Finds which of a fixed set of closed boxes meet another one: a binary tree of boxes around boxes, halved
/// at the median of their middles. O(n log n) to build.
class BoxTree {
public:
  explicit BoxTree(std::vector<Eigen::AlignedBox3d> boxes);

  /// Numbers of the boxes that meet `box`, ascending.
  std::vector<std::int32_t> meeting(const Eigen::AlignedBox3d& box) const;

private:
  struct Node {
    Eigen::AlignedBox3d box;
    std::int32_t begin, end; ///< in order_
    std::int32_t right;      ///< the left child follows its parent; 0 for leaves
  };
  std::int32_t build(std::int32_t begin, std::int32_t end);

  std::vector<Eigen::AlignedBox3d> boxes_;
  std::vector<std::int32_t> order_;
  std::vector<Node> nodes_;
};

} // namespace recoil::mesh
