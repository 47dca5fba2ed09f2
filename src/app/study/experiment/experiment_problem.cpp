#include "recoil/app/study/experiment/experiment_model.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/study/experiment/parameter_chains.hpp"
#include "recoil/base/crc32.hpp"

namespace recoil::app {

namespace {

objectives::ObservedState observed_state(const adjoint::StateOfRun& at) {
  return {at.now.u.local(), at.now.v.local(),      at.record.time,
          &at.record,       at.previous.u.local(), at.previous.internal};
}

/// The adjoint of the objective of one experiment, or of y' r.
template <int dim>
class ObservedAdjoint final : public inverse::AdjointProblem, adjoint::StateDerivatives {
public:
  /// `problem` must outlive it. `y` in the order of the residuals; none: of the objective.
  ObservedAdjoint(ObservedProblem<dim>& problem, GlobalIndex num_records,
                  std::optional<std::vector<double>> y = {})
      : chain_(problem.gradient_chain()), seen_(problem.observation()), y_(std::move(y)),
        step_(problem.reverse_step(num_records, chain_.products())) {}

  adjoint::StateDerivatives& objective() override { return *this; }
  stepping::DifferentiableStep step() override {
    return std::visit([](const auto& step) { return stepping::DifferentiableStep(step.get()); }, step_);
  }
  ParameterValues gradient() override { return chain_.finish(); }
  std::vector<inverse::GatheredArray> gathered() override { return chain_.gathered(); }

private:
  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t objective, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
    if (!at.record.completes_nominal) return;
    const std::size_t i = at.record.nominal_step;
    auto& products = chain_.products();
    parameters::PhysicalGradient<dim>& g = products.gradients[objective];
    if (y_)
      objectives::add_residual_products<dim>(seen_.objectives, i, observed_state(at), seen_.composition,
                                             seen_.rows_of(i, std::span<const double>(*y_)),
                                             by.u.write_owned(), by.v.write_owned(),
                                             by.previous_u.write_owned(), g);
    else
      objectives::add_derivatives<dim>(seen_.objectives, i, observed_state(at), seen_.composition,
                                       by.u.write_owned(), by.v.write_owned(), by.previous_u.write_owned(),
                                       g);
    // Where obstacles are at nominal times follows from their motion in full. Where they were at the start
    // of the step is computed with the products of the step, and the initial state has none.
    products.take_obstacles(objective, objectives::quantities::obstacle_positions, at.record.time, 1);
    if (products.loads) products.loads(objective, at.record.time);
    if (const std::vector<double>* by_internal = g.find_numbers(stepping::internal_variables)) {
      by.previous_internal = *by_internal;
      g.clear(stepping::internal_variables);
    }
  }

  GradientChain<dim> chain_;
  const Observation<dim>& seen_;
  std::optional<std::vector<double>> y_;
  typename ObservedProblem<dim>::ReverseStep step_;
};

/// Gathers how the residuals of one experiment change along directions.
template <int dim>
class ObservedTangent final : public inverse::TangentProblem, adjoint::StateTangents {
public:
  /// `problem` must outlive it.
  ObservedTangent(ObservedProblem<dim>& problem, const std::vector<ParameterValues>& directions,
                  GlobalIndex num_records)
      : chain_(problem.tangent_chain(directions)), seen_(problem.observation()),
        step_(problem.tangent_step(num_records, chain_.directions())),
        changes_(directions.size(), std::vector<double>(seen_.num_residuals())) {}

  stepping::TangentStep step() override {
    return std::visit([](const auto& step) { return stepping::TangentStep(step.get()); }, step_);
  }
  adjoint::StateTangents& residuals() override { return *this; }
  std::vector<double> change_of_residuals(std::size_t direction) override {
    return std::move(changes_[direction]);
  }

private:
  void see(std::size_t direction, const adjoint::StateOfRun& at,
           const adjoint::StateChange& change) override {
    if (!seen_.is_wanted(at.record)) return;
    const std::size_t i = at.record.nominal_step;
    // Where obstacles were at the start of the step is there already.
    auto& directions = chain_.directions();
    directions.put_obstacles(direction, objectives::quantities::obstacle_positions, at.record.time, 1);
    if (directions.loads) directions.loads(direction, at.record.time);
    if (auto* of_internal = directions.changes[direction].find_numbers(stepping::internal_variables))
      std::ranges::copy(change.previous_internal, of_internal->begin());
    std::ranges::copy(objectives::residual_tangent<dim>(
                          seen_.objectives, i, observed_state(at), seen_.composition, change.u.local(),
                          change.v.local(), change.previous_u.local(), directions.changes[direction]),
                      seen_.rows_of(i, std::span(changes_[direction])).begin());
  }

