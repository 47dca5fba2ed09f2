#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include <Eigen/QR>
#include <fmt/format.h>

#include "app/study/field_posterior.hpp"
#include "app/study/fit_report.hpp"
#include "app/study/fit_stage.hpp"
#include "app/study/fit_verdict.hpp"
#include "app/study/match_peaks.hpp"
#include "app/study/profile_report.hpp"
#include "app/study/work_on_study.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/base/version.hpp"
#include "recoil/inverse/sobol.hpp"

namespace recoil::app {

namespace {

const StudyCommand optimize_command{
    "optimize",
    "fit.json",
    {"fit.h5", "history.csv", "evaluations", "stages", "scenes", "posterior.h5", "posterior-*.xdmf"}};

/// Gauss-Newton where the objective is a sum of squares of few variables, or has a prior of fields and no
/// bounds. @throws InputError.
linalg::DescentMethod choose_method(const OptimizerSpec& spec, const StudyObjective& objective) {
  using enum OptimizationMethod;
  const std::string& why_not = objective.why_not_least_squares();
  const bool has_cheap_model =
      objective.space().num_variables() <= StudyObjective::most_factored || objective.has_preconditioner();
  if (spec.method == gauss_newton && !why_not.empty())
    throw InputError(spec.where_method, "gauss_newton needs a sum of squares: " + why_not +
                                            "; take \"quasi_newton\" or \"auto\"");
  if (spec.method == gauss_newton || (spec.method == automatic && why_not.empty() && has_cheap_model))
    return linalg::DescentMethod::gauss_newton;
  return spec.method == conjugate_gradients ? linalg::DescentMethod::conjugate_gradients
                                            : linalg::DescentMethod::quasi_newton;
}

/// @throws InputError where the fit of a study is none that profiles can be found of.
void require_profiles(const UncertaintySpec& spec, const StudyObjective& objective) {
  if (spec.profile.empty()) return;
  if (const std::string& why_not = objective.why_not_least_squares(); !why_not.empty())
    throw InputError(spec.where_profile, "a profile needs a sum of squares: " + why_not + "; leave it out");
  if (objective.space().num_variables() > StudyObjective::most_factored)
    throw InputError(spec.where_profile,
                     fmt::format("a profile fits all other values again, by a method for at most {} in all; "
                                 "the study has {}. Leave it out, or fit fewer values",
                                 StudyObjective::most_factored, objective.space().num_variables()));
}

const char* name_of(linalg::DescentMethod method) {
  if (method == linalg::DescentMethod::gauss_newton) return "gauss_newton";
  return method == linalg::DescentMethod::quasi_newton ? "quasi_newton" : "conjugate_gradients";
}

/// The start of the study, then Sobol points between the bounds.
std::vector<std::vector<double>> start_points(const Study& study, const DesignSpace& space) {
  std::vector<std::vector<double>> points{space.variables().start};
  const int more = study.optimizer.starts - 1;
  if (more > 0)
    for (const std::vector<double>& shares :
         inverse::sobol_points(more, space.num_variables(), study.optimizer.seed))
      points.push_back(space.between_bounds(shares));
  return points;
}

int num_groups(const parallel::Communicator& comm, const Study& study) {
  const int most = std::min<int>(comm.size(), std::ssize(study.experiments));
  return std::min(study.optimizer.groups.value_or(most), most);
}

/// New interiors are worth a new start of the optimiser where their smallest scaled Jacobian is so many times
/// that before.
constexpr double least_gain = 1.2;

/// What a fit has been through on earlier meshes.
struct EarlierStages {
  int count = 0, iterations = 0;
  double initial_objective = 0, first_gradient = 0, wall_seconds = 0;
  StudyObjective::Totals totals;
  std::string history;         ///< rows of history.csv
  Json initial_values;         ///< of parameters, by name, where fit.json has them
  Json meshes = Json::array(); ///< how they were made
};

/// One descent of a fit.
struct Descent {
  std::vector<double> x;
  double initial_objective = 0, objective = std::numeric_limits<double>::infinity();
  std::vector<ExperimentValue> values; ///< at x
  int iterations = 0;
  std::string reason; ///< of the end
  Ending ending = Ending::converged;
  double first_gradient = 0, last_gradient = 0; ///< norms, as the optimiser sees them
};

/// Steps below this share of the standard deviations change nothing that the data could tell.
constexpr double negligible_step = 1e-2;

/// Where no further step could be taken the derivatives still promise something beyond these: a step of
/// Gauss-Newton in standard deviations or, relative to |r|, without them; the gradient over that at the
/// start.
constexpr double stalled_step = 0.1, stalled_share = 1e-3, stalled_gradient = 1e-3;

/// Where an iteration of Gauss-Newton takes less from a chi^2, its step was a tenth of a standard deviation
/// and the next one is shorter by far.
constexpr double negligible_decrease = 1e-2;

/// The optimisation of a study, or a stage of it, from its folder to its result.
class Fit {
public:
  /// @param folder of the study or stage; @param result the folder that takes the results; @param earlier is
  /// brought up to date where new meshes are needed.
  Fit(const parallel::Communicator& comm, const Study& study, const StudyFolder& folder,
      const StudyFolder& result, const Interrupts& interrupts, EarlierStages& earlier)
      : comm_(comm), study_(study), folder_(folder), result_(result), interrupts_(interrupts),
        earlier_(earlier), groups_(comm, num_groups(comm, study)), objective_(study, folder, groups_),
        method_(choose_method(study.optimizer, objective_)), starts_(start_points(study, objective_.space())),
        history_(study, objective_.space(), result.root() / "history.csv", earlier.history) {
    require_profiles(study.uncertainty, objective_);
    require_squares_of_peaks();
    objective_.count_from(earlier.totals, earlier.wall_seconds);
    watch_quality();
    if (method_ == linalg::DescentMethod::gauss_newton) objective_.use_residuals();
    log_info(fmt::format("{} values of {} parameters, {} experiments in {} groups of ranks, {}",
                         objective_.space().num_values(), study.parameters.size(), study.experiments.size(),
                         groups_.count(), name_of(method_)));
  }

