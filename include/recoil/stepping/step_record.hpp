#pragma once

#include <array>
#include <span>

#include "recoil/base/types.hpp"

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

/// How one internal state came about: all that the reverse sweep needs to know of a step besides the states
/// themselves.
///
/// The contract with the reverse sweep: walking the records by falling `id`, the record of state i gives the
/// equations
///
///     u_i + sum_j a_j u_{p_j} = B v_i,    M (v_i + sum_j a_j v_{p_j}) + B G(u_i, u_{p_1}, time, dt) = 0, B =
///     b dt,
///
/// with p_j = predecessors[j-1]; so i feeds on exactly the states named there, and sums over the successors
/// of a state run over the records that name it. Sub-steps of a repeated step are ordinary records. Without
/// inertia (order 0) the equation is G(u_i, u_{p_1}, time, dt) = 0, with v = 0. Damping and friction see p_1
/// and `dt`, never B.
struct StepRecord {
  GlobalIndex id = 0;           ///< of the state this step led to; the initial state 0 has no predecessors
  GlobalIndex nominal_step = 0; ///< the step of the scene it belongs to; sub-steps share it
  bool completes_nominal =
      true;        ///< false for all but the last sub-step: such states are in no output or objective
  double time = 0; ///< at the end of the step [s]
  double dt = 0;   ///< [s]
  StepCoefficients coefficients;
  int num_predecessors = 0;
  std::array<GlobalIndex, max_bdf_order> predecessor_ids{}; ///< newest first

  std::span<const GlobalIndex> predecessors() const {
    return std::span(predecessor_ids).first(num_predecessors);
  }
  bool operator==(const StepRecord&) const = default;
};

} // namespace recoil::stepping
