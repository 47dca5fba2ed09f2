#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "recoil/objectives/forces.hpp"

namespace recoil::objectives {

/// Two bodies that are to keep their distance.
struct Clearance {
  std::array<std::int32_t, 2> bodies; ///< numbers of bodies, obstacles or planes in contact, not the same
  double limit;                       ///< distance below which they are too close [m]
  double p;                           ///< of the norm
};

/// J = r^2 with r = (sum_k m_k max(limit - d_k, 0)^p)^(1/p) [m^2], over the pairs k of a surface primitive of
/// each of two bodies, d_k their distance in the state that is looked at and m_k the mollifier of nearly
/// parallel edges [Li et al. 2020]. Where shapes come closest, d, some m is 1, so that max(limit - d, 0) <= r
/// <= N^(1/p) max(limit - d, 0) for N pairs within the limit: max(limit - d, 0)^2 as p grows. J is
/// continuously differentiable, and zero where d >= limit. Distances have no sign: bodies must not overlap,
/// for which contact sees. Collective.
/// @param surface of contact, which must outlive the objective.
/// @param obstacles null where no obstacle moves.
/// @throws InputError unless limit > 0 and p > 1.
template <int dim>
std::unique_ptr<Objective<dim>>
make_min_distance(const surface::Surface<dim>& surface, std::vector<potentials::Plane<dim>> planes,
                  const Clearance& clearance, ObstacleMotion obstacles = nullptr);

} // namespace recoil::objectives
