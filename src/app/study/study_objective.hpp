#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "app/study/evaluation_log.hpp"
#include "app/study/gradient_job.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/inverse/optimize.hpp"

namespace recoil::app {

/// Parts of the ranks that run whole experiments, each on a communicator of its own.
class ExperimentGroups {
public:
  /// Splits `world` into `count` parts of nearly the same size. Collective.
  ExperimentGroups(const parallel::Communicator& world, int count)
      : world_size_(world.size()), count_(count), own_(group_of(world.rank())), comm_(world.split(own_)),
        interrupts_(comm_) {}

  int count() const { return count_; }
  int own() const { return own_; }
  const parallel::Communicator& comm() const { return comm_; }
  const Interrupts& interrupts() const { return interrupts_; }
  /// The first rank of a group.
  int root(int group) const { return (group * world_size_ + count_ - 1) / count_; }

private:
  int group_of(int rank) const { return rank * count_ / world_size_; }

  int world_size_, count_, own_;
  parallel::Communicator comm_;
  Interrupts interrupts_;
};

/// Which of `groups` each experiment belongs to, so that those of the largest cost are dealt out first, each
/// to the group with the least to do; -1 where `is_wanted` is zero. Not collective.
std::vector<int> deal_out(const std::vector<double>& costs, const std::vector<char>& is_wanted, int groups);

/// The sum of the objectives of all experiments of a study as a function of what an optimiser sees of their
/// parameters. Whole experiments are run by groups of ranks side by side, dealt out anew for every evaluation
/// by what they have cost before, and summed in the order of the study, whatever the groups. What the log has
/// is not evaluated again. All members but the accessors are collective over all ranks; errors are the same
/// on all of them, Error of ExitCode::interrupted after a signal among them.
class StudyObjective final : public inverse::DesignObjective {
public:
  /// Builds every experiment once, from its scene in `folder`, and checks it at its start values. Everything
  /// must outlive it.
  StudyObjective(const parallel::Communicator& world, const Study& study, const StudyFolder& folder,
                 ExperimentGroups& groups);

  const DesignSpace& space() const { return *space_; }
  /// Freezes the barrier stiffness where it is adaptive, as GradientJob::freeze_stiffness(); before anything
  /// is evaluated.
  void freeze_stiffness();
  /// Barrier stiffnesses of pilot runs, by experiment.
  const std::map<std::string, double>& frozen() const { return frozen_; }
  /// From now on looks up evaluations in the log in `folder`, and adds to it. @throws FileError.
  void keep_in(const std::filesystem::path& folder);

  /// Writes the scenes of all experiments at x into `folder`, also after a signal. @throws FileError.
  void write_scenes(std::span<const double> x, const std::filesystem::path& folder);

  double value(std::span<const double> x) override;
  std::vector<double> gradient(std::span<const double> x) override;

  /// From now on gradients come from residuals, and the Hessian is that of Gauss-Newton: as a matrix, from
  /// the factor(), or for more than most_factored variables by products. @pre is_least_squares().
  void use_residuals() { uses_residuals_ = true; }
  /// Why the objective is no sum of squares; empty if it is one.
  const std::string& why_not_least_squares() const { return not_squares_; }
  /// Whether it is the chi^2 of data, in their standard deviations, each of which counts once.
  bool is_chi_squared() const { return is_chi_squared_; }
  inverse::HessianForm hessian_form() const override;
  std::vector<double> hessian(std::span<const double> x) override;
  std::vector<double> hessian_product(std::span<const double> x, std::span<const double> d) override;
  /// The upper triangular factor of [dr/dx r] over all experiments, (n + 1) x (n + 1).
  const Eigen::MatrixXd& factor(std::span<const double> x);
  /// How many data the sum of squares has.
  GlobalIndex num_data() const;
  /// From now on leaves out the experiments that had no value in the last value(). @throws Error if none is
  /// left.
  void drop_failed();
  const std::vector<char>& dropped() const { return dropped_; }
  static constexpr std::size_t most_factored = 50;
  /// What the experiments came to in the last value().
  const std::vector<ExperimentValue>& values() const { return values_; }
  /// The experiments that have no value there, and why; empty if all have one.
  std::string failure() const;

  struct Totals {
    int evaluations = 0, gradient_evaluations = 0; ///< of the sum, those in the log included
    double forward_seconds = 0, sweep_seconds = 0; ///< over all experiments
  };
  const Totals& totals() const { return totals_; }
  /// Wall time of this and earlier processes [s]. Not collective.
  double wall_seconds() const { return earlier_seconds_ + watch_.seconds(); }

private:
  /// An experiment on the ranks of this group.
  struct Hosted {
    std::unique_ptr<GradientJob> job;
    std::unique_ptr<inverse::ReducedObjective> objective;
    std::vector<std::vector<std::size_t>> numbers; ///< of DesignSpace, per field and entry
  };

  std::vector<int> deal_out_all() const;
  Hosted& host(int experiment);
  inverse::ParameterValues values_of(Hosted& hosted, int experiment, std::span<const double> values);
  inverse::ReducedObjective& reduced(int experiment);
  ExperimentValue run(int experiment, std::span<const double> values);
  ExperimentGradient sweep(int experiment, std::span<const double> values);
  ExperimentFactor factorise(int experiment, std::span<const double> x);
  ExperimentProduct multiply(int experiment, std::span<const double> values, std::span<const double> change);
  std::vector<double> sum_over_group(const Hosted& hosted, const inverse::ParameterValues& gradient) const;
  enum class AfterSignal { stops, goes_on };
  template <class Work>
  void work_on(const std::vector<int>& group_of, Work work, AfterSignal after_signal = AfterSignal::stops);
  template <class Result, class Work>
  std::vector<Result> evaluate(std::span<const double> design, std::vector<int>& group_of, Work work);
  template <class Result, class Work>
  std::vector<Result> differentiate(const char* what, Work work, std::span<const double> x,
                                    std::span<const double> direction = {});

  const parallel::Communicator& world_;
  const Study& study_;
  const StudyFolder& folder_;
  ExperimentGroups& groups_;
  std::unique_ptr<DesignSpace> space_;
  std::map<std::string, double> frozen_;
  std::map<int, Hosted> hosted_;
  std::unique_ptr<EvaluationLog> log_;       ///< on the first rank
  std::unique_ptr<EvaluationWriter> writer_; ///< on the first rank of each group
  Stopwatch watch_;
  double earlier_seconds_ = 0;

  std::vector<ExperimentValue> values_;
  std::vector<double> sweep_seconds_; ///< of the last sweeps, by experiment
  std::vector<double> costs_;
  std::vector<double> run_at_;    ///< the design of the last value()
  std::vector<int> runs_;         ///< the groups that hold the runs there; -1: none
  std::vector<int> first_groups_; ///< that have read the meshes of the experiments
  bool is_frozen_ = false, uses_residuals_ = false, is_chi_squared_ = true;
  std::string not_squares_;
  Eigen::MatrixXd factor_;
  std::vector<double> factor_at_; ///< the design of factor_
  std::vector<char> dropped_;     ///< by experiment
  std::vector<GlobalIndex> data_; ///< by experiment
  std::vector<inverse::Prior> priors_;
  Totals totals_;
};

} // namespace recoil::app
