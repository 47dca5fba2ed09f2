#pragma once

#include "recoil/solvers/elastodynamics/solver.hpp"
#include "solvers/elastodynamics/incremental_potential.hpp"

namespace recoil::solvers {

/// A recorded step of an elastodynamics run, linearised at its states: what the sweeps in both directions
/// share. The barrier stiffness must be fixed, and friction lagged once per step or until it has converged: a
/// finite number of passes has no derivative. Converged friction makes K nonsymmetric, K = H + L with the
/// Hessian H of friction and L the derivative of its forces by the positions that frames and normal forces
/// are taken at.
template <int dim>
class LinearizedStep {
public:
  using Potential = potentials::Potential<dim>;
  /// Of L or of L': Potential::add_unsymmetric_tangent or Potential::add_unsymmetric_product.
  using UnsymmetricProduct = void (Potential::*)(std::span<const double> x, double factor,
                                                 std::span<double> y) const;
  struct Moment {
    double time, load_factor;
  };

  /// All arguments must outlive it. `num_records`: how many states the run has, the initial one included (the
  /// parts of a static solve share its load).
  LinearizedStep(ElastodynamicsProblem<dim>& problem, const ElastodynamicsOptions& options,
                 IncrementalPotential<dim>& objective, GlobalIndex num_records);

  /// As DifferentiableStep::linearize().
  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous);
  const stepping::StepRecord& record() const { return *record_; }
  std::span<const double> u() const { return now_->u.local(); }
  /// Of the start and the end of the step.
  Moment start() const;
  Moment end() const { return moment_of(record_->id, record_->time); }

  /// Null without inertia; not of a step.
  const potentials::MassMatrix<dim>* mass() const;
  void multiply_mass(const linalg::Vector& x, linalg::Vector& y) const;
  /// Solves [M + B^2 (H + L)] x = b, or with L' where `product` is of it, on the free entries.
  stepping::LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance,
                              UnsymmetricProduct product);
  /// G on the free entries, zero on prescribed ones.
  linalg::Vector gradient();
  /// act(potential, factor) for each term of the physical energy.
  template <class Act>
  void for_each_term(Act act) const {
    for (const Term<dim>& term : problem_.terms) act(*term.potential, factor_of(*term.potential));
  }
  /// y = the sum of what add(potential, factor, y) adds on owned entries for each term.
  template <class Add>
  void sum_terms(linalg::Vector& y, Add add) const {
    y.fill(0);
    for_each_term(
        [&](const Potential& potential, double factor) { add(potential, factor, y.write_owned()); });
    y.update_ghosts();
  }

private:
  Moment moment_of(GlobalIndex id, double time) const;
  void linearize_contact();
  double factor_of(const Potential& potential) const;
  linalg::LinearResult solve_nonsymmetric(const linalg::Vector& b, linalg::Vector& x,
                                          double relative_tolerance, UnsymmetricProduct product);

  ElastodynamicsProblem<dim>& problem_;
  const ElastodynamicsOptions& options_;
  IncrementalPotential<dim>& objective_;
  GlobalIndex num_records_;
  const stepping::StepRecord* record_ = nullptr;
  const stepping::State *now_ = nullptr, *previous_ = nullptr;
  double stiffness_ = 0; ///< of the barrier, physical
};

} // namespace recoil::solvers
