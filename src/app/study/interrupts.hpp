#pragma once

#include <optional>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// SIGUSR1 and SIGTERM over all stages of a study. All members but listen() are collective.
class Interrupts {
public:
  explicit Interrupts(const parallel::Communicator& comm) : comm_(comm) {}

  /// From here on signals are remembered instead of ending the process: there is something to restart from.
  void listen() { signals_.emplace(); }
  bool pending() const { return comm_.any(signals_ && signals_->pending()); }
  /// @throws Error of ExitCode::interrupted on every rank if a signal has come.
  void stop_if_pending() const {
    if (pending()) throw Error(ExitCode::interrupted, "interrupted; run again with --restart to go on");
  }

private:
  const parallel::Communicator& comm_;
  std::optional<InterruptSignals> signals_;
};

} // namespace recoil::app
