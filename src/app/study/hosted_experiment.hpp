#pragma once

#include <memory>
#include <vector>

#include "app/study/evaluation_log.hpp"
#include "app/study/experiment_groups.hpp"
#include "app/study/experiment_model.hpp"
#include "app/study/residual_report.hpp"

namespace recoil::app {

/// An experiment on the ranks of one group, as a function of what an optimiser sees of the parameters of its
/// study. `values` and `x` are those of the DesignSpace. All members are collective over the group.
class HostedExperiment {
public:
  /// Reads the scene in `folder` and its meshes. Everything must outlive it. @throws as
  /// ExperimentModel::create().
  HostedExperiment(const ExperimentGroups& group, const Study& study, int experiment,
                   const ExperimentFolder& folder);

  ExperimentModel& model() { return *model_; }
  /// What the experiment takes of the values.
  ParameterValues values_of(const DesignSpace& space, std::span<const double> values);

  ExperimentValue run(const DesignSpace& space, std::span<const double> values);
  ExperimentGradient sweep(const DesignSpace& space, std::span<const double> values);
  /// The factor of [dr/dx r] without the columns of variables that the experiment does not know.
  ExperimentFactor factorise(const DesignSpace& space, std::span<const double> x);
  /// (dr/dq)' (dr/dq) times a change of the values.
  ExperimentProduct multiply(const DesignSpace& space, std::span<const double> values,
                             std::span<const double> change);

  /// What is left of the observations there.
  ExperimentResiduals summarise(const DesignSpace& space, std::span<const double> values);

private:
  std::vector<double> sum_over_group(const DesignSpace& space, const ParameterValues& gradient) const;

  const parallel::Communicator& comm_;
  std::unique_ptr<ExperimentModel> model_;
  inverse::ReducedObjective objective_;
  std::vector<std::vector<std::size_t>> numbers_; ///< of DesignSpace, per field and entry
};

} // namespace recoil::app
