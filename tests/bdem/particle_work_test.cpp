#include <map>

#include <gtest/gtest.h>

#include "bdem/contacts.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/solvers/bdem/particle_work.hpp"

namespace recoil::solvers::testing {
namespace {

using Pair = std::array<GlobalIndex, 2>;

bool breaks(GlobalIndex bond) { return bond % 3 == 0; }

/// A block just above a floor; the ends of its broken bonds touch.
particles::ParticleSet block_above_floor() {
  particles::ParticleSet set = block(4, 3, 3, r);
  for (Vector3d& position : set.positions) position.z() += r + 0.4 * dhat;
  return set;
}

/// What work_of() should say, by id.
std::vector<GlobalIndex> expected_work(const particles::ParticleSet& set) {
  std::vector<GlobalIndex> work(set.positions.size(), 10);
  for (GlobalIndex bond = 0; bond < std::ssize(set.bonds); ++bond)
    for (const GlobalIndex end : set.bonds[bond]) work[end] += breaks(bond) ? 4 : 1;
  for (std::size_t k = 0; k < work.size(); ++k)
    if (set.positions[k].z() < r + dhat) work[k] += 4;
  return work;
}

TEST(ParticleWork, CountsBondsAndContactsOnAnyRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const particles::ParticleSet set = block_above_floor();
  BondedParticles problem = bonded(comm, set, {});
  std::vector<char> broken;
  for (const auto& bond : problem.particles->bonds) broken.push_back(breaks(bond.id) ? 1 : 0);
  problem.bonds->set_broken(broken);
  add_contact(problem, floor_plane());
  Vector u(problem.particles->points);
  for (LocalIndex k = 0; k < u.layout().num_local(); ++k)
    std::copy_n(problem.particles->positions[k].data(), 3, u.write_local().begin() + 7 * k);

  const ParticleWork work = work_of(problem, 0, u.owned());

  std::vector<double> sums(set.positions.size(), 0.0);
  for (LocalIndex k = 0; k < problem.particles->num_owned(); ++k)
    sums[problem.particles->ids[k]] = work.of_owned[k];
  comm.sum(sums);
  const std::vector<GlobalIndex> expected = expected_work(set);
  EXPECT_EQ(sums, std::vector<double>(expected.begin(), expected.end()));

  std::vector<GlobalIndex> ends;
  for (const Pair& pair : work.contacts) ends.insert(ends.end(), pair.begin(), pair.end());
  ends = comm.all_gather_parts(ends);
  std::map<Pair, int> times;
  for (std::size_t i = 0; i < ends.size(); i += 2) ++times[{ends[i], ends[i + 1]}];
  std::map<Pair, int> once;
  for (GlobalIndex bond = 0; bond < std::ssize(set.bonds); ++bond)
    if (breaks(bond)) once[set.bonds[bond]] = 1;
  EXPECT_EQ(times, once);
}

TEST(ParticleWork, NeedsNoContact) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const BondedParticles problem = bonded(comm, chain(1, 3 * r, r), {});
  const ParticleWork work = work_of(problem, 0, Vector(problem.particles->points).owned());
  EXPECT_EQ(work.of_owned, std::vector<std::int32_t>(problem.particles->num_owned(), 11));
  EXPECT_TRUE(work.contacts.empty());
}

} // namespace
} // namespace recoil::solvers::testing
