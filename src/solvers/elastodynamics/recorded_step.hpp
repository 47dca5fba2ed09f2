#pragma once

#include <memory>

#include "recoil/solvers/elastodynamics/solver.hpp"
#include "recoil/solvers/elastodynamics/sweep_products.hpp"
#include "recoil/stepping/differentiable_step.hpp"
#include "solvers/elastodynamics/incremental_potential.hpp"

namespace recoil::solvers {

/// The steps of a recorded elastodynamics run, for the reverse sweep. The barrier stiffness must be fixed,
/// and friction lagged once per step or until it has converged: a finite number of passes has no derivative.
/// Converged friction makes K nonsymmetric, K = H + L with the Hessian H of friction and L the
/// derivative of its forces by the positions that frames and normal forces are taken at.
template <int dim>
class RecordedStep final : public stepping::DifferentiableStep {
public:
  /// All arguments must outlive it. `num_records`: how many states the run has, the initial one included (the
  /// parts of a static solve share its load).
  RecordedStep(ElastodynamicsProblem<dim>& problem, const ElastodynamicsOptions& options,
               IncrementalPotential<dim>& objective, GlobalIndex num_records, SweepProducts<dim>& products);

  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous) override;
  void multiply_mass(const linalg::Vector& x, linalg::Vector& y) override;
  stepping::LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance) override;
  double gradient_product(const linalg::Vector& p) override;
  void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) override;
  void multiply_previous(const linalg::Vector& x, linalg::Vector& y) override;

  bool wants_prescribed_products() const override { return static_cast<bool>(products_.prescribed); }
  void add_parameter_products(std::size_t objective, const linalg::Vector& p, double factor) override;
  void add_mass_products(std::size_t objective, const linalg::Vector& p, const linalg::Vector& x) override;
  void add_prescribed_products(std::size_t objective, const linalg::Vector& y) override;
  void add_initial_products(std::size_t objective, const linalg::Vector& y, const linalg::Vector& z) override;

private:
  struct Moment {
    double time, load_factor;
  };
  Moment moment_of(GlobalIndex id, double time) const;
  void linearize_contact(double dt);
  double factor_of(const potentials::Potential<dim>& potential) const;
  linalg::LinearResult solve_nonsymmetric(const linalg::Vector& b, linalg::Vector& x,
                                          double relative_tolerance);

  ElastodynamicsProblem<dim>& problem_;
  const ElastodynamicsOptions& options_;
  IncrementalPotential<dim>& objective_;
  GlobalIndex num_records_;
  SweepProducts<dim>& products_;
  const stepping::StepRecord* record_ = nullptr;
  const stepping::State *now_ = nullptr, *previous_ = nullptr;
  double stiffness_ = 0;    ///< of the barrier, physical
  linalg::Vector gradient_; ///< G times the scale of the step, on free entries
};

} // namespace recoil::solvers
