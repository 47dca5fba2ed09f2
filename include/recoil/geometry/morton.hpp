#pragma once

#include <algorithm>
#include <cstdint>

#include <Eigen/Core>

namespace recoil::geometry {

/// Position along the Morton (Z-order) curve of the box [min, max] with 20 bits per axis.
template <int dim>
std::uint64_t morton_code(const Eigen::Matrix<double, dim, 1>& point,
                          const Eigen::Matrix<double, dim, 1>& min,
                          const Eigen::Matrix<double, dim, 1>& max) {
  constexpr int bits = 20;
  std::uint64_t code = 0;
  std::uint64_t cell[dim];
  const double extent = std::max((max - min).maxCoeff(), 1e-300);
  for (int axis = 0; axis < dim; ++axis) {
    const double fraction = std::clamp((point[axis] - min[axis]) / extent, 0.0, 1.0);
    cell[axis] = static_cast<std::uint64_t>(fraction * ((1 << bits) - 1));
  }
  for (int bit = bits - 1; bit >= 0; --bit)
    for (int axis = 0; axis < dim; ++axis) code = (code << 1) | ((cell[axis] >> bit) & 1);
  return code;
}

} // namespace recoil::geometry
