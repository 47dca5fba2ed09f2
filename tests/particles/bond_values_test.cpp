#include "recoil/particles/bond_values.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace recoil::particles {
namespace {

/// Particles on a curve, each bonded to the next and to another one.
DistributedParticles on_a_curve(const parallel::Communicator& comm) {
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
  return distribute(comm, comm.rank() == 0 ? set : ParticleSet{});
}

TEST(BondValues, ReachAllRanksThatHoldABond) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const DistributedParticles particles = on_a_curve(comm);
  const auto value = [](GlobalIndex id) { return 0.5 + 3 * double(id); };
  std::vector<double> counted;
  for (const auto& bond : particles.bonds)
    if (particles.owns(bond)) counted.push_back(value(bond.id));
  EXPECT_EQ(comm.sum(GlobalIndex(counted.size())), particles.num_bonds_global);
  const std::vector<double> all = complete_bond_values(particles, counted);
  ASSERT_EQ(all.size(), particles.bonds.size());
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k], value(particles.bonds[k].id));
}

TEST(BondValues, AreSummedOverTheRanksThatHoldABond) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const DistributedParticles particles = on_a_curve(comm);
  std::vector<double> shares;
  for (const auto& bond : particles.bonds)
    shares.push_back((particles.owns(bond) ? 1 : 0.1) * double(bond.id));
  sum_bond_values(particles, shares);
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const auto& [a, b, id] = particles.bonds[k];
    const bool is_shared = std::max(a, b) >= particles.num_owned();
    EXPECT_EQ(shares[k], is_shared ? double(id) + 0.1 * double(id) : double(id));
  }
}

} // namespace
} // namespace recoil::particles
