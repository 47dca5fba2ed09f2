#include "recoil/app/study/fit/optimize.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/study/fit/fit_descent.hpp"
#include "app/study/fit/fit_insight.hpp"
#include "app/study/fit/fit_report.hpp"
#include "app/study/fit/fit_stage.hpp"
#include "app/study/fit/fit_starts.hpp"
#include "app/study/fit/fit_verdict.hpp"
#include "recoil/app/study/experiment/work_on_study.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

const StudyCommand optimize_command{"optimize",
                                    "fit.json",
                                    {"fit.h5", "samples.csv", "bands.csv", "history.csv", "evaluations",
                                     "stages", "scenes", "posterior.h5", "posterior-*.xdmf"}};

/// Gauss-Newton where the objective is a sum of squares of few variables, or has a prior of fields and no
/// bounds. @throws InputError.
linalg::DescentMethod choose_method(const OptimizerSpec& spec, const StudyObjective& objective) {
  using enum OptimizationMethod;
  const std::string& why_not = objective.why_not_least_squares();
  const bool has_cheap_model = objective.has_few_variables() || objective.has_preconditioner();
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
  if (!objective.has_few_variables())
    throw InputError(spec.where_profile,
                     fmt::format("a profile fits all other values again, by a method for at most {} in all; "
                                 "the study has {}. Leave it out, or fit fewer values",
                                 objective.most_factored(), objective.space().num_variables()));
}

