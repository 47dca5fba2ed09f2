#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Geometry>
#include <unsupported/Eigen/BVH>

namespace recoil::geometry {

/// Finds which of a fixed set of closed boxes meet another one.
class BoxTree {
public:
  explicit BoxTree(std::vector<Eigen::AlignedBox3d> boxes);

  /// Numbers of the boxes that meet `box`, ascending.
  std::vector<std::int32_t> meeting(const Eigen::AlignedBox3d& box) const;
  /// Whether there are any.
  bool meets(const Eigen::AlignedBox3d& box) const;

private:
  std::vector<Eigen::AlignedBox3d> boxes_;
  Eigen::KdBVH<double, 3, std::int32_t> tree_;
};

} // namespace recoil::geometry
