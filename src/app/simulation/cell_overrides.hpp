#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::app {

enum class CellConstant {
  E,
  nu,
  lambda,
  mu,
  c1,
  c2,
  k,
  rho,
  phi,
  psi,
  acceleration_x,
  acceleration_y,
  acceleration_z
};
inline constexpr std::size_t num_cell_constants = 13;

/// Component `i` of the acceleration of a body force.
constexpr CellConstant acceleration(int i) {
  return static_cast<CellConstant>(static_cast<int>(CellConstant::acceleration_x) + i);
}

/// Constants that stand in for those of a scene, per local cell. A modulus leaves its partner as it is: E
/// changes at fixed nu and lambda at fixed mu, whichever pair the scene gives.
class CellOverrides {
public:
  /// The values of a constant, to be filled in; NaN = that of the scene.
  std::vector<double>& of_cells(CellConstant constant, LocalIndex num_cells) {
    auto& values = values_[static_cast<std::size_t>(constant)];
    values.resize(static_cast<std::size_t>(num_cells), std::nan(""));
    return values;
  }
  bool has(CellConstant constant) const { return !values_[static_cast<std::size_t>(constant)].empty(); }
  std::optional<double> find(CellConstant constant, LocalIndex cell) const {
    const auto& values = values_[static_cast<std::size_t>(constant)];
    if (values.empty() || std::isnan(values[static_cast<std::size_t>(cell)])) return {};
    return values[static_cast<std::size_t>(cell)];
  }

private:
  std::array<std::vector<double>, num_cell_constants> values_;
};

} // namespace recoil::app
