#pragma once

#include <span>
#include <string_view>

#include "recoil/parameters/physical_gradient.hpp"

namespace recoil::objectives {

/// A state as objectives see it: owned entries, then ghosts.
struct ObservedState {
  std::span<const double> u; ///< displacement [m]
  std::span<const double> v; ///< velocity [m/s]
  double time;               ///< [s]
};

/// What an objective may depend on explicitly, each at fixed values of the others. No objective depends on
/// the other quantities of a PhysicalGradient.
enum class Quantity { displacement, velocity, law, density, vertices, obstacle_vertices, obstacle_positions };

/// A scalar J(u, v, q) of one state of a trajectory.
template <int dim>
class Objective {
public:
  virtual ~Objective() = default;
  virtual std::string_view name() const = 0;
  /// True if J depends explicitly on `quantity`; then add_derivatives() adds the partial by it. False: that
  /// partial is zero because J does not know the quantity, never because its derivative is missing.
  virtual bool depends_on(Quantity quantity) const = 0;
  /// What can be known before anything is solved: whether J has a value at `time`. @throws InputError, for
  /// example where observations end before. Not collective, the same on all ranks.
  virtual void check_time(double) const {}
  /// J, the same on all ranks. Collective.
  virtual double value(const ObservedState& state) = 0;
  /// du += factor dJ/du and dv += factor dJ/dv on owned entries, g += factor dJ/dq at fixed u and v.
  /// Collective.
  virtual void add_derivatives(const ObservedState& state, double factor, std::span<double> du,
                               std::span<double> dv, parameters::PhysicalGradient<dim>& g) = 0;
};

} // namespace recoil::objectives
