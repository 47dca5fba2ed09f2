#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/study/evaluation/hosted_experiment.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/inverse/deviation_factors.hpp"
#include "recoil/inverse/optimize.hpp"

namespace recoil::app {

/// What an experiment that might be made next would say: the factor of [dr/dx r], n + 1 columns.
struct CandidateFactor {
  int experiment = 0;
  Eigen::MatrixXd factor;
  std::string failure; ///< why there is none; empty if there is
};

/// The factors of [dr/dx r] at a design, n + 1 columns each.
struct StudyFactors {
  Eigen::MatrixXd all;                      ///< what is known beforehand included
  Eigen::MatrixXd data;                     ///< without that
  std::vector<Eigen::MatrixXd> experiments; ///< of size 0 for those that have no part in it
};

/// The sum of the objectives of all experiments of a study as a function of what an optimiser sees of their
/// parameters. Whole experiments are run by groups of ranks side by side, distributed anew for every
/// evaluation by what they have cost before, and summed in the order of the study, whatever the groups. What
/// the log has is not evaluated again. All members but the accessors are collective over all ranks; errors
/// are the same on all of them, Error of ExitCode::interrupted after a signal among them.
class StudyObjective final : public inverse::DesignObjective {
public:
  /// Builds every experiment once, from its scene in `folder`, and checks it at its start values. Everything
  /// must outlive it.
  StudyObjective(const Study& study, const StudyFolder& folder, const ExperimentGroups& groups);

  const DesignSpace& space() const { return *space_; }
  /// Freezes the barrier stiffness where it is adaptive, as ExperimentModel::freeze_stiffness(); before
  /// anything is evaluated.
  void freeze_stiffness();
  /// Barrier stiffnesses of pilot runs, by experiment.
  const std::map<std::string, double>& frozen() const { return frozen_; }
  /// From now on looks up evaluations in the log in `folder`, and adds to it; what was evaluated before is
  /// not started near. With warm starts the folder also has two runs of every experiment, the last one and
  /// that which it has started near. @throws FileError.
  void keep_in(const std::filesystem::path& folder);
  /// Removes those runs from a folder, once nothing is evaluated there any more. Not collective.
  void remove_known_runs(const std::filesystem::path& folder) const;

  /// Writes the scenes of all experiments at x into `folder`, also after a signal. @throws FileError.
  void write_scenes(std::span<const double> x, const std::filesystem::path& folder);

  /// The smallest scaled Jacobian of the bodies that shapes move, over all experiments; 1 without a shape.
  double mesh_quality(std::span<const double> x);
  /// What renew_meshes() has made of them.
  struct RenewedMeshes {
    double quality_before = 1, quality = 1; ///< see mesh_quality()
    bool is_remeshed = false;               ///< some, by Gmsh
  };
  /// Writes the scenes of all experiments at x into `folder` with new interiors of the bodies that shapes
  /// move, as ExperimentModel::write_renewed_scene(), and the values of all parameters on the new meshes, as
  /// arrays in file order: start_file(folder, parameter), named after the parameter. Nothing is evaluated any
  /// more after it. @throws as that.
  RenewedMeshes renew_meshes(std::span<const double> x, double wanted, const std::filesystem::path& folder);
  static std::filesystem::path start_file(const std::filesystem::path& folder,
                                          const ParameterSpec& parameter) {
    return folder / (parameter.name + ".h5");
  }

  /// While paths are followed, rest shapes have no value where surfaces meet or elements invert on the
  /// straight path from the design of the last gradient().
  void follow_paths(bool follow);
  double value(std::span<const double> x) override;
  std::vector<double> gradient(std::span<const double> x) override;

