#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include <Eigen/Core>

#include "recoil/mesh/geometry_spec.hpp"

namespace recoil::mesh {

/// A built-in shape as functions of the numbers of its vertices and cells: any part of it can be made without
/// the rest.
struct ShapeByNumbers {
  int dim = 3;
  std::int64_t num_vertices = 0, num_cells = 0;
  std::function<Eigen::Vector3d(std::int64_t)> vertex;
  std::function<std::array<std::int32_t, 4>(std::int64_t)> cell; ///< the last entry is -1 in 2D
};

/// What generate() makes. @param ranks that share its memory.
/// @throws InputError as generate() does.
ShapeByNumbers shape_by_numbers(const Generator& generator, const std::string& where, int ranks);

} // namespace recoil::mesh
