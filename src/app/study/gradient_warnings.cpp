#include "app/study/gradient_warnings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace recoil::app {

namespace {

/// Relative error of a derivative that is worth a warning.
constexpr double noticeable = 1e-3;
/// Below this share of all derivatives the estimate is of other bodies or of rounding rather than of one of
/// them.
constexpr double negligible = 1e-7;

/// Empty if the steps of an experiment are solved well enough. The error of the objective changes with the
/// parameters as much as it has of its own size, so that over the derivative by relative changes it is about
/// the relative error of that.
std::string warn_of_loose_steps(const Study& study, const GradientStages& stages, std::size_t e) {
  const SweepResult& sweep = stages.sweeps[e];
  const double error = std::abs(sweep.objective_correction);
  const std::vector<int> parameters = stages.experiments[e]->model().parameters();
  std::string names;
  double worst = 0, all = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const double sensitivity = stages.experiments[e]->model().sensitivity(sweep.values, k);
    all = std::hypot(all, sensitivity);
    if (!(error > noticeable * sensitivity)) continue;
    names += (names.empty() ? "'" : ", '") + study.parameters[parameters[k]].name + "'";
    worst = std::max(worst, error / sensitivity);
  }
  if (names.empty() || error <= negligible * all) return "";
  return fmt::format(
      "{}: the gradient is that of loosely solved steps: to solve them exactly would change the "
      "objective by {:.1e}, and derivatives (by {}) by up to about {:.1g} of their size; tighten "
      "solver/nonlinear/grad_norm_tol and rel_grad_norm_tol",
      study.experiments[e].name, sweep.objective_correction, names, worst);
}

} // namespace

std::vector<std::string> gradient_warnings(const Study& study, const GradientStages& stages,
                                           const nlohmann::ordered_json& frozen) {
  std::vector<std::string> warnings;
  for (const auto& [name, stiffness] : frozen.items())
    warnings.push_back(fmt::format("{}: the gradient is that of the frozen barrier stiffness {:g}; where it "
                                   "adapts to the parameters, runs have "
                                   "another one, and differences of them another value (8 % were seen). Give "
                                   "solver/contact/barrier_stiffness in the scene to run with the same",
                                   name, stiffness.get<double>()));
  for (std::size_t e = 0; e < stages.experiments.size(); ++e)
    if (std::string warning = warn_of_loose_steps(study, stages, e); !warning.empty())
      warnings.push_back(std::move(warning));
  return warnings;
}

} // namespace recoil::app
