#include "app/study/fit/fit_descent.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/inverse/residual_factor.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::app {

namespace {

/// Steps below this share of the standard deviations change nothing that the data could tell.
constexpr double negligible_step = 1e-2;

/// Limits beyond which the derivatives still promise something where no further step could be taken: a step
/// of Gauss-Newton in standard deviations or, relative to |r|, without them; the gradient over that at the
/// start.
constexpr double stalled_step = 0.1, stalled_share = 1e-3, stalled_gradient = 1e-3;

/// The decrease of a chi^2 by an iteration of Gauss-Newton whose step was a tenth of a standard deviation;
/// the next one is shorter by far.
constexpr double negligible_decrease = 1e-2;

/// The least distance from a bound, as a share of the interval: on the bound itself some scales have no
/// variable.
constexpr double least_margin = 1e-3;

/// The logarithms of observed over simulated peaks, by experiment.
std::vector<std::vector<double>> logarithms(const Study& study, const std::vector<ExperimentPeaks>& peaks,
                                            Json& report) {
  std::vector<std::vector<double>> result(peaks.size());
  std::vector<std::size_t> next(peaks.size(), 0);
  for (const auto& spec : study.objectives) {
    const std::size_t e = spec->experiment, term = next[e]++;
    if (term >= peaks[e].terms.size() || spec->type->name != std::string("reaction_force")) continue;
    const ForcePeaks& peak = peaks[e].terms[term];
    if (!(peak.observed > 0 && peak.simulated > 0))
      throw InputError(
          study.optimizer.where_match_peaks,
          fmt::format("the largest force of '{}' is {:g} N observed and {:g} N simulated, whose ratio "
                      "says nothing of strengths; look at more states, or leave this out",
                      spec->name, peak.observed, peak.simulated));
    log_info(fmt::format("the largest force of '{}' is {:g} N, {:g} N were observed", spec->name,
                         peak.simulated, peak.observed));
    report["peaks"][spec->name] = Json(nlohmann::json(peak));
    result[e].push_back(std::log(peak.observed / peak.simulated));
  }
  return result;
}

/// The variables where strengths of bonds are those at x times observed over simulated peaks of the reaction
/// forces there: of each strength the geometric mean over the forces of the experiments that it acts in, cut
/// to its bounds. All forces are in proportion to strengths until bonds soften, if displacements are. Adds
/// peaks and factors to `report`. Collective. @throws InputError where nothing was observed or simulated,
/// Error where an experiment fails.
std::vector<double> match_peaks(const Study& study, StudyObjective& objective, std::span<const double> x,
                                Json& report) {
  const auto ratios = logarithms(study, objective.peaks(x), report);
  const DesignSpace& space = objective.space();
  std::vector<double> values = space.values(x);
  for (const DesignSpace::Block& block : space.blocks()) {
    if (!study.parameters[block.parameter].kind->is_strength) continue;
    double sum = 0, count = 0;
    for (std::size_t e = 0; e < ratios.size(); ++e)
      for (std::size_t p = 0; p < study.parameters.size(); ++p)
        if (&space.block_of(int(p)) == &block && study.parameters[p].acts_in(int(e)))
          for (const double ratio : ratios[e]) {
            sum += ratio;
            ++count;
          }
    if (count == 0) continue; // no force is compared where this strength acts
    const double factor = std::exp(sum / count);
    log_info(fmt::format("'{}' starts from {:.4g} times its value", study.parameters[block.parameter].name,
                         factor));
    report["factors"][study.parameters[block.parameter].name] = factor;
    for (std::size_t i = block.first; i < block.first + block.size(); ++i) values[i] *= factor;
    if (const auto& bounds = study.parameters[block.parameter].bounds) {
      const auto [low, high] = *bounds;
      const double margin = least_margin * (high - low);
      for (std::size_t i = block.first; i < block.first + block.size(); ++i)
        values[i] = std::clamp(values[i], low + margin, high - margin);
    }
  }
  return space.variables_of(values);
}

} // namespace

