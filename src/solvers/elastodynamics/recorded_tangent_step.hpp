#pragma once

#include <utility>

#include "recoil/solvers/elastodynamics/sweep_directions.hpp"
#include "recoil/stepping/tangent_step.hpp"
#include "solvers/elastodynamics/linearized_step.hpp"

namespace recoil::solvers {

/// The steps of a recorded elastodynamics run, for the tangent-linear sweep.
template <int dim>
class RecordedTangentStep final : public stepping::TangentStep {
public:
  /// `directions` must outlive it.
  RecordedTangentStep(LinearizedStep<dim> step, SweepDirections<dim>& directions)
      : step_(std::move(step)), directions_(directions) {}

  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous) override {
    step_.linearize(record, now, previous);
  }
  void multiply_mass(const linalg::Vector& x, linalg::Vector& y) override { step_.multiply_mass(x, y); }
  stepping::LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance) override;
  void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) override;
  void multiply_previous(const linalg::Vector& x, linalg::Vector& y) override;

  std::size_t num_directions() const override { return directions_.changes.size(); }
  void parameter_tangent(std::size_t direction, linalg::Vector& y) override;
  void mass_tangent(std::size_t direction, const linalg::Vector& x, linalg::Vector& y) override;
  void prescribed_tangent(std::size_t direction, linalg::Vector& y) override;
  void initial_tangent(std::size_t direction, linalg::Vector& y, linalg::Vector& z) override;

private:
  using Potential = potentials::Potential<dim>;

  LinearizedStep<dim> step_;
  SweepDirections<dim>& directions_;
};

} // namespace recoil::solvers
