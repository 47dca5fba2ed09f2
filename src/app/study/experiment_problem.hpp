#pragma once

#include <memory>

#include "app/study/experiment_model.hpp"
#include "app/study/observation.hpp"
#include "recoil/inverse/forward_problem.hpp"

namespace recoil::app {

/// An experiment at some values of its parameters.
template <int dim>
class ExperimentProblem final : public inverse::ForwardProblem {
public:
  /// `model` must outlive it; `scene` is that of the model, or one that differs in constants. Collective.
  /// @throws InputError on every rank.
  ExperimentProblem(const ExperimentOnMesh<dim>& model, const Scene& scene, const ParameterValues& values);

  stepping::Solver& solver() override { return discrete().solver(); }
  GlobalIndex num_steps() const override { return discrete().scene().time.steps; }
  void observe(const stepping::StepRecord& record, const linalg::Vector& u,
               const linalg::Vector& v) override {
    observation_.see(record, u, v);
  }
  bool is_observed(const stepping::StepRecord& record) const override {
    return observation_.is_wanted(record);
  }
  std::vector<double> terms() const override { return observation_.values(); }
  std::vector<std::string> places_of_terms() const override;
  std::unique_ptr<inverse::AdjointProblem> adjoint(GlobalIndex num_records) override;

  bool is_least_squares() const override { return observation_.is_least_squares(); }
  std::vector<double> residuals() const override { return observation_.residuals; }
  std::unique_ptr<inverse::TangentProblem> tangent(const std::vector<ParameterValues>& directions,
                                                   GlobalIndex num_records) override;
  std::unique_ptr<inverse::AdjointProblem> residual_adjoint(std::span<const double> y,
                                                            GlobalIndex num_records) override;

  /// @throws InputError where a term of the objective has no derivative, after all states have been shown.
  void require_derivatives() const;
  DiscreteScene<dim>& discrete() { return *variant_.discrete; }
  const DiscreteScene<dim>& discrete() const { return *variant_.discrete; }

private:
  const ExperimentOnMesh<dim>& model_;
  Variant<dim> variant_;
  Observation<dim> observation_;
};

} // namespace recoil::app
