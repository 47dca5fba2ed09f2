#pragma once

#include <string>
#include <vector>

#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/stepping/tangent_step.hpp"

namespace recoil::adjoint {

/// Sees how the states of a run change along the directions of a tangent-linear sweep.
class StateTangents {
public:
  virtual ~StateTangents() = default;
  /// du_i and dv_i of the state of `record` along a direction; ghosts are current. Collective.
  virtual void see(std::size_t direction, const stepping::StepRecord& record, const stepping::State& state,
                   const linalg::Vector& du, const linalg::Vector& dv) = 0;
};

} // namespace recoil::adjoint
