#include "recoil/base/signals.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <span>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil {

namespace {

constexpr int numbers_of_signals[] = {SIGUSR1, SIGTERM, SIGINT};
std::size_t num_caught = 2; // the last one after catch_keyboard()
std::span<const int> caught() { return {numbers_of_signals, num_caught}; }

std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free objects");
int alive = 0;
bool held = false;      // one of those alive is that of hold_until_exit()
bool installed = false; // the handlers stand
struct sigaction previous[3];

extern "C" void remember_signal(int number) { last_signal.store(number, std::memory_order_relaxed); }

struct sigaction remembering() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART; // interrupted reads and writes are resumed instead of failing with EINTR
  sigemptyset(&action.sa_mask);
  return action;
}

/// Puts the previous handlers of the first `count` signals back.
void restore(std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) sigaction(numbers_of_signals[i], &previous[i], nullptr);
  installed = false;
}

void install() {
  last_signal.store(0, std::memory_order_relaxed);
  const struct sigaction action = remembering();
  for (std::size_t i = 0; i < num_caught; ++i) {
    if (sigaction(numbers_of_signals[i], &action, &previous[i]) == 0) continue;
    const std::string reason = std::strerror(errno);
    restore(i);
    throw LibraryError("cannot handle signal " + std::to_string(numbers_of_signals[i]) + ": " + reason);
  }
  installed = true;
}

void begin() {
  if (!installed) install();
  ++alive;
}

void end() noexcept {
  if (--alive == 0) InterruptSignals::suspend();
}

} // namespace

InterruptSignals::InterruptSignals() { begin(); }
InterruptSignals::~InterruptSignals() { end(); }

void InterruptSignals::hold_until_exit() {
  if (!held) begin();
  held = true;
}

void InterruptSignals::let_go() {
  if (!held) return;
  held = false;
  end();
  if (const int number = last_signal.load(std::memory_order_relaxed); alive == 0 && number != 0)
    std::raise(number);
}

void InterruptSignals::catch_keyboard() {
  RECOIL_ASSERT(!installed);
  num_caught = std::size(numbers_of_signals);
}

void InterruptSignals::suspend() noexcept {
  if (installed) restore(num_caught);
}

bool InterruptSignals::pending() const noexcept { return signal() != 0; }
int InterruptSignals::signal() const noexcept { return last_signal.load(std::memory_order_relaxed); }
void InterruptSignals::clear() noexcept { last_signal.store(0, std::memory_order_relaxed); }

DeferredSignals::DeferredSignals() noexcept {
  sigset_t deferred;
  sigemptyset(&deferred);
  for (const int number : caught()) sigaddset(&deferred, number);
  pthread_sigmask(SIG_BLOCK, &deferred, &mask_before_);
}

DeferredSignals::~DeferredSignals() {
  const struct sigaction action = remembering();
  if (installed)
    for (const int number : caught()) sigaction(number, &action, nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

} // namespace recoil
