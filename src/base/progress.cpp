#include "recoil/base/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/console.hpp"
#include "base/posix_file.hpp"

namespace recoil {

namespace console {

namespace {

std::size_t width_of(int fd) {
  winsize size{};
  return ::isatty(fd) && ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Columns of the terminal behind standard output, 0 where there is none. mpirun gives its ranks a
// pseudo-terminal without a size, whatever its own output is: what counts then is the output of mpirun, the
// parent of a rank on the same host.
std::size_t terminal_width() {
  if (!::isatty(STDOUT_FILENO)) return 0;
  if (const std::size_t width = width_of(STDOUT_FILENO)) return width;
  const std::string of_parent = "/proc/" + std::to_string(::getppid()) + "/fd/1";
  const posix::Descriptor parent = posix::open(of_parent, O_WRONLY | O_NOCTTY | O_NONBLOCK);
  return parent.ok() ? width_of(parent.get()) : 0;
}

struct Terminal {
  std::mutex mutex;
  bool allowed = true;
  std::string status;

  void wipe() const { show(status.empty() ? "" : "\r\033[K"); }
  void draw() const { show(status); }

private:
  static void show(std::string_view text) {
    if (text.empty()) return;
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
};

Terminal& terminal() {
  // Never destroyed, so that objects of static life can still write at the end of the program.
  static auto* terminal = new Terminal;
  return *terminal;
}

} // namespace

void write_line(std::FILE* stream, std::string_view line) {
  Terminal& own = terminal();
  const std::lock_guard lock(own.mutex);
  own.wipe();
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fputc('\n', stream);
  std::fflush(stream);
  own.draw();
}

void set_status(std::string_view status) {
  Terminal& own = terminal();
  const std::lock_guard lock(own.mutex);
  const std::size_t width = own.allowed ? terminal_width() : 0;
  own.wipe();
  own.status = width > 1 ? status.substr(0, width - 1) : ""; // a full line would wrap and could not be wiped
  own.draw();
}

void allow_status(bool allowed) {
  if (!allowed) set_status("");
  const std::lock_guard lock(terminal().mutex);
  terminal().allowed = allowed;
}

bool shows_status() {
  const std::lock_guard lock(terminal().mutex);
  return terminal().allowed && terminal_width() > 1;
}

} // namespace console

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
  const long long whole = std::llround(seconds);
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
  if (last_shown_ >= 0) console::set_status("");
}

void ProgressLine::show(std::string_view text, bool now) {
  if (!console::shows_status()) return;
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  const double time = std::chrono::duration<double>(since_start).count();
  if (!now && last_shown_ >= 0 && time - last_shown_ < 0.1) return;
  console::set_status(text);
  last_shown_ = time;
}

void ProgressLine::show(const RemainingTime& time) {
  constexpr int width = 20;
  const double fraction = time.total() > 0 ? 1.0 * time.done() / time.total() : 1.0;
  const int filled = std::clamp(static_cast<int>(fraction * width), 0, width);
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  const double left = time.seconds_left();
  show("[" + bar + "] step " + std::to_string(time.done()) + "/" + std::to_string(time.total()) +
       (left >= 0 ? ", " + format_duration(left) + " left" : ""));
}

} // namespace recoil
