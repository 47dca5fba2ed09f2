#pragma once

#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/objectives/trajectory_objective.hpp"
#include "recoil/stepping/solver.hpp"

namespace recoil::app {

/// An objective with what belongs to the bodies of its experiment.
template <int dim>
struct OpenObjective {
  const ObjectiveSpec* spec;
  ObjectiveMaker<dim> make;
};
template <int dim>
using OpenObjectives = std::vector<OpenObjective<dim>>;

/// The objectives of an experiment, opened on its bodies as its files give them. Collective.
/// @throws InputError on every rank, at the objective's place.
template <int dim>
OpenObjectives<dim> open_objectives(const Specimen<dim>& at);

/// Times of the states that objectives see: the start and the end of every nominal step [s].
std::vector<double> observed_state_times(const TimeSpec& time);

/// What kind of objective an experiment has.
struct ObjectiveKind {
  std::string why_not_least_squares; ///< empty: it is a sum of squares
  bool is_chi_squared = false;       ///< of data in their standard deviations
  std::vector<bool> has_deviations;  ///< by objective: it is of data with standard deviations
  std::vector<bool> counts_once;     ///< by objective: each datum does
  /// By objective: how many data a sum of squares has, less what is fitted to them alone
  /// (objectives::Objective::num_fitted_along()).
  std::vector<GlobalIndex> data_of;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ObjectiveKind, why_not_least_squares, is_chi_squared, has_deviations,
                                 counts_once, data_of)

  /// Over all objectives.
  GlobalIndex num_data() const { return std::accumulate(data_of.begin(), data_of.end(), GlobalIndex(0)); }
};

/// What the residuals of an experiment are of.
struct ResidualRows {
  struct Row {
    std::size_t term; ///< index of the objective among those of the experiment
    objectives::ResidualLabel label;
    double factor = 1; ///< of the objective's residual in that of the study
  };
  struct Term {
    objectives::ObservationNames names;
    bool counts_once = true;     ///< else a sum over time weighs or interpolates the observations
    bool has_deviations = false; ///< of the data
    std::optional<objectives::RobustLoss> loss = {};
    double sd_factor = 1; ///< by which the standard deviations of the data are multiplied
  };
  std::vector<Row> rows; ///< of this rank, in the order of its residuals
  std::vector<Term> terms;
};

/// Sizes of the largest forces that were observed and simulated [N].
struct ForcePeaks {
  double observed = 0, simulated = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ForcePeaks, observed, simulated)
};

/// The objectives of one experiment of a study, and what they have seen of its run.
template <int dim>
struct Observation {
  std::vector<std::unique_ptr<objectives::Objective<dim>>> objectives;
  objectives::Composition composition; ///< a term per objective
  /// Of least squares: those of all states by rising time, once keep_residuals() has asked for them, and
  /// where those of a state begin.
  std::vector<double> residuals;
  std::vector<std::size_t> first_residual;

  /// `opened` and what `at` sees must outlive it. Collective. @throws InputError on every rank, at the
  /// objective's place, also where one has no value at a time at which it is needed.
  Observation(const OpenObjectives<dim>& opened, const Observables<dim>& at);

  /// Collective.
  ObjectiveKind kind() const;
  bool is_least_squares() const { return !first_residual.empty(); }
  std::size_t num_residuals() const { return first_residual.back(); }
  /// @pre is_least_squares().
  void keep_residuals() {
    keeps_residuals_ = true;
    residuals.resize(num_residuals());
  }
  /// What `residuals` are of. Not collective. @pre is_least_squares().
  ResidualRows rows() const;
  /// The largest forces that `residuals`, in the order of rows(), are of, by objective: sizes, 0 of what is
  /// no force. Collective. @pre is_least_squares().
  std::vector<ForcePeaks> peaks(std::span<const double> residuals) const;
  /// Those of `rows`, in the order of all residuals, that belong to a state.
  template <class Row>
  std::span<Row> rows_of(std::size_t state, std::span<Row> rows) const {
    return rows.subspan(first_residual[state], first_residual[state + 1] - first_residual[state]);
  }

  /// Notes the values of the state of `record`, if objectives look at such a state; where they depend on its
  /// step, only if that before it has been seen just before. Collective.
  void see(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
           std::span<const double> internal);
  /// Whether objectives look at such a state.
  bool is_wanted(const stepping::StepRecord& record) const;
  /// Whether they do, and have not yet.
  bool is_missing(const stepping::StepRecord& record) const {
    return is_wanted(record) && !has_seen_[record.nominal_step];
  }
  /// Weighted terms in the order of the study.
  std::vector<double> values() const;

private:
  void evaluate(std::size_t state, const objectives::ObservedState& seen);

  const parallel::Communicator& comm_;
  std::vector<double> times_; ///< of the states that objectives see [s]
  bool keeps_residuals_ = false;
  std::vector<bool> has_seen_; ///< per nominal step
  bool depends_on_steps_;
  struct Last {
    GlobalIndex id;
    linalg::Vector u;
    std::vector<double> internal;
  };
  std::optional<Last> last_; ///< the last state, if so
};

} // namespace recoil::app
