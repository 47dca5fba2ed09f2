#pragma once

#include <vector>

#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

/// Part of each particle, by METIS k-way partitioning of the graph of the bonds, in which particles that are
/// not bonded are linked weakly to those next to them. Serial; same input, same parts.
std::vector<int> partition_particles(const ParticleSet& set, int num_parts);

} // namespace recoil::particles
