#include "base/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/posix_file.hpp"

namespace recoil {

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
  const std::lock_guard lock(mutex_);
  const std::size_t width = allowed_ ? terminal_width() : 0;
  if (!status_.empty()) wipe();
  status_ = width > 1 ? status.substr(0, width - 1) : ""; // a full line would wrap and could not be wiped
  if (!status_.empty()) draw();
}

void Console::allow_status(bool allowed) {
  if (!allowed) set_status("");
  const std::lock_guard lock(mutex_);
  allowed_ = allowed;
}

bool Console::shows_status() {
  const std::lock_guard lock(mutex_);
  return allowed_ && terminal_width() > 1;
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
