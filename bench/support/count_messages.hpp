#pragma once

#include "recoil/parallel/communicator.hpp"

/// Counters for benches, taken at MPI's profiling interface: independent of the statistics of libraries.
namespace recoil::bench {

/// What this rank handed to MPI.
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

/// Processor seconds of the calling thread since its start, less those within MPI and in loops that poll it:
/// its share of the work, without waiting, whatever else runs on the machine. What MPI itself does with
/// messages (copies, sums) is left out, and so are MPI's calls of MUMPS, which as Fortran's pass this
/// interface by and count as work. The kernel's time is in it, above all for pages that are touched first:
/// user time alone is told by ticks on usual kernels, which guess how each call of MPI is to be split. Not
/// collective.
double computing_seconds();

/// A counter over all ranks.
struct OverRanks {
  GlobalIndex sum, max;
};

/// Collective.
inline OverRanks over_ranks(const parallel::Communicator& comm, GlobalIndex value) {
  return {comm.sum(value), comm.max(value)};
}

} // namespace recoil::bench