  TangentChain<dim> chain_;
  const Observation<dim>& seen_;
  typename ObservedProblem<dim>::TangentStep step_;
  std::vector<std::vector<double>> changes_; ///< per direction
};

} // namespace

template <int dim>
GlobalIndex ObservedProblem<dim>::num_steps() const {
  return model_.scene().time.steps;
}

template <int dim>
std::vector<std::string> ObservedProblem<dim>::places_of_terms() const {
  return model_.places_of_objectives();
}

template <int dim>
std::unique_ptr<inverse::AdjointProblem> ObservedProblem<dim>::adjoint(GlobalIndex num_records) {
  return std::make_unique<ObservedAdjoint<dim>>(*this, num_records);
}

template <int dim>
std::unique_ptr<inverse::TangentProblem>
ObservedProblem<dim>::tangent(const std::vector<ParameterValues>& directions, GlobalIndex num_records) {
  return std::make_unique<ObservedTangent<dim>>(*this, directions, num_records);
}

template <int dim>
std::unique_ptr<inverse::AdjointProblem> ObservedProblem<dim>::residual_adjoint(std::span<const double> y,
                                                                                GlobalIndex num_records) {
  return std::make_unique<ObservedAdjoint<dim>>(*this, num_records, std::vector(y.begin(), y.end()));
}

template <int dim>
void ObservedProblem<dim>::require_derivatives() const {
  const objectives::Composition& composition = observation().composition;
  for (std::size_t term = 0; term < composition.num_terms(); ++term)
    for (std::size_t state = 0; state < composition.num_states(); ++state) composition.factor(term, state);
}

template <int dim>
ProblemOnMesh<dim>::ProblemOnMesh(const ExperimentOnMesh<dim>& model, const Scene& scene,
                                  const ParameterValues& values)
    : ObservedProblem<dim>(model), model_(model), variant_(model.variant(scene, values)),
      observation_(model.objectives(), *make_observables(discrete())) {}

template <int dim>
GradientChain<dim> ProblemOnMesh<dim>::gradient_chain() {
  return app::gradient_chain(discrete(), model_.fields(), observation_.objectives);
}

template <int dim>
TangentChain<dim> ProblemOnMesh<dim>::tangent_chain(std::vector<ParameterValues> directions) {
  return app::tangent_chain(discrete(), model_.fields(), std::move(directions));
}

template <int dim>
std::unique_ptr<RunOutput> ProblemOnMesh<dim>::make_output() {
  return std::make_unique<TrajectoryOutput<dim>>(discrete().solver(), discrete().scene().output.fields);
}

template <int dim>
std::int64_t ProblemOnMesh<dim>::fingerprint() const {
  const auto& mesh = discrete().mesh();
  std::uint32_t crc = crc32(std::as_bytes(std::span(mesh.cell_ids)));
  crc = crc32(std::as_bytes(std::span(mesh.vertex_ids)), crc);
  return crc32(std::as_bytes(std::span(discrete().obstacles().vertex_ids)), crc);
}

template <int dim>
std::string ProblemOnMesh<dim>::warning_of_run() {
  const auto rough = discrete().solver().totals().rough_friction;
  if (rough == 0) return {};
  return fmt::format("{} solves ended before friction had converged; the gradient is as exact as they are "
                     "(solver/contact/friction_convergence_tol)",
                     rough);
}

template class ObservedProblem<2>;
template class ObservedProblem<3>;
template class ProblemOnMesh<2>;
template class ProblemOnMesh<3>;

} // namespace recoil::app
