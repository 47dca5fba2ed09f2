#include "recoil/particles/bond_values.hpp"

#include <algorithm>

#include "recoil/parallel/exchange.hpp"

namespace recoil::particles {

namespace {

struct Value {
  GlobalIndex id;
  double value;
};

/// Sends the values of bonds to the rank that has their ghost_of(bond), unless that is owned here or -1, and
/// gives those that come to take(bond, value).
template <class Ghost, class Take>
void exchange_values(const DistributedParticles& particles, std::span<const double> values, Ghost ghost_of,
                     Take take) {
  const parallel::Communicator& comm = *particles.points->comm;
  const std::vector<GlobalIndex> offsets = comm.all_gather(particles.points->offset);
  std::vector<std::vector<Value>> outgoing(comm.size());
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond) {
    const LocalIndex ghost = ghost_of(particles.bonds[bond]);
    if (ghost < particles.num_owned()) continue;
    const auto owner =
        std::ranges::upper_bound(offsets, particles.points->global(ghost)) - offsets.begin() - 1;
    outgoing[owner].push_back({particles.bonds[bond].id, values[bond]});
  }
  for (const auto& incoming : parallel::exchange(comm, outgoing))
    for (const auto& [id, value] : incoming)
      take(std::ranges::lower_bound(particles.bonds, id, {}, &DistributedParticles::Bond::id) -
               particles.bonds.begin(),
           value);
}

} // namespace

std::vector<double> complete_bond_values(const DistributedParticles& particles,
                                         std::span<const double> counted) {
  std::vector<double> all(particles.bonds.size());
  std::size_t next = 0;
  for (std::size_t bond = 0; bond < all.size(); ++bond)
    if (particles.owns(particles.bonds[bond])) all[bond] = counted[next++];
  exchange_values(
      particles, all, [&](const auto& bond) { return particles.owns(bond) ? bond.b : LocalIndex{-1}; },
      [&](std::size_t bond, double value) { all[bond] = value; });
  return all;
}

void sum_bond_values(const DistributedParticles& particles, std::span<double> shares) {
  exchange_values(
      particles, shares, [](const auto& bond) { return std::max(bond.a, bond.b); },
      [&](std::size_t bond, double value) { shares[bond] += value; });
}

} // namespace recoil::particles
