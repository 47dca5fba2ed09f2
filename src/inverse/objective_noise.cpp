#include "recoil/inverse/objective_noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace recoil::inverse {

double noise_level(std::span<const double> values) {
  constexpr int first_order = 3;
  double level = 0;
  for (const double value : values)
    level = std::max(level, std::numeric_limits<double>::epsilon() * std::abs(value));
  std::vector<double> table(values.begin(), values.end());
  double variance = 1; // of a difference over that of a value: binomial(2 k, k)
  for (int k = 1; table.size() > 1; ++k) {
    for (std::size_t i = 0; i + 1 < table.size(); ++i) table[i] = table[i + 1] - table[i];
    table.pop_back();
    variance *= (4.0 * k - 2) / k;
    if (k < first_order) continue;
    double squares = 0;
    for (const double difference : table) squares += difference * difference;
    level = std::max(level, std::sqrt(squares / table.size() / variance));
  }
  return level;
}

} // namespace recoil::inverse
