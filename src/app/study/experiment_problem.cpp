#include "app/study/experiment_problem.hpp"

#include "app/study/gradient_chain.hpp"
#include "app/study/tangent_chain.hpp"

namespace recoil::app {

namespace {

template <int dim>
class ExperimentAdjoint final : public inverse::AdjointProblem {
public:
  /// Of the objective, or of y' r.
  ExperimentAdjoint(DiscreteScene<dim>& discrete, const std::vector<ParameterField<dim>>& fields,
                    const Observation<dim>& observation, GlobalIndex num_records,
                    std::optional<std::vector<double>> y = {})
      : chain_(discrete, fields, observation.terms.objectives),
        derivatives_(observation, std::move(y), chain_.products()),
        step_(discrete.solver().recorded_step(num_records, chain_.products())) {}

  adjoint::StateDerivatives& objective() override { return derivatives_; }
  stepping::DifferentiableStep& step() override { return *step_; }
  ParameterValues gradient() override { return chain_.finish(); }
  std::vector<inverse::GatheredArray> gathered() override { return chain_.gathered(); }

private:
  GradientChain<dim> chain_;
  ObservedDerivatives<dim> derivatives_;
  std::unique_ptr<stepping::DifferentiableStep> step_;
};

template <int dim>
class ExperimentTangent final : public inverse::TangentProblem {
public:
  ExperimentTangent(DiscreteScene<dim>& discrete, const std::vector<ParameterField<dim>>& fields,
                    const Observation<dim>& observation, const std::vector<ParameterValues>& directions,
                    GlobalIndex num_records)
      : chain_(discrete, fields, directions), residuals_(observation, chain_.directions()),
        step_(discrete.solver().tangent_step(num_records, chain_.directions())) {}

  stepping::TangentStep& step() override { return *step_; }
  adjoint::StateTangents& residuals() override { return residuals_; }
  std::vector<double> change_of_residuals(std::size_t direction) override {
    return residuals_.take(direction);
  }

private:
  TangentChain<dim> chain_;
  ResidualTangents<dim> residuals_;
  std::unique_ptr<stepping::TangentStep> step_;
};

} // namespace

template <int dim>
ExperimentProblem<dim>::ExperimentProblem(const ExperimentOnMesh<dim>& model, const Scene& scene,
                                          const ParameterValues& values)
    : model_(model), variant_(model.variant(scene, values)), observation_(model.objectives(), discrete()) {}

template <int dim>
std::vector<std::string> ExperimentProblem<dim>::places_of_terms() const {
  std::vector<std::string> places;
  for (const auto& objective : model_.objectives()) places.push_back(objective.spec->where.entry);
  return places;
}

template <int dim>
std::unique_ptr<inverse::AdjointProblem> ExperimentProblem<dim>::adjoint(GlobalIndex num_records) {
  return std::make_unique<ExperimentAdjoint<dim>>(discrete(), model_.fields(), observation_, num_records);
}

template <int dim>
std::unique_ptr<inverse::TangentProblem>
ExperimentProblem<dim>::tangent(const std::vector<ParameterValues>& directions, GlobalIndex num_records) {
  return std::make_unique<ExperimentTangent<dim>>(discrete(), model_.fields(), observation_, directions,
                                                  num_records);
}

template <int dim>
std::unique_ptr<inverse::AdjointProblem> ExperimentProblem<dim>::residual_adjoint(std::span<const double> y,
                                                                                  GlobalIndex num_records) {
  return std::make_unique<ExperimentAdjoint<dim>>(discrete(), model_.fields(), observation_, num_records,
                                                  std::vector(y.begin(), y.end()));
}

template <int dim>
void ExperimentProblem<dim>::require_derivatives() const {
  const objectives::Composition& composition = observation_.composition;
  for (std::size_t term = 0; term < composition.num_terms(); ++term)
    for (std::size_t state = 0; state < composition.num_states(); ++state) composition.factor(term, state);
}

template class ExperimentProblem<2>;
template class ExperimentProblem<3>;

} // namespace recoil::app
