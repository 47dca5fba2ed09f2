#pragma once

#include <functional>
#include <span>
#include <vector>

#include "recoil/parallel/communicator.hpp"

namespace recoil::inverse {

/// Work that all ranks do together, as often as an algorithm asks for it that runs on the first rank alone.
class SharedWork {
public:
  /// Does what a request, which is not empty, asks for. Collective; what it throws, it throws on every rank.
  using Work = std::function<void(std::span<const double> request)>;

  /// `comm` must outlive it.
  SharedWork(const parallel::Communicator& comm, Work work) : comm_(comm), work_(std::move(work)) {}

  /// Runs `algorithm` on the first rank, while the others wait for what it asks for. What it or the work
  /// throws is thrown on every rank. Collective.
  void lead(const std::function<void()>& algorithm);
  /// Within `algorithm`: does what `request` asks for, with everybody.
  void ask(std::vector<double> request);

private:
  void work(std::span<const double> request);

  const parallel::Communicator& comm_;
  Work work_;
  bool is_at_work_ = false; ///< after an exception: it was thrown on every rank
};

} // namespace recoil::inverse
