#include "recoil/app/study/optimize.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/study/fit_report.hpp"
#include "app/study/study_objective.hpp"
#include "app/study/work_on_study.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

const StudyCommand optimize_command{
    "optimize", "fit.json", {"fit.h5", "history.csv", "evaluations", "scenes"}};

linalg::DescentMethod descent_method(const OptimizerSpec& spec) {
  return spec.method == OptimizationMethod::conjugate_gradients ? linalg::DescentMethod::conjugate_gradients
                                                                : linalg::DescentMethod::quasi_newton;
}

int num_groups(const parallel::Communicator& comm, const Study& study) {
  const int most = std::min<int>(comm.size(), static_cast<int>(study.experiments.size()));
  return std::min(study.optimizer.groups.value_or(most), most);
}

/// The optimisation of a study, from its folder to its result.
class Fit {
public:
  Fit(const parallel::Communicator& comm, const Study& study, const StudyFolder& folder,
      const Interrupts& interrupts)
      : comm_(comm), study_(study), folder_(folder), interrupts_(interrupts),
        groups_(comm, num_groups(comm, study)), objective_(comm, study, folder, groups_),
        history_(study, objective_.space(), folder.root() / "history.csv") {
    log_info(fmt::format("{} values of {} parameters, {} experiments in {} groups of ranks",
                         objective_.space().num_values(), study.parameters.size(), study.experiments.size(),
                         groups_.count()));
  }

  ExitCode run() {
    objective_.freeze_stiffness();
    for (const auto& [name, stiffness] : objective_.frozen())
      log_info(
          fmt::format("{}: barrier stiffness frozen at {:g}, the largest of a pilot run", name, stiffness));
    objective_.keep_in(folder_.root() / "evaluations");
    const inverse::DesignVariables variables = objective_.space().variables();
    const double at_start = objective_.value(variables.start);
    if (std::isinf(at_start))
      return fail(variables.start, "no objective at the start: " + objective_.failure());
    initial_objective_ = at_start;
    const OptimizerSpec& spec = study_.optimizer;
    linalg::BoundedMinimum found;
    try {
      found = inverse::optimize(
          comm_, objective_, variables, descent_method(spec),
          {spec.max_iterations, spec.gradient_tolerance, spec.step_tolerance, spec.objective_tolerance},
          [this](const linalg::Iterate& at) { return show(at); });
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) write_result("interrupted", error.what());
      if (error.code() == ExitCode::no_solution) return fail(iterate_, error.what());
      throw;
    }
    log_info("the optimisation ends: " + found.reason);
    write_result("done", found.reason);
    return ExitCode::done;
  }

private:
  ExitCode fail(const std::vector<double>& x, const std::string& reason) {
    log_error(reason);
    iterate_ = x;
    write_result("failed", reason);
    return ExitCode::no_solution;
  }

  /// Shows an iterate, and says why to end there, if so.
  std::string show(const linalg::Iterate& at) {
    iterate_.assign(at.x.begin(), at.x.end());
    iterations_ = at.iteration;
    values_ = objective_.values();
    iterate_value_ = at.value;
    const std::optional<double> budget = study_.optimizer.time_budget;
    const double left = budget.value_or(0) - objective_.wall_seconds();
    log_info(fmt::format("iteration {}: objective {:.9g}, gradient {:.3e}, step {:.3e}{}", at.iteration,
                         at.value, at.gradient_norm, at.step,
                         budget ? fmt::format(", {} left", format_duration(std::max(left, 0.0))) : ""));
    parallel::collectively(comm_, [&] {
      if (comm_.rank() == 0) history_.add(at, objective_);
    });
    interrupts_.stop_if_pending();
    return budget && left < 0 ? fmt::format("the time budget of {:g} s is used up", *budget) : "";
  }

  void write_result(const std::string& status, const std::string& reason) {
    nlohmann::ordered_json json{{"status", status}, {"reason", reason}};
    if (iterations_ >= 0) {
      json["objective"] = iterate_value_;
      json["initial_objective"] = initial_objective_;
      std::vector<std::size_t> next(values_.size(), 0);
      for (const auto& spec : study_.objectives)
        json["per_objective"][spec->name] = values_[spec->experiment].terms[next[spec->experiment]++];
      for (std::size_t e = 0; e < values_.size(); ++e)
        json["per_experiment"][study_.experiments[e].name] = values_[e].objective;
      json["iterations"] = iterations_;
    }
    const StudyObjective::Totals& totals = objective_.totals();
    json["evaluations"] = totals.evaluations;
    json["gradient_evaluations"] = totals.gradient_evaluations;
    if (!iterate_.empty()) {
      json["parameters"] = describe_fitted_parameters(study_, objective_.space(), iterate_);
      write_fitted_fields(comm_, study_, objective_.space(), iterate_, folder_.root() / "fit.h5");
    }
    json["wall_s"] = objective_.wall_seconds();
    json["forward_s"] = totals.forward_seconds;
    json["sweep_s"] = totals.sweep_seconds;
    if (!objective_.frozen().empty()) json["barrier_stiffness"] = objective_.frozen();
    json["ranks"] = comm_.size();
    json["groups"] = groups_.count();
    json["version"] = version();
    folder_.write_result(comm_, json);
  }

  const parallel::Communicator& comm_;
  const Study& study_;
  const StudyFolder& folder_;
  const Interrupts& interrupts_;
  ExperimentGroups groups_;
  StudyObjective objective_;
  FitHistory history_;
  int iterations_ = -1;
  double initial_objective_ = 0, iterate_value_ = 0;
  std::vector<double> iterate_;
  std::vector<ExperimentValue> values_; ///< at the iterate
};

} // namespace

ExitCode optimize(const parallel::Communicator& comm, const OptimizeOptions& options) {
  return work_on_study(comm,
                       {optimize_command, options.study, options.output, options.restart, options.console},
                       [&](LoadedStudy& loaded, StudyFolder& folder, const Interrupts& interrupts) {
                         if (options.restart.empty()) begin(comm, loaded, folder);
                         loaded.scenes.clear(); // each group reads its own
                         Fit fit(comm, loaded.file.study, folder, interrupts);
                         folder.settle();
                         return fit.run();
                       });
}

} // namespace recoil::app
