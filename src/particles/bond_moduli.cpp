#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/distributed_particles.hpp"

namespace recoil::particles {

std::vector<BondModuli> moduli_of(const DistributedParticles& particles, const ParticleSet& set) {
  const parallel::Communicator& comm = *particles.points->comm;
  if (!comm.any(!set.moduli.empty())) return {};
  std::vector<std::vector<GlobalIndex>> wanted(comm.size());
  for (const DistributedParticles::Bond& bond : particles.bonds) wanted[0].push_back(bond.id);
  const auto asked = parallel::exchange(comm, wanted);
  std::vector<std::vector<BondModuli>> answers(comm.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const GlobalIndex id : asked[rank]) answers[rank].push_back(set.moduli[id]);
  return std::move(parallel::exchange(comm, answers)[0]);
}

} // namespace recoil::particles