  /// Nothing where the fit goes on in next_stage().
  std::optional<ExitCode> run() {
    objective_.freeze_stiffness();
    for (const auto& [name, stiffness] : objective_.frozen())
      log_info(
          fmt::format("{}: barrier stiffness frozen at {:g}, the largest of a pilot run", name, stiffness));
    objective_.keep_in(folder_.root() / "evaluations");
    try {
      for (std::size_t start = 0; start < starts_.size(); ++start) descend(start);
      if (needs_meshes_) return {};
      const Descent& best = this->best();
      if (std::isinf(best.objective)) return fail(best.reason);
      log_info("the optimisation ends: " + best.reason);
      write_result("done", best.reason);
      objective_.remove_known_runs();
      return exit_code();
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) write_result("interrupted", error.what());
      if (error.code() == ExitCode::no_solution) return fail(error.what());
      throw;
    }
  }

  /// Where the next stage is.
  std::filesystem::path next_stage() const {
    return std::filesystem::absolute(result_.root() / "stages" / std::to_string(earlier_.count + 1));
  }
  /// Counts this stage before the next one.
  void hand_over() {
    const Descent& last = best();
    Json made;
    parallel::collectively(comm_, [&] { made = Json::parse(read_file(meshes_file(next_stage()))); });
    log_info(
        fmt::format("iteration {}: bodies are {}, the smallest scaled Jacobian is {:.3g} in place of {:.3g}",
                    last.iterations, made.at("how").get<std::string>(), made.at("quality").get<double>(),
                    made.at("quality_before").get<double>()));
    earlier_.meshes.push_back(made);
    if (earlier_.count++ == 0) {
      earlier_.initial_objective = last.initial_objective;
      const Json parameters = describe_fitted_parameters(study_, objective_.space(), last.x);
      for (const auto& [name, entry] : parameters.items())
        if (entry.contains("initial")) earlier_.initial_values[name] = entry["initial"];
    }
    earlier_.first_gradient = last.first_gradient;
    earlier_.iterations = last.iterations;
    earlier_.totals = objective_.totals();
    earlier_.wall_seconds = objective_.wall_seconds();
    objective_.remove_known_runs();
  }

private:
  static std::filesystem::path meshes_file(const std::filesystem::path& folder) {
    return folder / "meshes.json";
  }

  /// @throws InputError where peaks cannot be told from residuals.
  void require_squares_of_peaks() const {
    if (const std::string& why_not = objective_.why_not_least_squares();
        study_.optimizer.match_peaks && !why_not.empty())
      throw InputError(study_.optimizer.where_match_peaks,
                       "needs a sum of squares: " + why_not + "; leave it out");
  }

