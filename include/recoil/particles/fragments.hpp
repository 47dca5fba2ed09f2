#pragma once

#include <span>
#include <vector>

#include "recoil/particles/distributed_particles.hpp"

namespace recoil::particles {

/// The connected components of the graph of particles and bonds that are not broken. They are numbered by
/// size, largest first, those of one size by their smallest id, on whatever ranks they lie.
struct Fragments {
  GlobalIndex count = 0;                   ///< of all fragments, on every rank
  GlobalIndex larger = 0;                  ///< of those of more than one particle
  GlobalIndex largest = 0;                 ///< number of particles of the largest one
  std::vector<GlobalIndex> of_owned;       ///< number of the fragment of each owned particle
  std::vector<GlobalIndex> first_of_owned; ///< the smallest id in that fragment
};

/// The fragments of particles with one flag for each bond of this rank, nonzero where it is broken:
/// components of each rank's bonds by union-find, then rounds in which they take over the smallest id that
/// ghosts have with their owners, until nothing changes. The rank in whose block of ids the smallest one of a
/// fragment is counts its particles. The result does not depend on the ranks. Collective.
/// @note At most as many rounds as a fragment passes from rank to rank. The memory of a rank is that of its
/// particles and of its share of all fragments.
Fragments find_fragments(const DistributedParticles& particles, std::span<const char> broken);

} // namespace recoil::particles
