#include "recoil/base/signals.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil {

namespace {

constexpr int caught[] = {SIGUSR1, SIGTERM};

std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free objects");
int alive = 0;
bool held = false; // one of those alive is that of hold_until_exit()
struct sigaction previous[2];

extern "C" void remember_signal(int number) { last_signal.store(number, std::memory_order_relaxed); }

struct sigaction remembering() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART; // interrupted reads and writes are resumed instead of failing with EINTR
  sigemptyset(&action.sa_mask);
  return action;
}

void begin() {
  if (alive > 0) {
    ++alive;
    return;
  }
  last_signal.store(0, std::memory_order_relaxed);
  const struct sigaction action = remembering();
  for (int i = 0; i < 2; ++i) {
    if (sigaction(caught[i], &action, &previous[i]) == 0) continue;
    const std::string reason = std::strerror(errno);
    if (i == 1) sigaction(caught[0], &previous[0], nullptr);
    throw LibraryError("cannot handle signal " + std::to_string(caught[i]) + ": " + reason);
  }
  alive = 1;
}

void end() noexcept {
  if (--alive > 0) return;
  for (int i = 0; i < 2; ++i) sigaction(caught[i], &previous[i], nullptr);
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

bool InterruptSignals::pending() const noexcept { return signal() != 0; }
int InterruptSignals::signal() const noexcept { return last_signal.load(std::memory_order_relaxed); }
void InterruptSignals::clear() noexcept { last_signal.store(0, std::memory_order_relaxed); }

DeferredSignals::DeferredSignals() noexcept {
  sigset_t deferred;
  sigemptyset(&deferred);
  for (const int number : caught) sigaddset(&deferred, number);
  pthread_sigmask(SIG_BLOCK, &deferred, &mask_before_);
}

DeferredSignals::~DeferredSignals() {
  const struct sigaction action = remembering();
  if (alive > 0)
    for (const int number : caught) sigaction(number, &action, nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

} // namespace recoil
