#include "recoil/particles/bond_values.hpp"

#include <algorithm>

#include "recoil/parallel/exchange.hpp"

namespace recoil::particles {

/// Values travel to the ranks that hold the other end.
std::vector<double> complete_bond_values(const DistributedParticles& particles,
                                         std::span<const double> counted) {
  struct Value {
    GlobalIndex id;
    double value;
  };
  const parallel::Communicator& comm = *particles.points->comm;
  const std::vector<GlobalIndex> offsets = comm.all_gather(particles.points->offset);
  std::vector<std::vector<Value>> outgoing(comm.size());
  std::vector<double> all(particles.bonds.size());
  std::size_t next = 0;
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond) {
    const auto& [a, b, id] = particles.bonds[bond];
    if (!particles.owns(particles.bonds[bond])) continue;
    all[bond] = counted[next++];
    if (b < particles.num_owned()) continue;
    const auto owner = std::ranges::upper_bound(offsets, particles.points->global(b)) - offsets.begin() - 1;
    outgoing[owner].push_back({id, all[bond]});
  }
  for (const auto& incoming : parallel::exchange(comm, outgoing))
    for (const auto& [id, value] : incoming)
      all[std::ranges::lower_bound(particles.bonds, id, {}, &DistributedParticles::Bond::id) -
          particles.bonds.begin()] = value;
  return all;
}

} // namespace recoil::particles
