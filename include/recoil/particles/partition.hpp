#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

/// What partition() divides; serial, whole on one rank.
struct PartitionGraph {
  std::vector<Eigen::Vector3d> positions;            ///< [m]
  std::vector<std::int32_t> work;                    ///< of each particle, in any unit; empty: equal
  std::vector<std::array<std::int64_t, 2>> bonds;    ///< intact ones, each pair once
  std::vector<std::array<std::int64_t, 2>> contacts; ///< pairs that are not bonded, each once
};

/// Part of each particle, by METIS k-way partitioning of the graph: parts of equal work that cut as few bonds
/// as may be. Contacts, which come and go, count less, and particles that no bonds connect are linked weakly
/// to those next to them. Serial; same input, same parts. @throws InputError for more particles, bonds and
/// contacts than the integers of METIS count.
std::vector<int> partition(const PartitionGraph& graph, int num_parts);
/// The part of each particle, by METIS on the bodies at rest, balanced by the number of particles.
std::vector<int> partition(const ParticleSet& set, int num_parts);

/// Largest work of a part over the mean of all parts; 1 without work.
double imbalance(std::span<const std::int64_t> work_of_parts);

} // namespace recoil::particles
