#pragma once

#include <memory>
#include <vector>

#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/inverse/stored_states.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {

/// How the steps of a stored run came about.
std::vector<stepping::StepRecord> step_records(const std::vector<checkpoint::StateRecord>& records);

/// The states of a run folder.
class TrajectoryStates final : public inverse::StateStore {
public:
  /// `space`: of the run; its communicator must outlive this. Collective.
  template <int dim>
  TrajectoryStates(checkpoint::TrajectoryReader reader, const fem::FunctionSpace<dim>& space);

  bool has(GlobalIndex id) const override { return reader_.has_arrays(id); }
  stepping::State read(GlobalIndex id) override;
  void prefetch(GlobalIndex id) override { reader_.prefetch(id); }
  inverse::RestartData restart_data(GlobalIndex id) override;
  /// The nodes as they lie in the trajectory.
  const io::BlockLayout& nodes() const { return nodes_; }

private:
  checkpoint::TrajectoryReader reader_;
  std::shared_ptr<const linalg::VectorLayout> layout_;
  io::BlockLayout nodes_;
};

} // namespace recoil::app