  /// From now on gradients come from residuals, and the Hessian is that of Gauss-Newton: as a matrix, from
  /// the factor(), or without few variables by products. @pre is_least_squares().
  void use_residuals() { uses_residuals_ = true; }
  void use_residuals_like(const StudyObjective& other) {
    uses_residuals_ = other.uses_residuals_;
    estimates_factors_ = other.estimates_factors_;
  }
  /// From now on the objective is the deviance of data whose standard deviations have the unknown factors s_k
  /// of the study: the sum of inverse::concentrated_deviance() over these, and of the chi^2 of all other data
  /// and what is known beforehand. Gradients come from residuals, which are over s_k, s_k^2 = chi_k^2 / m_k
  /// there; value() and factor() then throw InputError for a factor whose data could be met exactly,
  /// Error where they are. @throws InputError where the objective is not that, or has too many variables.
  void estimate_sd_factors();
  bool estimates_sd_factors() const { return estimates_factors_; }
  /// Those at x from what is left of the data, by inverse::estimate_deviation_factors(). @pre they are
  /// estimated.
  inverse::DeviationFactors sd_factors(std::span<const double> x);
  /// Why the objective is no sum of squares; empty if it is one.
  const std::string& why_not_least_squares() const { return not_squares_; }
  /// Whether it is the chi^2 of data, in their standard deviations, each of which counts once.
  bool is_chi_squared() const;
  inverse::HessianForm hessian_form() const override;
  Eigen::MatrixXd residual_factor(std::span<const double> x) override { return factor(x); }
  std::vector<double> hessian_product(std::span<const double> x, std::span<const double> d) override;
  /// J'J d, J = dr/dx of the data without what is known beforehand; n numbers. @throws Error where an
  /// experiment fails.
  std::vector<double> data_product(std::span<const double> x, std::span<const double> d);
  /// By the prior of fields, which leaves conjugate gradients about as many steps as there are numbers that
  /// the data determine.
  bool has_preconditioner() const override { return prior_.has_fields() && !has_bounds_; }
  /// (W'W)^-1 r / 2, W the prior's, since the Hessian is 2 (J'J + W'W). Not collective.
  std::vector<double> precondition(std::span<const double> r) const override;
  /// What is known of the variables beforehand.
  const inverse::GaussianPrior& prior() const { return prior_; }
  /// The upper triangular factor of [dr/dx r] over all experiments, (n + 1) x (n + 1).
  const Eigen::MatrixXd& factor(std::span<const double> x);
  /// All factors at x, with these factors on standard deviations where they are estimated.
  StudyFactors factors(std::span<const double> x, std::span<const double> sd_factors);
  /// The rows [dr/dx r] of what is known beforehand; none without priors.
  Eigen::MatrixXd prior_factor(std::span<const double> x) const;
  /// The factors of the candidates for the next experiment at x, which are run there; as factors().
  std::vector<CandidateFactor> candidate_factors(std::span<const double> x,
                                                 std::span<const double> sd_factors);
  /// What the observations are at x, and how well that is known by a covariance root W W' of the variables;
  /// nothing of experiments that were dropped. @throws Error where an experiment fails.
  std::vector<ExperimentBands> bands(std::span<const double> x, const Eigen::MatrixXd& root);
  /// What is left of the observations at x, by experiment; nothing of those that were dropped. As factors().
  /// @throws Error where an experiment fails. @pre it is a sum of squares.
  std::vector<ExperimentResiduals> residuals(std::span<const double> x, std::span<const double> sd_factors);
  /// r with J = |r|^2: the residuals of the experiments in the order of the study, each in that of
  /// HostedExperiment::find_residuals(), then those of what is known beforehand. The same rows at all x;
  /// those of observations are in the same order on any number of ranks. @throws Error where an experiment
  /// fails. @pre it is a sum of squares.
  std::vector<double> residual_vector(std::span<const double> x);
  /// dr/dx with the rows of residual_vector(), by tangent-linear sweeps. @throws Error where an experiment
  /// fails. @pre it is a sum of squares.
  Eigen::MatrixXd residual_jacobian(std::span<const double> x);
  /// The largest forces that are compared with observed ones, by experiment; as residuals().
  std::vector<ExperimentPeaks> peaks(std::span<const double> x);
  /// How many data the sum of squares has.
  GlobalIndex num_data() const;
  /// How many of them an experiment has, one without part in the sum included.
  GlobalIndex num_data_of(std::size_t experiment) const { return kinds_[experiment].num_data(); }
  /// How many have each factor on standard deviations.
  std::vector<GlobalIndex> data_of_factors() const { return data_of_sd_factors(study_, kinds_, dropped_); }
  /// How many of those the experiment has.
  std::vector<GlobalIndex> data_of_factors_in(std::size_t experiment) const;
  /// Whether the data of the objectives have standard deviations, by objective.
  std::vector<bool> has_deviations() const;
  /// From now on leaves out the experiments that had no value in the last value(). @throws Error if none is
  /// left.
  void drop_failed();
  const std::vector<char>& dropped() const { return dropped_; }
  /// Up to so many variables a Jacobian by columns, a tangent-linear sweep for each, is worth its cost: of
  /// fields with a prior fewer, since products preconditioned by that take about as many as the data
  /// determine.
  std::size_t most_factored() const { return prior_.has_fields() ? 50 : 300; }
  bool has_few_variables() const { return space_->num_variables() <= most_factored(); }
  /// What the experiments came to in the last value().
  const std::vector<ExperimentValue>& values() const { return values_; }
  /// The experiments that have no value there, and why; empty if all have one.
  std::string failure() const;

