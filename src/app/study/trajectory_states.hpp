#pragma once

#include "recoil/app/simulation/run_state.hpp"
#include "recoil/inverse/stored_states.hpp"

namespace recoil::app {

/// The states of a run folder.
class TrajectoryStates final : public inverse::StateStore {
public:
  /// `solver`: of the run, must outlive this; `nodes`: as they lie in the trajectory.
  TrajectoryStates(checkpoint::TrajectoryReader reader, const stepping::Solver& solver, io::BlockLayout nodes)
      : reader_(std::move(reader)), solver_(solver), nodes_(std::move(nodes)) {}

  bool has(GlobalIndex id) const override { return reader_.has_arrays(id); }
  stepping::State read(GlobalIndex id) override { return read_state(reader_, id, solver_, nodes_); }
  void prefetch(GlobalIndex id) override { reader_.prefetch(id); }
  stepping::RestartData restart_data(GlobalIndex id) override {
    return run_state_from_json(reader_.extra(id)).restart;
  }
  /// The nodes as they lie in the trajectory.
  const io::BlockLayout& nodes() const { return nodes_; }

private:
  checkpoint::TrajectoryReader reader_;
  const stepping::Solver& solver_;
  io::BlockLayout nodes_;
};

} // namespace recoil::app
