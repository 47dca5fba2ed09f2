#include "recoil/base/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/console.hpp"

namespace recoil {

void RemainingTime::step_done(double seconds) {
  const double decay = std::exp2(-0.1); // halves in 10 steps
  weighted_seconds_ = decay * weighted_seconds_ + seconds;
  weight_ = decay * weight_ + 1;
  ++done_;
}

double RemainingTime::seconds_left() const {
  if (done_ >= total_) return 0;
  if (weight_ == 0) return -1;
  return (total_ - done_) * weighted_seconds_ / weight_;
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e12) return "unknown";
  const auto whole = static_cast<long long>(std::llround(seconds));
  const long long minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  char text[64];
  if (seconds < 9.95 && seconds > 0)
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  else if (minutes == 0)
    std::snprintf(text, sizeof text, "%lld s", whole);
  else if (hours == 0)
    std::snprintf(text, sizeof text, "%lld min %02lld s", minutes, whole % 60);
  else if (days == 0)
    std::snprintf(text, sizeof text, "%lld h %02lld min", hours, minutes % 60);
  else
    std::snprintf(text, sizeof text, "%lld d %02lld h", days, hours % 24);
  return text;
}

ProgressLine::~ProgressLine() {
  if (last_shown_ >= 0) Console::instance().set_status("");
}

void ProgressLine::show(std::string_view text, bool now) {
  Console& console = Console::instance();
  if (!console.shows_status()) return;
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  const double time = std::chrono::duration<double>(since_start).count();
  if (!now && last_shown_ >= 0 && time - last_shown_ < 0.1) return;
  console.set_status(text);
  last_shown_ = time;
}

void ProgressLine::show(const RemainingTime& time) {
  constexpr int width = 20;
  const double fraction =
      time.total() > 0 ? static_cast<double>(time.done()) / static_cast<double>(time.total()) : 1.0;
  const int filled = std::clamp(static_cast<int>(fraction * width), 0, width);
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  const double left = time.seconds_left();
  show("[" + bar + "] step " + std::to_string(time.done()) + "/" + std::to_string(time.total()) +
       (left >= 0 ? ", " + format_duration(left) + " left" : ""));
}

} // namespace recoil
