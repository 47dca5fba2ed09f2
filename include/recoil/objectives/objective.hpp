#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/objectives/robust_loss.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/stepping/step_record.hpp"

namespace recoil::objectives {

/// A state as objectives see it: owned entries, then ghosts.
struct ObservedState {
  std::span<const double> u; ///< displacement [m]
  std::span<const double> v; ///< velocity [m/s]
  double time;               ///< [s]
  // Of the step that led there, for objectives that depend on it. The initial state is its own predecessor.
  const stepping::StepRecord* record = nullptr;
  std::span<const double> previous_u = {};        ///< displacement at its start [m]
  std::span<const double> previous_internal = {}; ///< internal variables there (stepping::State)
};

/// What a residual compares with an observation.
struct ResidualLabel {
  std::int32_t point = 0;     ///< index in ObservationNames::points; 0 where these are none
  std::int32_t component = 0; ///< index in ObservationNames::components
  double time = 0;            ///< of the observation [s]
  bool is_observed = true;    ///< else nothing was observed, and the residual is 0 whatever the state is
  std::int32_t line = 0;      ///< of the observation in its file; 0 where it lies between two of them
  double observed = 0, inverse_sd = 0; ///< the number that was observed, and 1 over its standard deviation
};

/// Names of what an objective compares with observations, the same on all ranks.
struct ObservationNames {
  std::vector<std::string> points;     ///< none where there is only one
  std::vector<std::string> components; ///< none of an objective that compares with no observations
};

/// A force where one is compared with observations [N].
struct ComparedForce {
  double observed, simulated;
};

using parameters::Quantity;
namespace quantities = parameters::quantities;

/// A scalar J(u, v, q) of one state of a trajectory, or of the step that led there.
template <int dim>
class Objective {
public:
  virtual ~Objective() = default;
  virtual std::string_view name() const = 0;
  /// What J depends on explicitly, each at fixed values of the others; add_derivatives() adds the partials by
  /// these. Those by others are zero because J does not know the quantity, never because a derivative is
  /// missing.
  virtual std::vector<Quantity> depends_on() const = 0;
  /// What can be known before anything is solved: whether J has a value at `time`. @throws InputError, for
  /// example where observations end before. Not collective, the same on all ranks.
  virtual void check_time(double) const {}
  /// Times of what it compares states with [s], ascending; empty where it compares with nothing in time. Not
  /// collective, the same on all ranks.
  virtual std::vector<double> observation_times() const { return {}; }
  /// J, the same on all ranks. Collective.
  virtual double value(const ObservedState& state) = 0;
  /// du += factor dJ/du and dv += factor dJ/dv on owned entries, g += factor dJ/dq at fixed u and v.
  /// Collective.
  virtual void add_derivatives(const ObservedState& state, double factor, std::span<double> du,
                               std::span<double> dv, parameters::PhysicalGradient<dim>& g) = 0;

  // Least squares: J = |r|^2.

  virtual bool is_least_squares() const { return false; }
  /// Whether the residuals are misfits of data in their standard deviations.
  virtual bool has_deviations() const { return false; }
  /// What stands in place of the squares of misfits: residuals are then RobustLoss::residual() of these.
  virtual std::optional<RobustLoss> loss() const { return {}; }
  /// How many of the residuals are this rank's, at every state. Not collective.
  virtual std::size_t num_residuals() const { return 0; }
  virtual ObservationNames observation_names() const { return {}; }
  /// What these are of at a state of `time`, in their order; nothing where there are no observation_names().
  /// A point is on the same rank at all states. Not collective.
  virtual std::vector<ResidualLabel> residual_labels(double /*time*/) const { return {}; }
  /// What is compared of a force: what was observed at `time`, and what a residual there says of the
  /// simulated one; nothing of others. Not collective.
  virtual std::optional<ComparedForce> compared_force(double /*time*/, double /*residual*/) const {
    return {};
  }
  /// How many are data at `time`: those that are observed, or all where there are no labels. Not collective.
  std::size_t num_data(double time) const {
    const std::vector<ResidualLabel> labels = residual_labels(time);
    return labels.empty() ? num_residuals() : std::ranges::count_if(labels, &ResidualLabel::is_observed);
  }
  /// How many numbers are fitted to the data at `time` alone, as nuisance beside the variables of a fit: so
  /// many of the data say nothing of these. Not collective, the same on all ranks.
  virtual int num_fitted_along(double /*time*/) const { return 0; }
  /// This rank's residuals r, the same rows at every state: |r|^2 over all ranks is value(). Collective.
  virtual std::vector<double> residuals(const ObservedState& /*state*/) { return {}; }
  /// The change of residuals() along du and dv (owned entries, then ghosts) and dq, in the same order.
  /// Collective.
  virtual std::vector<double> residual_tangent(const ObservedState& /*state*/, std::span<const double> /*du*/,
                                               std::span<const double> /*dv*/,
                                               const parameters::PhysicalDirection<dim>& /*dq*/) {
    return {};
  }
  /// Adds the transpose of residual_tangent(): du += (dr/du)' y and so on, as add_derivatives(); y in the
  /// order of residuals(). Collective.
  virtual void add_residual_products(const ObservedState& /*state*/, std::span<const double> /*y*/,
                                     std::span<double> /*du*/, std::span<double> /*dv*/,
                                     parameters::PhysicalGradient<dim>& /*g*/) {}

  /// Whether J depends on the start of the step, which states then come with. Where it is |r|^2, r may depend
  /// on the displacement there, and the derivatives above are those where that stays; others depend on
  /// internal variables alone.
  virtual bool depends_on_step() const { return false; }
  /// The change of the residuals along one of it (owned entries, then ghosts). As the next function, for the
  /// state that the last call of those above was for. Collective.
  virtual std::vector<double> previous_tangent(const ObservedState& /*state*/,
                                               std::span<const double> /*previous_du*/) {
    return {};
  }
  /// Adds the transpose of previous_tangent(): previous_du += (dr/du_previous)' y on owned entries.
  /// Collective.
  virtual void add_previous_products(const ObservedState& /*state*/, std::span<const double> /*y*/,
                                     std::span<double> /*previous_du*/) {}
};

/// Adds what was added to owned nodes and to ghosts of `field` to the owned entries of `sum`. Collective.
inline void add_to_owned(linalg::Vector& field, std::span<double> sum) {
  field.add_ghosts_to_owners();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += field.owned()[i];
}

} // namespace recoil::objectives
