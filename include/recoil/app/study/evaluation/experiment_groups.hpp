#pragma once

#include <functional>
#include <vector>

#include "recoil/app/run/interrupts.hpp"

namespace recoil::app {

/// The group of each experiment, where those of the largest cost are distributed first, each to the group
/// with the least to do; -1 where `is_wanted` is zero. Not collective.
std::vector<int> distribute(const std::vector<double>& costs, const std::vector<char>& is_wanted, int groups);

/// Parts of the ranks that run whole experiments, each on a communicator of its own.
class ExperimentGroups {
public:
  /// Splits `world` into `count` parts of nearly the same size. Collective.
  ExperimentGroups(const parallel::Communicator& world, int count)
      : world_(world), count_(count), own_(world.rank() * count / world.size()), comm_(world.split(own_)),
        interrupts_(comm_) {}

  int count() const { return count_; }
  int own() const { return own_; }
  const parallel::Communicator& world() const { return world_; }
  const parallel::Communicator& comm() const { return comm_; }
  const Interrupts& interrupts() const { return interrupts_; }
  /// The first rank of a group.
  int root(int group) const { return (group * world_.size() + count_ - 1) / count_; }

  enum class AfterSignal { stops, goes_on };
  /// Does work(e) for the experiments e of this group, and makes what a group throws an error of all ranks:
  /// Error of ExitCode::interrupted after a signal, unless it `goes_on`. Collective over all ranks; what
  /// `work` does is so over those of a group.
  void work_on(const std::vector<int>& group_of, const std::function<void(int)>& work,
               AfterSignal after_signal = AfterSignal::stops) const;

private:
  const parallel::Communicator& world_;
  int count_, own_;
  parallel::Communicator comm_;
  Interrupts interrupts_;
};

} // namespace recoil::app