  struct Totals {
    int evaluations = 0, gradient_evaluations = 0; ///< of the sum at new designs, those in the log included
    double forward_seconds = 0, sweep_seconds = 0; ///< over all experiments
    GlobalIndex newton_iterations = 0;             ///< of their forward runs
  };
  const Totals& totals() const { return totals_; }
  /// Counts on from what a fit has cost on earlier meshes and in earlier processes. Not collective.
  void count_from(const Totals& totals, double wall_seconds) {
    totals_ = totals;
    earlier_seconds_ = wall_seconds;
  }
  /// Forgets what has been counted since. Not collective.
  void count_again_from(const Totals& totals) { totals_ = totals; }
  /// Adds the sum over all ranks of what other objectives of the fit have cost.
  void add(const Totals& of_this_rank);
  /// Wall time of this and earlier processes [s]. Not collective.
  double wall_seconds() const { return earlier_seconds_ + watch_.seconds(); }

private:
  HostedExperiment& host(int experiment);
  void write_start_values(int experiment, std::span<const double> values, const RenewedScene& scene,
                          const std::filesystem::path& folder);
  bool can_reach(std::span<const double> x);
  template <class Result, class Work>
  std::vector<Result> evaluate(std::span<const double> design, std::vector<int>& group_of, Work work);
  template <class Result, class Work>
  std::vector<Result> differentiate(const char* what, Work work, std::span<const double> x,
                                    std::span<const double> direction = {});
  ProductSum sum_products(std::span<const double> x, std::span<const double> d);
  std::optional<ProductSum> find_sum(std::span<const double> design) const;
  void keep_sum(std::span<const double> design, const ProductSum& sum);
  void count_sweeps(std::span<const double> seconds);
  template <class Result, class Work>
  std::vector<Result> look_at(const char* what, std::span<const double> x, Work work,
                              std::span<const double> more = {});
  double deviance() const;
  Eigen::MatrixXd weighed_part(int experiment, std::span<const double> columns,
                               std::span<const double> sd_factors) const;
  std::vector<inverse::DeviationGroup> groups_of_factors() const;
  void require_more_data_than_variables(std::span<const inverse::DeviationGroup> groups) const;
  StudyFactors weigh(std::span<const double> x, std::span<const double> sd_factors) const;
  template <class Result>
  void require_all(const char* what, const std::vector<Result>& results) const;

  const parallel::Communicator& world_;
  const Study& study_;
  const StudyFolder& folder_;
  const ExperimentGroups& groups_;
  std::unique_ptr<DesignSpace> space_;
  std::map<std::string, double> frozen_;
  std::map<int, HostedExperiment> hosted_; ///< all that have been on this group
  std::unique_ptr<EvaluationLog> log_;     ///< on the first rank
  std::filesystem::path added_to_;         ///< the file of this group's evaluations, if they are kept
  std::filesystem::path summands_;         ///< the log of its summands
  std::filesystem::path known_runs_;       ///< their folder; empty without warm starts
  std::vector<std::string> last_run_;      ///< the name of its file, by experiment
  std::set<std::vector<double>> seen_;     ///< designs of value()
  Stopwatch watch_;
  double earlier_seconds_ = 0;

  std::vector<ExperimentValue> values_;
  std::vector<double> sweep_seconds_; ///< of the last sweeps, by experiment
  std::vector<double> costs_;
  std::vector<double> run_at_;    ///< the design of the last value()
  std::vector<int> runs_;         ///< the groups that hold the runs there; -1: none
  std::vector<int> first_groups_; ///< by experiment: the group that has read its meshes
  bool is_frozen_ = false, uses_residuals_ = false, estimates_factors_ = false, follows_paths_ = false;
  std::vector<double> path_start_;   ///< a design
  std::vector<ObjectiveKind> kinds_; ///< by experiment
  std::string not_squares_;
  StudyFactors factors_;
  std::vector<double> factor_at_;                       ///< the design of factors_
  std::vector<std::vector<double>> experiment_columns_; ///< ExperimentFactor::columns there
  std::vector<char> dropped_;                           ///< by experiment; candidates never have a part
  inverse::GaussianPrior prior_;
  bool has_bounds_ = false;
  Totals totals_;
};

} // namespace recoil::app
