#pragma once

#include <optional>
#include <utility>

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
  /// Runs `work`, which listens itself: a process has one set of handlers at a time. A signal in the moment
  /// of handing over ends the process; what is on disk then is as good as after a kill.
  template <class Work>
  auto lend(Work&& work) {
    stop_if_pending();
    const bool listened = signals_.has_value();
    signals_.reset();
    auto result = std::forward<Work>(work)();
    if (listened) signals_.emplace();
    return result;
  }

private:
  const parallel::Communicator& comm_;
  std::optional<InterruptSignals> signals_;
};

} // namespace recoil::app
