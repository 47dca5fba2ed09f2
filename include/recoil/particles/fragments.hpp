#pragma once

#include <span>
#include <vector>

#include "recoil/particles/distributed_particles.hpp"

namespace recoil::particles {

/// A connected component of the graph of particles and bonds that are not broken.
struct Fragment {
  GlobalIndex first = 0; ///< the smallest id of its particles
  GlobalIndex particles = 0;
};

struct Fragments {
  std::vector<Fragment> all;          ///< by size, largest first, then by `first`; the same on every rank
  std::vector<std::int32_t> of_owned; ///< index into `all` of each owned particle
};

/// The fragments of particles with one flag for each bond of this rank, nonzero where it is broken:
/// components of each rank's bonds by union-find, then rounds in which they take over the smallest id that
/// ghosts have with their owners, until nothing changes. The result does not depend on the ranks. Collective.
/// @note At most as many rounds as a fragment passes from rank to rank; every rank holds all fragments.
Fragments find_fragments(const DistributedParticles& particles, std::span<const char> broken);

} // namespace recoil::particles