void share_descent(const parallel::Communicator& world, Descent& descent, int root) {
  world.broadcast(descent.x, root);
  world.broadcast(descent.reason, root);
  std::vector<double> numbers{descent.has_begun ? 1.0 : 0.0,
                              descent.initial_objective,
                              descent.objective,
                              static_cast<double>(descent.iterations),
                              static_cast<double>(descent.ending),
                              descent.first_gradient,
                              descent.last_gradient};
  world.broadcast(numbers, root);
  descent.has_begun = numbers[0] != 0;
  descent.initial_objective = numbers[1];
  descent.objective = numbers[2];
  descent.iterations = static_cast<int>(numbers[3]);
  descent.ending = static_cast<Ending>(static_cast<int>(numbers[4]));
  descent.first_gradient = numbers[5];
  descent.last_gradient = numbers[6];
  std::string peaks = descent.matched_peaks.dump();
  world.broadcast(peaks, root);
  descent.matched_peaks = Json::parse(peaks);
}

void Descender::descend(std::size_t k, std::size_t starts, FitHistory& history, Descent& descent) {
  const OptimizerSpec& spec = study_.optimizer;
  descent_ = &descent;
  history_ = &history;
  number_ = static_cast<std::int64_t>(k) + 1;
  if (k > 0 && spec.time_budget && objective_.wall_seconds() > *spec.time_budget) {
    descent.reason = "the time budget was used up before";
    return;
  }
  descent.has_begun = true;
  const FirstPart first = first_part_.value_or(FirstPart());
  if (spec.match_peaks && !first_part_)
    descent.x = match_peaks(study_, objective_, descent.x, descent.matched_peaks);
  descent.first_gradient = first.first_gradient;
  if (starts > 1) log_info(fmt::format("start {} of {}", k + 1, starts));
  double at_start = objective_.value(descent.x);
  if (std::isinf(at_start) && spec.on_failure == FailedRun::drop && k == 0) {
    log_warning("left out: " + objective_.failure());
    objective_.drop_failed();
    at_start = objective_.value(descent.x);
  }
  if (std::isinf(at_start)) {
    descent.reason = "no objective at the start: " + objective_.failure();
    if (starts > 1) log_warning(descent.reason);
    return;
  }
  descent.initial_objective = first_part_ ? first.initial_objective : at_start;
  descent.iterations = first_iteration_ = first.iterations;
  if (first_part_) log_info(fmt::format("on the new meshes: objective {:.9g}", at_start));
  try {
    minimize_from(descent.x);
  } catch (const Error& error) {
    if (starts == 1 || error.code() != ExitCode::no_solution) throw;
    objective_.follow_paths(false);
    descent.reason = name_options(error.what());
    descent.ending = Ending::stalled;
    log_warning(descent.reason);
  }
  first_iteration_ = 0;
}

void Descender::minimize_from(const std::vector<double>& x) {
  const OptimizerSpec& spec = study_.optimizer;
  Descent& descent = *descent_;
  inverse::DesignVariables variables = objective_.space().variables();
  variables.start = x;
  inverse::StopRules rules{spec.max_iterations - first_iteration_, spec.gradient_tolerance,
                           spec.step_tolerance, spec.objective_tolerance};
  rules.ends_at_noise = is_judged_by_noise();
  // With a prior of fields part of the noise is fitted at the minimum: num_data() is no level to stop at.
  if (spec.stop_at_noise && objective_.is_chi_squared() && !objective_.prior().has_fields() &&
      objective_.hessian_form() != inverse::HessianForm::matrix)
    rules.data_count = objective_.num_data();
  linalg::BoundedMinimum found = minimize(variables, method_, rules);
  if (!found.is_asked && method_ == linalg::DescentMethod::gauss_newton &&
      spec.method == OptimizationMethod::automatic) {
    log_info("Gauss-Newton ends: " + found.reason + "; quasi-Newton continues");
    rules.max_iterations -= descent.iterations - first_iteration_;
    first_iteration_ = descent.iterations;
    variables.start = found.x;
    found = minimize(variables, linalg::DescentMethod::quasi_newton, rules);
  }
  descent.reason =
      found.is_at_limit ? fmt::format("{} iterations are done", descent.iterations) : found.reason;
  if (found.is_at_limit) descent.ending = Ending::iteration_limit;
  if (!found.is_asked && !is_stationary()) descent.ending = Ending::stalled;
}

