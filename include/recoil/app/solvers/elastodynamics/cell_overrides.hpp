#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::app {

/// The name of component `i` of the acceleration of a body force.
inline std::string acceleration(int i) { return "acceleration_" + std::to_string(i); }

/// Constants that stand in for those of a scene, per local cell, by their names in the scene. A modulus
/// leaves its partner as it is: E changes at fixed nu and lambda at fixed mu, whichever pair the scene gives.
class CellOverrides {
public:
  /// The values of a constant, to be filled in; NaN = that of the scene.
  std::vector<double>& of_cells(const std::string& constant, LocalIndex num_cells) {
    auto& values = values_[constant];
    values.resize(num_cells, std::nan(""));
    return values;
  }
  bool has(std::string_view constant) const { return values_.contains(constant); }
  std::optional<double> find(std::string_view constant, LocalIndex cell) const {
    const auto values = values_.find(constant);
    if (values == values_.end() || std::isnan(values->second[cell])) return {};
    return values->second[cell];
  }

private:
  std::map<std::string, std::vector<double>, std::less<>> values_;
};

} // namespace recoil::app
