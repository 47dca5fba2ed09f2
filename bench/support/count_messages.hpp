#pragma once

#include "recoil/parallel/communicator.hpp"

/// Counters for benches.
namespace recoil::bench {

/// What this rank handed to MPI, counted at MPI's profiling interface: whatever the library sends is seen,
/// not what it says about itself.
struct Messages {
  GlobalIndex count = 0, bytes = 0; ///< sent to single ranks
  GlobalIndex collectives = 0;      ///< calls that all ranks join, barriers included
  GlobalIndex gathered_bytes = 0;   ///< received in all-gathers: grows with the number of ranks
  friend Messages operator-(const Messages& a, const Messages& b) {
    return {a.count - b.count, a.bytes - b.bytes, a.collectives - b.collectives,
            a.gathered_bytes - b.gathered_bytes};
  }
};

/// All since the start of the program. Not collective.
Messages messages_sent();

/// A counter over all ranks.
struct OverRanks {
  GlobalIndex sum, max;
};

/// Collective.
inline OverRanks over_ranks(const parallel::Communicator& comm, GlobalIndex value) {
  return {comm.sum(value), comm.max(value)};
}

} // namespace recoil::bench
