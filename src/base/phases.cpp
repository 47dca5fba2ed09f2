#include "recoil/base/phases.hpp"

#include <chrono>
#include <utility>

namespace recoil {

namespace {

using Clock = std::chrono::steady_clock;

struct Phases {
  std::array<Clock::duration, num_phases> spent{};
  Phase current = Phase::start_up;
  Clock::time_point since = Clock::now();
};

Phases phases;

/// From now on the time is that of `next`. Returns whose it was.
Phase enter(Phase next) {
  const Clock::time_point now = Clock::now();
  phases.spent[static_cast<std::size_t>(phases.current)] += now - phases.since;
  phases.since = now;
  return std::exchange(phases.current, next);
}

} // namespace

std::string_view name(Phase phase) {
  constexpr std::array<std::string_view, num_phases> names{"start_up",       "set_up", "assembly",
                                                           "preconditioner", "krylov", "contact",
                                                           "line_search",    "output", "other"};
  return names[static_cast<std::size_t>(phase)];
}

PhaseScope::PhaseScope(Phase phase) : outer_(enter(phase)) {}
PhaseScope::~PhaseScope() { enter(outer_); }

void end_start_up() { enter(Phase::set_up); }

std::array<double, num_phases> phase_seconds() {
  enter(phases.current);
  std::array<double, num_phases> seconds{};
  for (std::size_t i = 0; i < num_phases; ++i)
    seconds[i] = std::chrono::duration<double>(phases.spent[i]).count();
  return seconds;
}

} // namespace recoil
