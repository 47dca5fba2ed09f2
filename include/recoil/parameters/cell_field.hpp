#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::parameters {

/// Material constants on a list of cells: one set per cell, or one per quadrature point of each cell where
/// they vary inside a cell.
struct CellField {
  std::vector<double> values; ///< set by set
  int points_per_cell = 1;

  /// Appends the set of the next cell or point.
  void add(std::span<const double> set) { values.insert(values.end(), set.begin(), set.end()); }

  /// The set of N constants of a point. @pre all sets have N.
  template <std::size_t N>
  std::array<double, N> at(std::size_t cell, int point) const {
    const std::size_t set = points_per_cell == 1 ? cell : cell * points_per_cell + point;
    std::array<double, N> constants;
    std::copy_n(values.data() + set * N, N, constants.begin());
    return constants;
  }
};

} // namespace recoil::parameters
