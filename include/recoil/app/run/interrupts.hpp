#pragma once

#include <functional>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// SIGUSR1 and SIGTERM over all stages of a command, as all ranks agree on them. `comm` must outlive it. All
/// members are collective, and so is what watch() returns.
class Interrupts {
public:
  explicit Interrupts(const parallel::Communicator& comm) : comm_(comm) {}
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  bool pending() const { return comm_.any(signals_.pending()); }
  /// pending() for solvers; must not outlive this.
  std::function<bool()> watch() const {
    return [this] { return pending(); };
  }
  /// Between the stages of a set-up. @throws Error of ExitCode::interrupted on every rank if a signal has
  /// come.
  void stop_if_pending() const {
    if (pending()) throw Error(ExitCode::interrupted, "interrupted; run again with --restart to continue");
  }

private:
  const parallel::Communicator& comm_;
  InterruptSignals signals_;
};

} // namespace recoil::app
