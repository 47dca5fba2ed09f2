#pragma once

#include <array>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::parameters {

/// N material constants on a list of cells: one set per cell, or one per quadrature point of each cell where
/// they vary inside a cell.
template <int N>
struct CellField {
  std::vector<std::array<double, N>> values;
  int points_per_cell = 1;

  const std::array<double, N>& at(std::size_t cell, int point) const {
    return values[cell * static_cast<std::size_t>(points_per_cell) +
                  static_cast<std::size_t>(points_per_cell == 1 ? 0 : point)];
  }
};

} // namespace recoil::parameters
