#include "app/study/experiment_problem.hpp"

#include "app/study/gradient_chain.hpp"
#include "recoil/app/simulation/run_state.hpp"

namespace recoil::app {

template <int dim>
inverse::RestartData SolverSteps<dim>::restart_data() const {
  const RunState run{solver_.step(), solver_.history().size(), solver_.ledger(), solver_.totals().contact};
  return {run.usable_states, to_json(run)};
}

template <int dim>
void SolverSteps<dim>::continue_from(const inverse::RestartData& data, std::vector<stepping::State> states) {
  const RunState run = run_state_from_json(data.solver);
  solver_.start(run.step, std::move(states), run.ledger, run.contact);
}

template <int dim>
inverse::StepOutcome SolverSteps<dim>::advance(const OnState& on_state, int sub_steps) {
  const auto see = [&](const solvers::AcceptedState& state) { on_state(state.record, *state.u, *state.v); };
  const solvers::StepReport report = solver_.advance(see, sub_steps);
  return {report.accepted, report.interrupted, report.failure};
}

namespace {

template <int dim>
class ExperimentAdjoint final : public inverse::AdjointProblem {
public:
  ExperimentAdjoint(DiscreteScene<dim>& discrete, const std::vector<ParameterField<dim>>& fields,
                    const Observation<dim>& observation, GlobalIndex num_records)
      : chain_(discrete, fields, 1), derivatives_(observation, chain_.products()),
        step_(discrete.solver().recorded_step(num_records, chain_.products())) {}

  adjoint::StateDerivatives& objective() override { return derivatives_; }
  stepping::DifferentiableStep& step() override { return *step_; }
  ParameterValues gradient() override { return chain_.finish(0); }
  std::vector<double> gathered() override { return chain_.shares(); }
  bool set_gathered(std::span<const double> gathered) override { return chain_.set_shares(gathered); }

private:
  GradientChain<dim> chain_;
  ComposedDerivatives<dim> derivatives_;
  std::unique_ptr<stepping::DifferentiableStep> step_;
};

} // namespace

template <int dim>
ExperimentProblem<dim>::ExperimentProblem(const ExperimentOnMesh<dim>& model, const Scene& scene,
                                          const ParameterValues& values)
    : model_(model), variant_(model.variant(scene, values)), steps_(discrete().solver()),
      observation_(model.objectives(), discrete()) {}

template <int dim>
double ExperimentProblem<dim>::start_time() const {
  const TimeSpec& time = discrete().scene().time;
  return time.kind == TimeKind::statics ? 0 : time.t0;
}

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
void ExperimentProblem<dim>::require_derivatives() const {
  const objectives::Composition& composition = observation_.composition;
  for (std::size_t term = 0; term < composition.num_terms(); ++term)
    for (std::size_t state = 0; state < composition.num_states(); ++state)
      static_cast<void>(composition.factor(term, state));
}

template class SolverSteps<2>;
template class SolverSteps<3>;
template class ExperimentProblem<2>;
template class ExperimentProblem<3>;

} // namespace recoil::app
