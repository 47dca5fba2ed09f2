#pragma once

#include <array>

namespace recoil::stepping {

inline constexpr int max_bdf_order = 6;

/// How a step depends on the states before it (BDF-m of the incremental potential form):
///
///     u_i + sum_j a_j u_{i-j} = b dt v_i,    M (v_i + sum_j a_j v_{i-j}) + b dt G_i = 0,    j = 1..order.
///
/// `a[j-1]` is a_j; entries beyond `order` are zero. `order` 0 marks a step without inertia (static,
/// quasi-static).
struct StepCoefficients {
  int order = 0;
  std::array<double, max_bdf_order> a{};
  double b = 1;

  /// B = b dt [s]. The potential is scaled by B^2 in the minimised function; without inertia the scale is 1,
  /// not dt.
  double scaled_dt(double dt) const { return order == 0 ? 1 : b * dt; }
  bool operator==(const StepCoefficients&) const = default;
};

/// Coefficients of BDF-`order`. @throws InputError unless 1 <= order <= 6.
StepCoefficients bdf_coefficients(int order);

/// The order a step takes with `num_states` usable states behind it (at least 1): it grows by one per step
/// from a start or restart, up to `max_order`. Starting values that are exact count as states, and so skip
/// the ramp.
/// @throws InputError unless 1 <= max_order <= 6 and num_states >= 1.
int ramp_order(int max_order, int num_states);

} // namespace recoil::stepping
