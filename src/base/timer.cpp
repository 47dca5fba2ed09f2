#include "recoil/base/timer.hpp"

#include <sys/resource.h>

namespace recoil {

namespace {

const PhaseTimers::Phase* find_phase(const std::deque<PhaseTimers::Phase>& phases, std::string_view name) {
  for (const auto& phase : phases)
    if (phase.name == name) return &phase;
  return nullptr;
}

} // namespace

double PhaseTimers::seconds(std::string_view name) const {
  const Phase* phase = find_phase(phases_, name);
  return phase ? phase->seconds : 0;
}

std::int64_t PhaseTimers::calls(std::string_view name) const {
  const Phase* phase = find_phase(phases_, name);
  return phase ? phase->calls : 0;
}

void PhaseTimers::add(std::string_view name, double seconds) {
  Phase& phase = find(name);
  phase.seconds += seconds;
  ++phase.calls;
}

PhaseTimers::Phase& PhaseTimers::find(std::string_view name) {
  for (auto& phase : phases_)
    if (phase.name == name) return phase;
  phases_.emplace_back().name = name;
  return phases_.back();
}

void PhaseTimers::start(Phase& phase) {
  if (phase.depth_++ == 0) phase.start_ = Clock::now();
}

void PhaseTimers::stop(Phase& phase) {
  if (--phase.depth_ > 0) return;
  phase.seconds += std::chrono::duration<double>(Clock::now() - phase.start_).count();
  ++phase.calls;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr double unit_in_bytes = 1;
#else
  constexpr double unit_in_bytes = 1024;
#endif
  return usage.ru_maxrss * unit_in_bytes / 1e6;
}

} // namespace recoil