  /// Decides below which quality of the meshes the fit goes on with new ones: half of what the start has,
  /// where they are not better. @throws InputError for a start that no run may begin from.
  void watch_quality() {
    const OptimizerSpec& spec = study_.optimizer;
    const double quality = objective_.mesh_quality(starts_.front());
    if (quality < spec.min_quality)
      throw InputError(fmt::format("the scaled Jacobian of an element of the start is {:.2e}, below "
                                   "optimizer/min_quality, {:g}; improve the mesh, or lower that",
                                   quality, spec.min_quality));
    if (spec.renew_quality > 0 && why_no_new_interiors(study_).empty())
      renew_below_ = std::min(spec.renew_quality, quality / 2);
  }

  /// Makes the next stage from an iterate with elements that are too bad, where it gets better ones; else it
  /// waits until they are twice as bad.
  bool make_next_stage(const linalg::Iterate& at) {
    const double quality = objective_.mesh_quality(at.x);
    if (quality >= renew_below_) return false;
    const auto renew = [&](const std::filesystem::path& folder) {
      const auto made = objective_.renew_meshes(at.x, 2 * renew_below_, folder);
      parallel::collectively(comm_, [&] {
        const Json description{{"iteration", at.iteration},
                               {"how", made.is_remeshed ? "remeshed" : "smoothed"},
                               {"quality_before", made.quality_before},
                               {"quality", made.quality}};
        if (comm_.rank() == 0) write_file_atomically(meshes_file(folder), description.dump());
      });
      return made.quality > least_gain * made.quality_before;
    };
    try {
      if (make_stage(comm_, next_stage(), folder_.study(), study_, renew)) return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::no_solution) throw;
      log_warning(error.what());
    }
    log_info(fmt::format(
        "the smallest scaled Jacobian is {:.3g}, and the boundaries of the bodies allow no better "
        "elements inside",
        quality));
    renew_below_ = quality / 2;
    return false;
  }

  const Descent& best() const { return descents_[best_number()]; }

  ExitCode exit_code() const {
    const bool fails = verdict_.is == Verdict::Is::not_converged ||
                       (verdict_.is == Verdict::Is::bad_fit && study_.optimizer.on_bad_fit == BadFit::fail);
    return fails ? ExitCode::no_solution : ExitCode::done;
  }

  ExitCode fail(const std::string& reason) {
    log_error(reason);
    write_result("failed", reason);
    return ExitCode::no_solution;
  }

  /// Minimises from one of the starts; one without a value there has an infinite objective.
  void descend(std::size_t start) {
    const OptimizerSpec& spec = study_.optimizer;
    inverse::DesignVariables variables = objective_.space().variables();
    if (spec.match_peaks && earlier_.count == 0)
      starts_[start] = match_peaks(study_, objective_, starts_[start], matched_peaks_);
    variables.start = starts_[start];
    Descent& descent = descents_.emplace_back();
    descent.x = variables.start;
    descent.first_gradient = earlier_.first_gradient;
    if (starts_.size() > 1) log_info(fmt::format("start {} of {}", start + 1, starts_.size()));
    double at_start = objective_.value(variables.start);
    if (std::isinf(at_start) && spec.on_failure == FailedRun::drop && start == 0) {
      log_warning("left out: " + objective_.failure());
      objective_.drop_failed();
      at_start = objective_.value(variables.start);
    }
    if (std::isinf(at_start)) {
      descent.reason = "no objective at the start: " + objective_.failure();
      if (starts_.size() > 1) log_warning(descent.reason);
      return;
    }
    descent.initial_objective = earlier_.count > 0 ? earlier_.initial_objective : at_start;
    descent.iterations = first_iteration_ = earlier_.iterations;
    if (earlier_.count > 0) log_info(fmt::format("on the new meshes: objective {:.9g}", at_start));
    inverse::StopRules rules{spec.max_iterations - first_iteration_, spec.gradient_tolerance,
                             spec.step_tolerance, spec.objective_tolerance};
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
    first_iteration_ = 0;
    descent.reason =
        found.is_at_limit ? fmt::format("{} iterations are done", descent.iterations) : found.reason;
    if (found.is_at_limit) descent.ending = Ending::iteration_limit;
    if (!found.is_asked && !is_stationary(descent)) descent.ending = Ending::stalled;
  }

