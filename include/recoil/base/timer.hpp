#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace recoil {

/// Wall time accumulated by named phases of a program ("assembly", "linear_solve", "line_search",
/// "collision", "io"). A phase inside another one counts for both; a phase inside itself counts once. Not
/// thread safe; about 50 ns a scope.
class PhaseTimers {
  using Clock = std::chrono::steady_clock;

public:
  struct Phase {
    std::string name;
    double seconds = 0;
    std::int64_t calls = 0;

  private:
    friend class PhaseTimers;
    int depth_ = 0;
    Clock::time_point start_;
  };

  /// Runs a phase from construction to destruction; must not outlive the timers.
  class Scope {
  public:
    Scope(PhaseTimers& timers, std::string_view name) : phase_(timers.find(name)) { start(phase_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { stop(phase_); }

  private:
    Phase& phase_;
  };

  [[nodiscard]] Scope scope(std::string_view name) { return Scope(*this, name); }
  /// Seconds of finished calls of `name`; 0 for a phase that never ran.
  double seconds(std::string_view name) const;
  /// Number of outermost calls of `name`.
  std::int64_t calls(std::string_view name) const;
  /// All phases in the order of their first call.
  const std::deque<Phase>& phases() const { return phases_; }
  /// Adds time measured elsewhere.
  void add(std::string_view name, double seconds);
  /// Forgets all times; no scope may be open.
  void reset() { phases_.clear(); }

private:
  Phase& find(std::string_view name);
  static void start(Phase& phase);
  static void stop(Phase& phase);

  std::deque<Phase> phases_; // a deque keeps its elements in place while it grows
};

/// Wall time since construction or restart().
class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Peak resident memory of this process so far in MB (1e6 bytes), from getrusage.
double peak_memory_mb();

} // namespace recoil
