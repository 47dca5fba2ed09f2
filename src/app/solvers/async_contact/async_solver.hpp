#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/solvers/async_contact/async_model.hpp"
#include "recoil/solvers/async_contact/integrator.hpp"
#include "recoil/stepping/solver.hpp"

namespace recoil::app {

/// Asynchronous contact behind the steps of a run: each of them lets the integrator, which has clocks of its
/// own, come to the end of the step. Ranks share the events; all hold all vertices, and the first one the
/// vectors of the states.
class AsyncSolver final : public stepping::Solver {
public:
  /// `model`: the same on all ranks. Collective. @throws InputError on every rank if bodies touch at the
  /// start.
  AsyncSolver(const parallel::Communicator& comm, AsyncModel model, const TimeSpec& time,
              solvers::async_contact::Certificates certificates);

  GlobalIndex step() const override { return step_; }
  double time() const override { return t0_ + static_cast<double>(step_) * dt_; }
  double start_time() const override { return t0_; }
  const stepping::History& history() const override { return history_; }
  std::shared_ptr<const linalg::VectorLayout> layout() const override { return layout_; }

  stepping::RestartData restart_data() const override;
  /// After restore_state(). The positions of `states` are not looked at: the integrator keeps each vertex
  /// where it was last moved.
  void continue_from(const stepping::RestartData& data, std::vector<stepping::State> states) override;
  stepping::StepOutcome advance(const OnState& on_state, int sub_steps) override;
  void interrupt_when(std::function<bool()> interrupted) override { interrupted_ = std::move(interrupted); }

  stepping::Entries effort() const override;
  stepping::Balance balance() const override;
  std::string fault() const override;
  std::string warning() const override;
  stepping::Entries counts() const override;
  stepping::Entries summary() const override;
  std::string description() const override;

  const parallel::Communicator& comm() const { return comm_; }
  const AsyncModel& model() const { return model_; }
  /// The state at the end of the last step.
  const solvers::async_contact::IntegratorState& state() const { return state_; }
  /// The state that continue_from() then continues from.
  void restore_state(solvers::async_contact::IntegratorState state) { state_ = std::move(state); }

private:
  struct Chunk {
    bool done = false;
    solvers::async_contact::Outcome outcome = solvers::async_contact::Outcome::reached;
  };
  Chunk take_chunk(double end);
  bool is_shared() const { return comm_.size() > 1; }
  void measure();
  /// Share of the largest energy that nothing accounts for.
  double energy_error() const;
  /// The same of the linear momentum, over the largest of its terms or that of the total mass with this
  /// energy.
  double momentum_error() const;
  void push_state(GlobalIndex id);

  const parallel::Communicator& comm_;
  AsyncModel model_;
  double t0_, dt_;
  solvers::async_contact::Certificates certificates_;
  std::unique_ptr<solvers::async_contact::Integrator> integrator_;
  solvers::async_contact::IntegratorState state_;
  std::shared_ptr<const linalg::VectorLayout> layout_;
  stepping::History history_;
  std::function<bool()> interrupted_;
  GlobalIndex step_ = 0;
  double chunk_; ///< time between looks at signals [s]

  // The same on all ranks, of the state at the end of the last step.
  std::vector<double> numbers_;         ///< energies and momenta
  std::vector<double> start_;           ///< the same of the initial state
  double energy_scale_ = 0;             ///< the largest sum of energies so far [J]
  double total_mass_ = 0;               ///< of what is not prescribed [kg]
  double smallest_gap_ = 0;             ///< infinite: no pair is in contact
  GlobalIndex forces_ = 0, events_ = 0; ///< of the run
  GlobalIndex forces_of_step_ = 0, deepest_ = 0, intersections_ = 0;
  solvers::async_contact::Counts
      taken_; ///< part of the integrator's counts that is in `forces_` and `events_`
};

} // namespace recoil::app
