#include "app/study/taylor_check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/log.hpp"

namespace recoil::app {

namespace {

/// The sum of the objectives of all experiments.
inverse::LineSample sample(const GradientJobs& experiments, const Direction& direction, double factor) {
  inverse::LineSample sum;
  for (const auto& experiment : experiments) {
    const inverse::ObjectiveValue result =
        experiment->objective_like_run().value(experiment->model().values_along(direction, factor));
    if (!result.failure.empty()) sum.problem = result.failure;
    if (!result.same_steps) sum.problem = "a run with changed parameters took other (sub-)steps";
    sum.value += result.objective;
  }
  return sum;
}

/// The verdict in words.
std::string describe(const inverse::DirectionCheck& check) {
  const double known = check.uncertainties.empty() ? 0 : *std::ranges::min_element(check.uncertainties);
  switch (check.judgement) {
  case inverse::Judgement::agrees:
    if (check.is_lost) return "agrees (all changes of the objective are lost in rounding)";
    return std::isnan(check.slope) ? "agrees (the remainder is lost in rounding)" : "agrees";
  case inverse::Judgement::noisy:
    return fmt::format(
        "noise: runs repeat the objective to {:.1e}, and so the differences are known to {:.1e} only: "
        "tighten solver/nonlinear/grad_norm_tol and rel_grad_norm_tol, or take larger steps",
        check.errors.noise, known);
  case inverse::Judgement::unconverged:
    return fmt::format(
        "not converged: the differences are known to {:.1e} only: take smaller steps, unless the "
        "objective has a kink here",
        known);
  case inverse::Judgement::unsolved:
    return fmt::format(
        "loosely solved: off by {:.1e}, and exact solves of the steps would change the objective by "
        "{:.1e}: tighten solver/nonlinear/grad_norm_tol and rel_grad_norm_tol",
        check.relative_error, check.errors.unsolved);
  case inverse::Judgement::wrong:
    return fmt::format("wrong derivative: off by {:.1e}, where the differences are known to {:.1e}",
                       check.relative_error, known);
  case inverse::Judgement::not_comparable:
    break;
  }
  return "not comparable: " + check.problem;
}

} // namespace

std::vector<GradientCheck> check_gradient(const Study& study, const GradientJobs& experiments,
                                          const std::vector<ForwardResult>& forward,
                                          const std::vector<SweepResult>& sweeps) {
  std::vector<std::pair<std::string, Direction>> directions;
  for (int i = 1; i <= study.check.directions; ++i)
    directions.emplace_back(fmt::format("random {}", i), Direction{i, -1});
  if (study.parameters.size() > 1)
    for (std::size_t k = 0; k < study.parameters.size(); ++k)
      if (!study.parameters[k].tie)
        directions.emplace_back(study.parameters[k].name,
                                Direction{study.check.directions + 1 + int(k), int(k)});
  double at_start = 0, unsolved = 0;
  for (const ForwardResult& result : forward) at_start += result.objective;
  for (const SweepResult& sweep : sweeps) unsolved += std::abs(sweep.objective_correction);

  std::vector<GradientCheck> checks;
  for (const auto& [name, direction] : directions) {
    double derivative = 0;
    for (std::size_t e = 0; e < experiments.size(); ++e)
      derivative += experiments[e]->model().derivative(sweeps[e].values, direction);
    const auto objective = [&](double factor) { return sample(experiments, direction, factor); };
    GradientCheck& check = checks.emplace_back(GradientCheck{
        inverse::check_along(name, derivative, at_start, unsolved, objective, study.check.steps), ""});
    check.verdict = describe(check);
    const std::string line = fmt::format(
        "check {}: derivative {:.9e}, differences {:.9e}, relative error {:.1e}, slope {:.3f}: {}",
        check.name, check.derivative, check.difference, check.relative_error, check.slope, check.verdict);
    check.judgement == inverse::Judgement::agrees ? log_info(line) : log_warning(line);
  }
  return checks;
}

} // namespace recoil::app
