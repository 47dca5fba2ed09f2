#pragma once

#include <memory>

#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/region.hpp"

namespace recoil::objectives {

/// J = max(V - limit, 0)^2 with V the rest volume of the region [m^(2 dim)]. Not collective.
/// @throws InputError unless limit > 0.
template <int dim>
std::unique_ptr<Objective<dim>> make_volume_bound(Region<dim> region, double limit);

/// J = sum_i |s_i|^p over the boundary vertices of the region, s_i = sum_j (X_i - X_j) / sum_j |X_i - X_j|
/// with j the neighbours of i along boundary edges, at rest [Huang et al. 2024, section 8]. Small
/// where vertices lie in the middle of their neighbours. Collective.
/// @throws InputError unless p > 1.
template <int dim>
std::unique_ptr<Objective<dim>> make_boundary_smoothing(Region<dim> region, double p);

} // namespace recoil::objectives
