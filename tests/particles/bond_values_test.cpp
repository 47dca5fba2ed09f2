#include "recoil/particles/bond_values.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace recoil::particles {
namespace {

TEST(BondValues, ReachAllRanksThatHoldABond) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  ParticleSet set;
  set.body_names = {"ring"};
  constexpr int count = 40;
  for (int i = 0; i < count; ++i) {
    set.positions.emplace_back(std::cos(0.1 * i), std::sin(0.1 * i), 0.01 * i);
    set.radii.push_back(0.05);
    set.volumes.push_back(1);
    set.body.push_back(0);
    for (const int next : {1, 7})
      if (i + next < count) set.bonds.push_back({i, i + next});
  }
  const DistributedParticles particles = distribute(comm, comm.rank() == 0 ? set : ParticleSet{});
  const auto value = [](GlobalIndex id) { return 0.5 + 3 * double(id); };
  std::vector<double> counted;
  for (const auto& bond : particles.bonds)
    if (particles.owns(bond)) counted.push_back(value(bond.id));
  EXPECT_EQ(comm.sum(GlobalIndex(counted.size())), std::ssize(set.bonds));
  const std::vector<double> all = complete_bond_values(particles, counted);
  ASSERT_EQ(all.size(), particles.bonds.size());
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k], value(particles.bonds[k].id));
}

} // namespace
} // namespace recoil::particles
