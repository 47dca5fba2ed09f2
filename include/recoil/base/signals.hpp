#pragma once

namespace recoil {

/// While one lives, SIGUSR1 and SIGTERM do not end the process but set a flag that the time loop reads
/// between steps ("finish the step, write a checkpoint, exit 75"). They nest: all see the signals since the
/// first one, and the last one restores the previous handlers. Create it after MPI and PETSc, which install
/// handlers of their own, on the main thread. Signals reach single ranks: agree on pending() with
/// Communicator::any.
class InterruptSignals {
public:
  /// @throws LibraryError when a handler cannot be installed.
  InterruptSignals();
  InterruptSignals(const InterruptSignals&) = delete;
  InterruptSignals& operator=(const InterruptSignals&) = delete;
  ~InterruptSignals();

  /// True once a signal has come. Not collective.
  bool pending() const noexcept;
  /// Number of the last signal that came (SIGUSR1, SIGTERM), 0 for none.
  int signal() const noexcept;
  /// Forgets the signals that have come.
  void clear() noexcept;
};

} // namespace recoil
