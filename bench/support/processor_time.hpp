#pragma once

#include <algorithm>
#include <ctime>

#include "recoil/parallel/communicator.hpp"

namespace recoil::bench {

/// Processor seconds of this rank in `work`; it does not mind what else runs on the machine as wall time
/// does, and contains the waiting for messages. Not collective.
template <class Work>
double processor_seconds(Work&& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// The smallest of some repeats of what `seconds` measures: the rest is the machine's.
template <class Seconds>
double smallest(int repeats, Seconds&& seconds) {
  double least = seconds();
  for (int i = 1; i < repeats; ++i) least = std::min(least, seconds());
  return least;
}

/// That of the slowest rank, from a common start. Collective.
template <class Work>
double slowest_processor_seconds(const parallel::Communicator& comm, Work&& work) {
  comm.barrier();
  return comm.max(processor_seconds(work));
}

} // namespace recoil::bench