/// Whether the derivatives at the end of a descent, too, say that nothing is left to be gained.
bool Descender::is_stationary() {
  if (objective_.hessian_form() != inverse::HessianForm::matrix)
    return descent_->last_gradient <= stalled_gradient * descent_->first_gradient;
  const double step = free_step(descent_->x);
  if (objective_.is_chi_squared() && step <= stalled_step) return true;
  return step * step <= stalled_share * stalled_share * descent_->objective;
}

/// The part of the residuals that a Gauss-Newton step would remove, of the variables that are not at a bound
/// which the gradient points out of.
double Descender::free_step(const std::vector<double>& x) {
  const inverse::DesignVariables variables = objective_.space().variables();
  const Eigen::MatrixXd& R = objective_.factor(x);
  const Eigen::VectorXd gradient = inverse::least_squares_gradient(R);
  std::vector<Eigen::Index> free;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] <= variables.lower[i] && gradient[i] >= 0) &&
        !(x[i] >= variables.upper[i] && gradient[i] <= 0))
      free.push_back(static_cast<Eigen::Index>(i));
  if (free.empty()) return 0;
  const Eigen::MatrixXd J = R(Eigen::all, free);
  return linalg::norm_in_range(J, R.col(R.cols() - 1));
}

linalg::BoundedMinimum Descender::minimize(const inverse::DesignVariables& variables,
                                           linalg::DescentMethod method, const inverse::StopRules& rules) {
  running_ = method;
  objective_.follow_paths(true);
  linalg::BoundedMinimum found = inverse::optimize(comm_, objective_, variables, method, rules,
                                                   [this](const linalg::Iterate& at) { return show(at); });
  objective_.follow_paths(false);
  return found;
}

/// Shows an iterate, and says why to end there, if so.
std::string Descender::show(linalg::Iterate at) {
  Descent& descent = *descent_;
  if (descent.first_gradient == 0) descent.first_gradient = at.gradient_norm;
  descent.last_gradient = at.gradient_norm;
  if (first_iteration_ > 0 && at.iteration == 0) { // where the method or the stage before has ended
    descent.objective = at.value;
    descent.values = objective_.values();
    return "";
  }
  at.iteration += first_iteration_;
  descent.x.assign(at.x.begin(), at.x.end());
  const double decrease = descent.objective - at.value;
  descent.objective = at.value;
  descent.values = objective_.values();
  descent.iterations = at.iteration;
  const std::optional<double> budget = study_.optimizer.time_budget;
  const double left = budget.value_or(0) - objective_.wall_seconds();
  log_info(fmt::format("iteration {}: objective {:.9g}, gradient {:.3e}, step {:.3e}{}", at.iteration,
                       at.value, at.gradient_norm, at.step,
                       budget ? fmt::format(", {} left", format_duration(std::max(left, 0.0))) : ""));
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) history_->add(number_, at, objective_);
  });
  interrupts_.stop_if_pending();
  if (budget && left < 0) {
    descent.ending = Ending::time_limit;
    return fmt::format("the time budget of {:g} s is used up", *budget);
  }
  if (is_chi_squared_of_fields() && at.iteration > 0 && decrease <= negligible_decrease)
    return fmt::format("the last step has made chi^2 smaller by no more than {:g}", negligible_decrease);
  if (renew_ && at.iteration < study_.optimizer.max_iterations && renew_(at)) {
    needs_meshes_ = true;
    return "bodies need new interiors";
  }
  return is_judged_by_noise() && free_step(descent.x) <= negligible_step
             ? fmt::format("the next step is less than {:g} standard deviations of the parameters",
                           negligible_step)
             : "";
}

bool Descender::is_chi_squared_of_fields() const {
  return running_ == linalg::DescentMethod::gauss_newton && study_.optimizer.stop_at_noise &&
         objective_.is_chi_squared() && objective_.prior().has_fields() &&
         objective_.hessian_form() == inverse::HessianForm::products;
}

/// The component of the residuals that a Gauss-Newton step removes is that step in deviations.
bool Descender::is_judged_by_noise() const {
  return study_.optimizer.stop_at_noise && objective_.is_chi_squared() &&
         objective_.hessian_form() == inverse::HessianForm::matrix;
}

} // namespace recoil::app
