#pragma once

#include <csignal>

#include <sys/resource.h>

namespace recoil::testing {

/// While it lives, this process can make no file longer than `bytes`: what a full disk looks like to it.
class LimitedFileSize {
public:
  explicit LimitedFileSize(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LimitedFileSize() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  LimitedFileSize(const LimitedFileSize&) = delete;
  LimitedFileSize& operator=(const LimitedFileSize&) = delete;

private:
  void (*handler_)(int);
  rlimit before_ = {};
};

} // namespace recoil::testing
