#pragma once

#include <array>
#include <string_view>

/// Where the wall time of this process goes. Every moment belongs to exactly one phase: while a scope is open
/// inside of another one, the time is that of the inner. Of the main thread; not collective.
namespace recoil {

enum class Phase {
  start_up,       ///< from the start of the process until MPI and PETSc are there
  set_up,         ///< reads, distributes and builds what is simulated; all outside of time steps and scopes
  assembly,       ///< forces and matrices
  preconditioner, ///< hierarchies and factorisations
  krylov,         ///< iterations of the linear solvers
  contact,        ///< searches, distances, collision times
  line_search,    ///< values on the way of a direction
  output,         ///< trajectories and tables, their reading included
  other           ///< all else in time steps
};
constexpr std::size_t num_phases = 9;

/// The name of a phase in files: "krylov".
std::string_view name(Phase phase);

/// Counts time for `phase` until it goes out of scope.
class PhaseScope {
public:
  explicit PhaseScope(Phase phase);
  ~PhaseScope();
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

private:
  Phase outer_;
};

/// Ends `start_up`, with which the process begins: time outside of scopes is `set_up` from here on.
void end_start_up();

/// Seconds of each phase so far, in the order of Phase; their sum is the age of the process since its
/// libraries were loaded.
std::array<double, num_phases> phase_seconds();

} // namespace recoil
