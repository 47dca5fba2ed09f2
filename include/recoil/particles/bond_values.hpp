#pragma once

#include <span>
#include <vector>

#include "recoil/particles/distributed_particles.hpp"

namespace recoil::particles {

/// One value for each bond of this rank, from those that each rank has of the bonds that it counts
/// (DistributedParticles::owns), in their order, as files have them. Collective.
std::vector<double> complete_bond_values(const DistributedParticles& particles,
                                         std::span<const double> counted);

/// What the ranks that hold a bond have of it, one number for each bond of this rank, becomes their sum, the
/// same to the bit on both. Collective.
void sum_bond_values(const DistributedParticles& particles, std::span<double> shares);

} // namespace recoil::particles
