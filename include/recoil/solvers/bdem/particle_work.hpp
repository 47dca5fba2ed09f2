#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// What the particles of this rank cost in a step, by bonds and contacts of one state. Exact integers, so
/// that it depends on the state alone.
struct ParticleWork {
  /// Work of each owned particle: ten for itself, one for the end of each intact bond, four for that of each
  /// pair in contact.
  std::vector<std::int32_t> of_owned;
  std::vector<std::array<GlobalIndex, 2>> contacts; ///< ids of two particles in contact; each on one rank
};

/// At u (owned particles, 7 numbers each) and `time` [s], between steps: pairs in contact are looked for
/// anew. Collective.
ParticleWork work_of(const BondedParticles& problem, double time, std::span<const double> u);

} // namespace recoil::solvers
