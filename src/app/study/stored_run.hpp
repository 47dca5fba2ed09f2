#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <vector>

#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// How the steps of a stored run came about.
std::vector<stepping::StepRecord> step_records(const std::vector<checkpoint::StateRecord>& records);

/// The states of a run folder for the reverse sweep. What is stored is read when it is asked for, the file
/// of the states before ahead of time; what is not is computed anew from the last restart point before it, by
/// the solver of the run. Holds three states, or those between two stored ones.
template <int dim>
class StoredRun final : public adjoint::StateSource {
public:
  /// `solver` must be that of the run; everything must outlive this. Collective.
  /// @throws FileError on every rank.
  StoredRun(const parallel::Communicator& comm, const std::filesystem::path& trajectory,
            const io::BlockLayout& nodes, solvers::ElastodynamicsSolver<dim>& solver);

  const std::vector<stepping::StepRecord>& records() const { return records_; }
  /// @throws FileError, or SolverError where a repeated step does not converge. Collective.
  const stepping::State& state(GlobalIndex id) override;

private:
  stepping::State read(GlobalIndex id);
  void recompute(GlobalIndex id);
  const stepping::State* find(GlobalIndex id) const;

  const io::BlockLayout& nodes_;
  solvers::ElastodynamicsSolver<dim>& solver_;
  checkpoint::TrajectoryReader reader_;
  std::vector<stepping::StepRecord> records_;
  std::deque<stepping::State> recent_;              ///< read last
  std::map<GlobalIndex, stepping::State> computed_; ///< between two stored states
};

} // namespace recoil::app
