#include "recoil/stepping/bdf.hpp"

#include <algorithm>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil::stepping {
namespace {

// BDF-m as integers over a common denominator: [Hairer, Wanner, Solving ODEs II, section V.1], scaled so that
// u_i has coefficient 1.
struct Fractions {
  std::array<int, max_bdf_order> a;
  int b, denominator;
};
constexpr std::array<Fractions, max_bdf_order> table{{
    {{-1, 0, 0, 0, 0, 0}, 1, 1},
    {{-4, 1, 0, 0, 0, 0}, 2, 3},
    {{-18, 9, -2, 0, 0, 0}, 6, 11},
    {{-48, 36, -16, 3, 0, 0}, 12, 25},
    {{-300, 300, -200, 75, -12, 0}, 60, 137},
    {{-360, 450, -400, 225, -72, 10}, 60, 147},
}};

void check_order(int order) {
  if (order < 1 || order > max_bdf_order)
    throw InputError("BDF order " + std::to_string(order) + " does not exist; use 1 to 6");
}

} // namespace

StepCoefficients bdf_coefficients(int order) {
  check_order(order);
  const Fractions& row = table[order - 1];
  StepCoefficients coefficients;
  coefficients.order = order;
  for (std::size_t j = 0; j < row.a.size(); ++j)
    coefficients.a[j] = row.a[j] == 0 ? 0.0 : static_cast<double>(row.a[j]) / row.denominator;
  coefficients.b = static_cast<double>(row.b) / row.denominator;
  return coefficients;
}

int ramp_order(int max_order, int num_states) {
  check_order(max_order);
  if (num_states < 1)
    throw InputError("a BDF step needs at least one state behind it, there are " +
                     std::to_string(num_states));
  return std::min(max_order, num_states);
}

} // namespace recoil::stepping
