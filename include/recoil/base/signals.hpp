#pragma once

#include <csignal>

namespace recoil {

/// While one lives, SIGUSR1 and SIGTERM do not end the process but set a flag that long computations read.
/// They nest: all see the signals since the first one, and the last one restores the previous handlers.
/// Signals reach single ranks: agree on pending() with Communicator::any.
class InterruptSignals {
public:
  /// @throws LibraryError when a handler cannot be installed.
  InterruptSignals();
  InterruptSignals(const InterruptSignals&) = delete;
  InterruptSignals& operator=(const InterruptSignals&) = delete;
  ~InterruptSignals();

  /// Handles the signals from now to the end of the process, static destructors included, instead of the life
  /// of an object: meant to come first in main(). @throws LibraryError like the constructor.
  static void hold_until_exit();
  /// Takes hold_until_exit() back in a command that has nothing to save; a signal that has come meanwhile is
  /// delivered to the handler from before, by default the end of the process.
  static void let_go();

  /// Counts Ctrl-C (SIGINT) among the signals from now on, for programs that go on after it. @pre none lives.
  static void catch_keyboard();
  /// Gives the signals back to the previous handlers until the next one is made, though others live: for
  /// programs in which nothing runs between two calls. What has come stays known.
  static void suspend() noexcept;

  /// True once a signal has come. Not collective.
  bool pending() const noexcept;
  /// Number of the last signal that came (SIGUSR1, SIGTERM, SIGINT), 0 for none.
  int signal() const noexcept;
  /// Forgets the signals that have come.
  void clear() noexcept;
};

/// While one lives, SIGUSR1 and SIGTERM wait, and afterwards the handlers of InterruptSignals stand as
/// before. For calls that may come to METIS: it takes SIGTERM for an error of its own and jumps out of its
/// work, and the handlers that it puts back forget themselves after one signal. They nest. On the main
/// thread.
class DeferredSignals {
public:
  DeferredSignals() noexcept;
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
  ~DeferredSignals();

private:
  sigset_t mask_before_;
};

} // namespace recoil
