#pragma once

#include <utility>

#include "recoil/solvers/elastodynamics/sweep_products.hpp"
#include "recoil/stepping/differentiable_step.hpp"
#include "solvers/elastodynamics/linearized_step.hpp"

namespace recoil::solvers {

/// The steps of a recorded elastodynamics run, for the reverse sweep.
template <int dim>
class RecordedStep final : public stepping::DifferentiableStep {
public:
  /// `products` must outlive it.
  RecordedStep(LinearizedStep<dim> step, SweepProducts<dim>& products)
      : step_(std::move(step)), products_(products) {}

  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous) override;
  void multiply_mass(const linalg::Vector& x, linalg::Vector& y) override { step_.multiply_mass(x, y); }
  stepping::LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance) override;
  double gradient_product(const linalg::Vector& p) override { return p.dot(gradient_); }
  void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) override;
  void multiply_previous(const linalg::Vector& x, linalg::Vector& y) override;

  bool wants_prescribed_products() const override { return static_cast<bool>(products_.prescribed); }
  void add_parameter_products(std::size_t objective, const linalg::Vector& p, double factor) override;
  void add_mass_products(std::size_t objective, const linalg::Vector& p, const linalg::Vector& x) override;
  void add_prescribed_products(std::size_t objective, const linalg::Vector& y) override;
  void add_initial_products(std::size_t objective, const linalg::Vector& y, const linalg::Vector& z) override;

private:
  using Potential = potentials::Potential<dim>;

  LinearizedStep<dim> step_;
  SweepProducts<dim>& products_;
  linalg::Vector gradient_; ///< on free entries
};

} // namespace recoil::solvers
