#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "recoil/particles/fragments.hpp"

namespace {

std::atomic<std::size_t> bytes_in_use = 0, most_bytes = 0;

} // namespace

// Those of this program, so that what a call takes at most can be told.
void* operator new(std::size_t bytes) {
  void* const place = std::malloc(bytes);
  if (place == nullptr) throw std::bad_alloc();
  bytes_in_use += malloc_usable_size(place);
  most_bytes = std::max(most_bytes.load(), bytes_in_use.load());
  return place;
}

void operator delete(void* place) noexcept {
  bytes_in_use -= malloc_usable_size(place);
  std::free(place);
}

void operator delete(void* place, std::size_t) noexcept { ::operator delete(place); }

namespace recoil::particles {

namespace fragments_memory_test {

/// The most memory that find_fragments() takes on this rank [bytes], of `count` particles on the ranks of
/// `comm`, bonded in pairs or not at all. Collective.
std::size_t memory(const parallel::Communicator& comm, int count, bool pairs) {
  ParticleSet set;
  if (comm.rank() == 0) {
    set.body_names = {"body"};
    for (int i = 0; i < count; ++i) set.positions.emplace_back(i, 0, 0);
    set.radii.assign(count, 0.1);
    set.volumes.assign(count, 1.0);
    set.body.assign(count, 0);
    for (std::int64_t i = 0; pairs && i < count; i += 2) set.bonds.push_back({i, i + 1});
  }
  const DistributedParticles particles = distribute(comm, set);
  const std::vector<char> broken(particles.bonds.size(), 0);
  const std::size_t before = bytes_in_use;
  most_bytes = before;
  const Fragments found = find_fragments(particles, broken);
  EXPECT_EQ(found.count, pairs ? count / 2 : count);
  return most_bytes - before;
}

TEST(FragmentsMemory, GrowsWithTheParticlesOfARank) {
  const parallel::Communicator all(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const int per_rank = 10000;
  for (const bool pairs : {false, true}) {
    const std::size_t alone = memory(self, per_rank, pairs);
    EXPECT_GT(alone, per_rank * sizeof(GlobalIndex));
    EXPECT_LE(double(memory(all, per_rank * all.size(), pairs)), 1.1 * double(alone)) << "pairs: " << pairs;
  }
}

} // namespace fragments_memory_test

} // namespace recoil::particles