const char* name_of(linalg::DescentMethod method) {
  if (method == linalg::DescentMethod::gauss_newton) return "gauss_newton";
  return method == linalg::DescentMethod::quasi_newton ? "quasi_newton" : "conjugate_gradients";
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

/// The optimisation of a study, or a stage of it, from its folder to its result.
class Fit {
public:
  /// @param folder of the study or stage; @param result the folder that takes the results; @param earlier is
  /// brought up to date where new meshes are needed; @param told of the study that the log has already.
  Fit(const parallel::Communicator& comm, const Study& study, const StudyFolder& folder,
      const StudyFolder& result, const Interrupts& interrupts, EarlierStages& earlier,
      const std::vector<std::string>& told)
      : comm_(comm), study_(study), folder_(folder), result_(result), interrupts_(interrupts),
        earlier_(earlier), groups_(comm, divide_ranks(study, comm.size(), 1).groups_per_part),
        objective_(study, folder, groups_), method_(choose_method(study.optimizer, objective_)),
        starts_(find_starts(study, objective_.space(), method_)),
        division_(divide_ranks(study, comm.size(), static_cast<int>(starts_.points.size()))),
        history_(study, objective_.space(), result.root() / "history.csv", earlier.history), warnings_(told) {
    require_profiles(study.uncertainty, objective_);
    require_squares_of_peaks();
    watch_quality();
    if (method_ == linalg::DescentMethod::gauss_newton) objective_.use_residuals();
    if (!study.sd_factors.empty()) objective_.estimate_sd_factors();
    log_info(fmt::format("{} values of {} parameters, {} experiments in {} groups of ranks, {}",
                         objective_.space().num_values(), study.parameters.size(), study.experiments.size(),
                         num_groups(), name_of(method_)));
    if (!starts_.about.empty()) log_info(starts_.about);
  }

  /// Nothing where the fit goes on in next_stage().
  std::optional<ExitCode> run() {
    objective_.freeze_stiffness();
    for (const auto& [name, stiffness] : objective_.frozen())
      log_info(
          fmt::format("{}: barrier stiffness frozen at {:g}, the largest of a pilot run", name, stiffness));
    for (const std::vector<double>& point : starts_.points) descents_.emplace_back().x = point;
    try {
      if (division_.parts > 1)
        descend_side_by_side();
      else if (descend_in_turn())
        return {};
      const Descent& best = this->best();
      if (std::isinf(best.objective)) return fail(best.reason);
      if (descents_.size() > 1) settle_on_best();
      log_info("the optimisation ends: " + best.reason);
      write_result("done", best.reason);
      remove_known_runs();
      return exit_code();
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) write_result("interrupted", error.what());
      if (error.code() == ExitCode::no_solution) return fail(error.what());
      throw;
    }
  }

  /// The folder of the next stage.
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
    remove_known_runs();
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
    const double quality = objective_.mesh_quality(starts_.points.front());
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

  std::filesystem::path evaluations_of(std::size_t start) const {
    return evaluations_of_start(folder_.root(), start);
  }
  void remove_known_runs() const {
    for (std::size_t k = 0; k < descents_.size(); ++k) objective_.remove_known_runs(evaluations_of(k));
  }
  int num_groups() const {
    return division_.parts > 1 ? division_.parts * division_.groups_per_part : groups_.count();
  }
  /// What earlier processes have taken is that until the last line of their logs.
  double logged_seconds() const {
    double seconds = earlier_.wall_seconds;
    parallel::collectively(comm_, [&] {
      for (std::size_t k = 0; comm_.rank() == 0 && k < descents_.size(); ++k)
        seconds = std::max(seconds, EvaluationLog(evaluations_of(k)).wall_seconds());
    });
    return comm_.max(seconds);
  }

  /// Descends from one start after the other. True where new meshes ended a descent.
  bool descend_in_turn() {
    objective_.count_from(earlier_.totals, logged_seconds());
    Descender descender(comm_, study_, objective_, interrupts_, method_);
    if (earlier_.count > 0)
      descender.go_on_from({earlier_.iterations, earlier_.initial_objective, earlier_.first_gradient});
    if (renew_below_ > 0)
      descender.renew_meshes_by([this](const linalg::Iterate& at) { return make_next_stage(at); });
    for (std::size_t k = 0; k < descents_.size(); ++k) {
      objective_.keep_in(evaluations_of(k));
      descender.descend(k, descents_.size(), history_, descents_[k]);
      if (descender.needs_meshes()) return true;
    }
    return false;
  }

  /// What a part of the ranks needs for its starts.
  struct Part {
    Part(const Study& study, const StudyFolder& folder, const parallel::Communicator& comm, int count)
        : groups(comm, count), objective(study, folder, groups) {}
    ExperimentGroups groups;
    StudyObjective objective;
  };

  /// Descends from all starts, each on a part of the ranks, which takes several where there are more starts
  /// than parts.
  void descend_side_by_side() {
    const ExperimentGroups parts(comm_, division_.parts);
    std::vector<int> part_of(descents_.size());
    for (std::size_t k = 0; k < part_of.size(); ++k) part_of[k] = static_cast<int>(k) % division_.parts;
    const double seconds = logged_seconds();
    objective_.count_from(earlier_.totals, seconds);
    std::unique_ptr<Part> part;
    std::vector<std::string> rows(descents_.size());
    std::exception_ptr error_of_all; // what a part throws
    try {
      parts.work_on(part_of, [&](int k) {
        if (!part) part = make_part(parts.comm(), seconds);
        part->objective.keep_in(evaluations_of(k));
        FitHistory history(study_, objective_.space(), evaluations_of(k) / "history.csv", rows[k]);
        Descender descender(parts.comm(), study_, part->objective, parts.interrupts(), method_);
        descender.descend(k, descents_.size(), history, descents_[k]);
      });
    } catch (const Error& error) {
      const auto* of_library = dynamic_cast<const LibraryError*>(&error);
      if (of_library != nullptr && !of_library->agreed()) throw;
      error_of_all = std::current_exception();
    }
    StudyObjective::Totals own;
    if (part && parts.comm().rank() == 0) own = part->objective.totals();
    objective_.add(own);
    for (std::size_t k = 0; k < descents_.size(); ++k) {
      const int root = parts.root(part_of[k]);
      share_descent(comm_, descents_[k], root);
      comm_.broadcast(rows[k], root);
      parallel::collectively(comm_, [&] {
        if (comm_.rank() == 0) history_.add_rows(rows[k]);
      });
    }
    if (error_of_all) std::rethrow_exception(error_of_all);
  }

  std::unique_ptr<Part> make_part(const parallel::Communicator& comm, double seconds) {
    auto part = std::make_unique<Part>(study_, folder_, comm, division_.groups_per_part);
    part->objective.count_from({}, seconds);
    part->objective.use_residuals_like(objective_);
    part->objective.freeze_stiffness();
    return part;
  }

  /// Tells how the starts have ended, and goes back to where the best one has; what the log has of that costs
  /// nothing and is not counted.
  void settle_on_best() {
    for (std::size_t k = 0; k < descents_.size(); ++k) {
      const Descent& one = descents_[k];
      log_info(std::isinf(one.objective)
                   ? fmt::format("start {} of {}: {}", k + 1, descents_.size(), one.reason)
                   : fmt::format("start {} of {}: objective {:.9g} after {} iterations, {}", k + 1,
                                 descents_.size(), one.objective, one.iterations, one.reason));
    }
    Descent& best = descents_[best_number()];
    const StudyObjective::Totals totals = objective_.totals();
    objective_.keep_in(evaluations_of(best_number()));
    objective_.value(best.x);
    best.values = objective_.values();
    if (objective_.hessian_form() == inverse::HessianForm::matrix) objective_.factor(best.x);
    objective_.count_again_from(totals);
  }

  /// Statistics, verdict and warnings of the fit, told on the console, too.
  void conclude(const Descent& fit, Json& json) {
    JudgedSquares squares;
    squares.why_not = "how well the model fits is not judged: the objective is no sum of squares of data";
    if (objective_.why_not_least_squares().empty()) squares = add_statistics(fit, json);
    verdict_ = judge(fit.ending, fit.reason, squares, result_.root() / optimize_command.result);
    verdict_.starts = ends_of_starts_;
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

  /// Adds the statistics of a sum of squares: of few variables by its factor, of fields by their posterior.
  JudgedSquares add_statistics(const Descent& fit, Json& json) {
    FittedDesign design = fitted_design(fit);
    JudgedSquares squares{design.squares,
                          design.data,
                          0,
                          0,
                          0,
                          "how well the model fits is not judged: its residuals cannot be had"};
    warn_of_mixed_deviations(study_, objective_.has_deviations(), warnings_);
    unless_impossible("analysis of the residuals", [&] {
      const std::vector<ExperimentResiduals> residuals =
          objective_.residuals(fit.x, design.deviations.values);
      json["residuals"] = describe_residuals(study_, residuals);
      squares = judged_squares(study_, residuals, values_of_objectives(fit), design, num_free(fit.x));
      warn_of_outliers(study_, residuals, warnings_);
      const std::string warning = suspicious_residuals(study_, residuals);
      if (!warning.empty()) warnings_.add({"runs", warning, ""});
    });
    if (design.has_estimated_deviations())
      json["sd_factors"] = describe_sd_factors(study_, objective_, design);
    const bool is_few = objective_.has_few_variables();
    if (!is_few && objective_.prior().has_fields()) judge_fields(fit, squares, json);
    json["chi_squared"] = squares.chi_squared;
    json["data"] = squares.data;
    if (is_few) add_uncertainty(design, json);
    if (design.is_chi_squared && static_cast<double>(squares.data - squares.outliers) <= squares.values)
      warnings_.add({"too_few_data", squares.why_not, ""});
    return squares;
  }

  /// The end of a descent, and what of its standard deviations was estimated.
  FittedDesign fitted_design(const Descent& fit) {
    FittedDesign design{
        fit.x, {}, fit.objective, fit.objective, objective_.num_data(), objective_.is_chi_squared()};
    if (!objective_.estimates_sd_factors()) return design;
    design.deviations = objective_.sd_factors(fit.x);
    design.squares = objective_.factors(fit.x, design.deviations.values).all.rightCols(1).squaredNorm();
    return design;
  }

  /// The posterior of fields, and the squares by which they are judged: those of the data next to the numbers
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
      design.factors = objective_.factors(design.x, design.deviations.values);
      const inverse::Uncertainty uncertainty = is_without_data(space, design)
                                                   ? uncertainty_without_data(space, design)
                                                   : uncertainty_of(space, design);
      if (spec.intervals) {
        describe_uncertainty(study_, space, design, uncertainty, json);
        warn_of_parameters(study_, space, design.x, uncertainty, warnings_);
        const std::vector<FoundMinimum> found = minima();
        warn_of_minima(study_, space, found, best_number(), uncertainty, warnings_);
        if (found.size() > 1) ends_of_starts_ = compare_ends(space, found, best_number(), uncertainty);
        for (std::size_t k = 0; k < ends_of_starts_.size(); ++k)
          json["starts"][k]["minimum"] = ends_of_starts_[k] > 0 ? Json(ends_of_starts_[k]) : Json(nullptr);
      }
      add_insight(design, uncertainty, json);
      if (!spec.profile.empty()) json["profile"] = write_profiles(comm_, study_, objective_, design);
    });
  }

  /// What else the Jacobian tells.
  void add_insight(const FittedDesign& design, const inverse::Uncertainty& uncertainty, Json& json) {
    const UncertaintySpec& spec = study_.uncertainty;
    json["information"] = describe_information(design, num_free(design.x));
    json["sensitivity"] = describe_sensitivity(study_, objective_, design);
    json["cross_validation"] = describe_cross_validation(study_, objective_, design);
    if (const Json next = describe_next_experiments(study_, objective_, design, uncertainty); !next.empty())
      json["next_experiments"] = next;
    if (spec.samples > 0)
      unless_impossible("samples", [&] {
        json["samples"] =
            write_samples(comm_, study_, objective_.space(), design, uncertainty, result_.root());
      });
    if (spec.bands)
      unless_impossible("bands", [&] {
        json["bands"] = write_bands(comm_, study_, objective_, design, uncertainty, result_.root());
      });
  }

  std::vector<FoundMinimum> minima() const {
    std::vector<FoundMinimum> found;
    for (const Descent& descent : descents_)
      found.push_back({descent.x, descent.objective, descent.ending == Ending::converged});
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

  /// The values of the objectives whose experiments were not dropped, in the order of the study.
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
      warnings_.add({"no_statistics", fmt::format("no {}: {}", what, name_options(error.what())), ""});
    }
  }

  void write_result(const std::string& status, const std::string& reason) {
    Json json{{"status", status}, {"reason", name_options(reason)}, {"method", name_of(method_)}};
    if (!descents_.empty()) describe(best(), json);
    if (starts_.points.size() > 1)
      for (const Descent& descent : descents_) {
        if (!descent.has_begun && descent.reason.empty()) continue; // a signal came first
        Json entry{{"reason", descent.reason}, {"iterations", descent.iterations}};
        if (std::isfinite(descent.objective)) entry["objective"] = descent.objective;
        entry["parameters"] = describe_fitted_parameters(study_, objective_.space(), descent.x);
        json["starts"].push_back(std::move(entry));
      }
    if (!descents_.empty() && !best().matched_peaks.empty()) json["matched_peaks"] = best().matched_peaks;
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
      if (objective_.dropped()[e] != 0 && !study_.experiments[e].is_candidate)
        json["dropped"].push_back(study_.experiments[e].name);
    json["ranks"] = comm_.size();
    json["groups"] = num_groups();
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
  linalg::DescentMethod method_;
  FitStarts starts_;
  RankDivision division_;
  FitHistory history_;
  std::vector<Descent> descents_;   ///< from the starts
  std::vector<int> ends_of_starts_; ///< compare_ends(); empty: not compared
  double renew_below_ = 0;          ///< quality of meshes
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
      Fit fit(comm, study, at, folder, interrupts, earlier, loaded.warnings);
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
