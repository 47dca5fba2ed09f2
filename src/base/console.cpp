#include "base/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace recoil {

namespace {

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
  return 80;
}

} // namespace

Console& Console::instance() {
  // Never destroyed, so that objects of static life can still write at the end of the program.
  static Console* console = new Console;
  return *console;
}

void Console::write_line(std::FILE* stream, std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (!status_.empty()) wipe();
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fputc('\n', stream);
  std::fflush(stream);
  if (!status_.empty()) draw();
}

void Console::set_status(std::string_view status) {
  if (!shows_status()) return;
  const std::lock_guard lock(mutex_);
  if (!status_.empty()) wipe();
  status_ = status.substr(0, terminal_width() - 1); // a full line would wrap and could not be wiped
  if (!status_.empty()) draw();
  std::fflush(stdout);
}

void Console::allow_status(bool allowed) {
  if (!allowed) set_status("");
  const std::lock_guard lock(mutex_);
  allowed_ = allowed;
}

bool Console::shows_status() {
  const std::lock_guard lock(mutex_);
  return allowed_ && ::isatty(STDOUT_FILENO);
}

void Console::wipe() {
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

void Console::draw() {
  std::fwrite(status_.data(), 1, status_.size(), stdout);
  std::fflush(stdout);
}

} // namespace recoil
