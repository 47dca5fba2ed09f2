#include "inverse/shared_work.hpp"

#include <exception>

namespace recoil::inverse {

void SharedWork::lead(const std::function<void()>& algorithm) {
  std::vector<double> request; // none: the end
  std::exception_ptr own;      // of the first rank alone
  if (comm_.rank() == 0) {
    try {
      algorithm();
    } catch (...) {
      if (is_at_work_) throw;
      own = std::current_exception();
    }
    comm_.broadcast(request);
  } else {
    for (comm_.broadcast(request); !request.empty(); comm_.broadcast(request)) work(request);
  }
  parallel::collectively(comm_, [&] {
    if (own) std::rethrow_exception(own);
  });
}

void SharedWork::ask(std::vector<double> request) {
  comm_.broadcast(request);
  work(request);
}

void SharedWork::work(std::span<const double> request) {
  is_at_work_ = true;
  work_(request);
  is_at_work_ = false;
}

} // namespace recoil::inverse
