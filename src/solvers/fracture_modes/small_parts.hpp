#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace recoil::solvers::fracture_modes {

/// What leads from one part to another; travels as bytes.
struct PartLink {
  std::int32_t a, b;
  double weight;
};

/// Joins each part that is lighter than its least mass to the neighbour to which most leads, from the
/// lightest one on, until none is light but those without neighbours. Returns a number for each part, the
/// same one for parts that are joined. Linked parts have equal least masses. Not collective.
std::vector<int> join_small_parts(std::vector<double> masses, std::span<const double> least,
                                  std::span<const PartLink> links);

} // namespace recoil::solvers::fracture_modes