  /// Whether the derivatives at the end of a descent, too, say that nothing is left to be gained.
  bool is_stationary(const Descent& descent) {
    if (objective_.hessian_form() != inverse::HessianForm::matrix)
      return descent.last_gradient <= stalled_gradient * descent.first_gradient;
    const double step = free_step(descent.x);
    if (objective_.is_chi_squared() && step <= stalled_step) return true;
    return step * step <= stalled_share * stalled_share * descent.objective;
  }

  /// What of the residuals a Gauss-Newton step of the variables that are not at a bound would take away.
  double free_step(const std::vector<double>& x) {
    const inverse::DesignVariables variables = objective_.space().variables();
    std::vector<Eigen::Index> free;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] > variables.lower[i] && x[i] < variables.upper[i])
        free.push_back(static_cast<Eigen::Index>(i));
    if (free.empty()) return 0;
    const Eigen::MatrixXd& R = objective_.factor(x);
    const Eigen::MatrixXd J = R(Eigen::all, free);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(J);
    const Eigen::VectorXd rotated = qr.householderQ().transpose() * R.col(R.cols() - 1);
    return rotated.head(qr.rank()).norm();
  }

  linalg::BoundedMinimum minimize(const inverse::DesignVariables& variables, linalg::DescentMethod method,
                                  const inverse::StopRules& rules) {
    running_ = method;
    objective_.follow_paths(true);
    linalg::BoundedMinimum found = inverse::optimize(comm_, objective_, variables, method, rules,
                                                     [this](const linalg::Iterate& at) { return show(at); });
    objective_.follow_paths(false);
    return found;
  }

  /// Shows an iterate, and says why to end there, if so.
  std::string show(linalg::Iterate at) {
    Descent& descent = descents_.back();
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
      if (comm_.rank() == 0) history_.add(std::ssize(descents_), at, objective_);
    });
    interrupts_.stop_if_pending();
    if (budget && left < 0) {
      descent.ending = Ending::time_limit;
      return fmt::format("the time budget of {:g} s is used up", *budget);
    }
    if (is_chi_squared_of_fields() && at.iteration > 0 && decrease <= negligible_decrease)
      return fmt::format("the last step has made chi^2 smaller by no more than {:g}", negligible_decrease);
    if (renew_below_ > 0 && at.iteration < study_.optimizer.max_iterations && make_next_stage(at)) {
      needs_meshes_ = true;
      return "bodies need new interiors";
    }
    return is_at_noise(at.x) ? fmt::format("the next step is less than {:g} standard deviations of the "
                                           "parameters",
                                           negligible_step)
                             : "";
  }

  bool is_chi_squared_of_fields() const {
    return running_ == linalg::DescentMethod::gauss_newton && study_.optimizer.stop_at_noise &&
           objective_.is_chi_squared() && objective_.prior().has_fields() &&
           objective_.hessian_form() == inverse::HessianForm::products;
  }

  /// The component of the residuals that a Gauss-Newton step takes away is that step in deviations.
  bool is_at_noise(std::span<const double> x) {
    if (!study_.optimizer.stop_at_noise || !objective_.is_chi_squared() ||
        objective_.hessian_form() != inverse::HessianForm::matrix)
      return false;
    const Eigen::Index n = std::ssize(x);
    return objective_.factor(x).col(n).head(n).norm() <= negligible_step;
  }

  /// Statistics, verdict and warnings of the fit, told on the console, too.
  void conclude(const Descent& fit, Json& json) {
    JudgedSquares squares;
    squares.why_not = "how well the model fits is not judged: the objective is no sum of squares of data";
    if (objective_.why_not_least_squares().empty()) squares = add_statistics(fit, json);
    verdict_ = judge(fit.ending, fit.reason, squares);
    if (verdict_.p_value) json["p_value"] = *verdict_.p_value;
    json["verdict"] = app::describe(verdict_, squares);
    json["warnings"] = warnings_.describe();
    for (const std::string& line : fit_table(study_, json)) log_info(line);
    const std::string text = in_words(verdict_, squares);
    if (verdict_.is == Verdict::Is::converged)
      log_info(text);
    else
      log_warning(text);
  }

  /// Those of a sum of squares: of few variables by its factor, of fields by their posterior.
  JudgedSquares add_statistics(const Descent& fit, Json& json) {
    FittedDesign design{fit.x, {}, {}, fit.objective, objective_.num_data(), objective_.is_chi_squared()};
    JudgedSquares squares{fit.objective,
                          design.data,
                          0,
                          0,
                          0,
                          "how well the model fits is not judged: its residuals cannot be had"};
    warn_of_mixed_deviations(study_, objective_.has_deviations(), warnings_);
    unless_impossible("analysis of the residuals", [&] {
      const std::vector<ExperimentResiduals> residuals = objective_.residuals(fit.x);
      json["residuals"] = describe_residuals(study_, residuals);
      squares = judged_squares(study_, residuals, values_of_objectives(fit), design, num_free(fit.x));
      warn_of_outliers(study_, residuals, warnings_);
      const std::string warning = suspicious_residuals(study_, residuals);
      if (!warning.empty()) warnings_.add({"runs", warning, ""});
    });
    const bool is_few = objective_.space().num_variables() <= StudyObjective::most_factored;
    if (!is_few && objective_.prior().has_fields()) judge_fields(fit, squares, json);
    json["chi_squared"] = squares.chi_squared;
    json["data"] = squares.data;
    if (is_few) add_uncertainty(design, json);
    if (design.is_chi_squared && static_cast<double>(squares.data - squares.outliers) <= squares.values)
      warnings_.add({"too_few_data", squares.why_not, ""});
    return squares;
  }

  /// The posterior of fields, and the squares by which they are judged: those of the data beside the numbers
  /// that these determine.
  void judge_fields(const Descent& fit, JudgedSquares& squares, Json& json) {
    if (squares.why_not.empty())
      squares.why_not = "how well the model fits is not judged: that needs the posterior of the fields";
    if (!study_.uncertainty.intervals) return;
    unless_impossible("posterior", [&] {
      const Json& posterior = json["posterior"] =
          write_field_posterior(comm_, study_, objective_, fit.x, squares.chi_squared, result_.root());
      if (!objective_.is_chi_squared()) return;
      squares.chi_squared = posterior.at("chi_squared");
      squares.data = posterior.at("data");
      squares.values = posterior.at("determined");
      squares.why_not.clear();
    });
  }

  /// Deviations, intervals, open directions and profiles of few variables.
  void add_uncertainty(FittedDesign& design, Json& json) {
    const UncertaintySpec& spec = study_.uncertainty;
    if (!spec.intervals && spec.profile.empty()) return;
    unless_impossible("intervals", [&] {
      const DesignSpace& space = objective_.space();
      design.factor = objective_.factor(design.x);
      design.data_factor = objective_.data_factor(design.x);
      const inverse::Uncertainty uncertainty = is_without_data(space, design)
                                                   ? uncertainty_without_data(space, design)
                                                   : uncertainty_of(space, design);
      if (spec.intervals) {
        describe_uncertainty(study_, space, design, uncertainty, json);
        warn_of_parameters(study_, space, design.x, uncertainty, warnings_);
        warn_of_minima(study_, space, minima(), best_number(), uncertainty, warnings_);
      }
      if (!spec.profile.empty()) json["profile"] = write_profiles(comm_, study_, objective_, design);
    });
  }

  std::vector<FoundMinimum> minima() const {
    std::vector<FoundMinimum> found;
    for (const Descent& descent : descents_) found.push_back({descent.x, descent.objective});
    return found;
  }
  std::size_t best_number() const {
    return std::ranges::min_element(descents_, {}, &Descent::objective) - descents_.begin();
  }

  /// How many variables are not at a bound.
  double num_free(const std::vector<double>& x) const {
    const inverse::DesignVariables variables = objective_.space().variables();
    double count = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] > variables.lower[i] && x[i] < variables.upper[i]) ++count;
    return count;
  }

  /// Of those that were not dropped, in the order of the study.
  std::vector<double> values_of_objectives(const Descent& fit) const {
    std::vector<double> values;
    std::vector<std::size_t> next(fit.values.size(), 0);
    for (const auto& spec : study_.objectives)
      if (objective_.dropped()[spec->experiment] == 0)
        values.push_back(fit.values[spec->experiment].terms[next[spec->experiment]++]);
    return values;
  }

  /// Adds to the statistics; what data or runs do not allow is left out, with a warning.
  template <class Work>
  void unless_impossible(const char* what, Work work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.code() != ExitCode::no_solution && error.code() != ExitCode::bad_input) throw;
      warnings_.add({"no_statistics", fmt::format("no {}: {}", what, error.what()), ""});
    }
  }

  void write_result(const std::string& status, const std::string& reason) {
    Json json{{"status", status}, {"reason", reason}, {"method", name_of(method_)}};
    if (!descents_.empty()) describe(best(), json);
    if (starts_.size() > 1)
      for (const Descent& descent : descents_) {
        Json entry{{"reason", descent.reason}, {"iterations", descent.iterations}};
        if (std::isfinite(descent.objective)) entry["objective"] = descent.objective;
        entry["parameters"] = describe_fitted_parameters(study_, objective_.space(), descent.x);
        json["starts"].push_back(std::move(entry));
      }
    if (!matched_peaks_.empty()) json["matched_peaks"] = matched_peaks_;
    if (status == "done") conclude(best(), json);
    const StudyObjective::Totals& totals = objective_.totals();
    json["evaluations"] = totals.evaluations;
    json["gradient_evaluations"] = totals.gradient_evaluations;
    json["wall_s"] = objective_.wall_seconds();
    json["forward_s"] = totals.forward_seconds;
    json["sweep_s"] = totals.sweep_seconds;
    json["newton_iterations"] = totals.newton_iterations;
    if (!objective_.frozen().empty()) json["barrier_stiffness"] = objective_.frozen();
    for (std::size_t e = 0; e < objective_.dropped().size(); ++e)
      if (objective_.dropped()[e] != 0) json["dropped"].push_back(study_.experiments[e].name);
    json["ranks"] = comm_.size();
    json["groups"] = groups_.count();
    json["version"] = version();
    if (!earlier_.meshes.empty()) json["meshes"] = earlier_.meshes;
    if (!descents_.empty() && std::isfinite(best().objective))
      objective_.write_scenes(best().x, result_.root() / "scenes");
    result_.write_result(comm_, json);
  }

  void describe(const Descent& fit, Json& json) const {
    if (!fit.values.empty()) {
      json["objective"] = fit.objective;
      json["initial_objective"] = fit.initial_objective;
      std::vector<std::size_t> next(fit.values.size(), 0);
      for (const auto& spec : study_.objectives) {
        const std::size_t e = spec->experiment;
        if (objective_.dropped()[e] == 0) json["per_objective"][spec->name] = fit.values[e].terms[next[e]++];
      }
      for (std::size_t e = 0; e < fit.values.size(); ++e)
        if (objective_.dropped()[e] == 0)
          json["per_experiment"][study_.experiments[e].name] = fit.values[e].objective;
    }
    json["iterations"] = fit.iterations;
    json["parameters"] = describe_fitted_parameters(study_, objective_.space(), fit.x);
    for (const auto& [name, initial] : earlier_.initial_values.items())
      json["parameters"][name]["initial"] = initial;
    write_fitted_fields(comm_, study_, objective_.space(), fit.x, result_.root() / "fit.h5");
  }

  const parallel::Communicator& comm_;
  const Study& study_;
  const StudyFolder &folder_, &result_;
  const Interrupts& interrupts_;
  EarlierStages& earlier_;
  ExperimentGroups groups_;
  StudyObjective objective_;
  linalg::DescentMethod method_, running_ = method_; ///< of the study, and of the descent under way
  std::vector<std::vector<double>> starts_;
  FitHistory history_;
  Json matched_peaks_;            ///< where strengths start from such peaks
  std::vector<Descent> descents_; ///< from the starts so far
  int first_iteration_ = 0;       ///< of a method or stage that continues another one's descent
  double renew_below_ = 0;        ///< quality of meshes
  bool needs_meshes_ = false;
  FitWarnings warnings_;
  Verdict verdict_;
};

} // namespace

ExitCode optimize(const parallel::Communicator& comm, const StudyOptions& options) {
  const auto work = [&](LoadedStudy& loaded, StudyFolder& folder, const Interrupts& interrupts) {
    loaded.scenes.clear(); // each group reads its own
    EarlierStages earlier;
    std::deque<FitStage> stages;
    for (;;) {
      const Study& study = stages.empty() ? loaded.file.study : stages.back().loaded.file.study;
      StudyFolder& at = stages.empty() ? folder : stages.back().folder;
      Fit fit(comm, study, at, folder, interrupts, earlier);
      at.settle();
      if (const std::optional<ExitCode> code = fit.run()) return *code;
      const std::filesystem::path next = fit.next_stage();
      fit.hand_over();
      stages.push_back(open_stage(comm, optimize_command, next, interrupts));
    }
  };
  return work_on_study(comm, optimize_command, options, work);
}

} // namespace recoil::app
