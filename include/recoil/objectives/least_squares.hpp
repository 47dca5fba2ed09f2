#pragma once

#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::objectives {

/// Adds what was added to owned nodes and to ghosts of `field` to the owned entries of `sum`. Collective.
inline void add_to_owned(linalg::Vector& field, std::span<double> sum) {
  field.add_ghosts_to_owners();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += field.owned()[i];
}

/// J = |r|^2, value and derivatives of which are made from the residuals r and their products.
template <int dim>
class LeastSquaresObjective : public Objective<dim> {
public:
  /// `comm` must outlive it.
  explicit LeastSquaresObjective(const parallel::Communicator& comm) : comm_(&comm) {}

  bool is_least_squares() const override { return true; }
  std::size_t num_residuals() const override = 0;
  std::vector<double> residuals(const ObservedState& state) override = 0;
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double> dv,
                                       const parameters::PhysicalDirection<dim>& dq) override = 0;
  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double> dv, parameters::PhysicalGradient<dim>& g) override = 0;

  double value(const ObservedState& state) final {
    double sum = 0;
    for (const double r : residuals(state)) sum += r * r;
    return comm_->sum(sum);
  }
  /// dJ = 2 r' dr.
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) final {
    std::vector<double> y = residuals(state);
    for (double& entry : y) entry *= 2 * factor;
    add_residual_products(state, y, du, dv, g);
  }

private:
  const parallel::Communicator* comm_;
};

} // namespace recoil::objectives
