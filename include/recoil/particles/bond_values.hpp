#pragma once

#include <span>
#include <vector>

#include "recoil/particles/distributed_particles.hpp"

namespace recoil::particles {

/// One value for each bond of this rank, from those that each rank has of the bonds that it counts
/// (DistributedParticles::owns), in their order, as files have them. Collective.
std::vector<double> complete_bond_values(const DistributedParticles& particles,
                                         std::span<const double> counted);

} // namespace recoil::particles
