#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace recoil {

/// Estimates how long the rest of a run takes from the steps done so far: an average of their wall times in
/// which the weight of a step halves every 10 steps, so that a change of pace (contact begins) is followed.
class RemainingTime {
public:
  explicit RemainingTime(std::int64_t total_steps) : total_(total_steps) {}
  /// Records a step that took `seconds` of wall time.
  void step_done(double seconds);
  /// Skips steps done by an earlier run (restart).
  void skip(std::int64_t steps) { done_ += steps; }
  std::int64_t done() const { return done_; }
  std::int64_t total() const { return total_; }
  /// Seconds left; 0 when done, negative while nothing is known.
  double seconds_left() const;

private:
  std::int64_t total_, done_ = 0;
  double weighted_seconds_ = 0, weight_ = 0;
};

/// "42 s", "3 min 05 s", "2 h 07 min", "3 d 04 h"; "unknown" for a negative or non-finite value.
std::string format_duration(double seconds);

/// A line at the foot of a terminal that is redrawn in place; log lines appear above it. Does nothing where
/// standard output is no terminal, in quiet and JSON-lines mode, and on ranks other than 0. One at a time.
class ProgressLine {
public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Wipes the line.
  ~ProgressLine();
  /// Shows `text`, cut to the width of the terminal; at most 10 times a second unless `now`.
  void show(std::string_view text, bool now = false);
  /// Shows "[#####.....] step 5/10, 42 s left".
  void show(const RemainingTime& time);

private:
  double last_shown_ = -1;
};

} // namespace recoil
