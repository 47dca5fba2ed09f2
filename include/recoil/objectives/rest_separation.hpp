#pragma once

#include <memory>
#include <vector>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/contact/barrier.hpp"

namespace recoil::objectives {

/// J = sum_k m_k b(d_k^2) [m^4] over the pairs of surface primitives that are closer than `distance` at rest,
/// b the barrier -(y - y_hat)^2 ln(y / y_hat) with y_hat = distance^2 and m the mollifier of nearly parallel
/// edges [Li et al. 2020]: it keeps shapes apart while they are looked for. Pairs are those of contact, of
/// the bodies of the region among and with themselves and with obstacles and planes; primitives that share a
/// vertex make none. All weigh the same, whatever their areas. Collective.
/// @param surface of all bodies and obstacles at rest.
/// @throws InputError unless distance > 0, and on every rank where shapes touch or intersect.
template <int dim>
std::unique_ptr<Objective<dim>>
make_rest_separation(Region<dim> region, std::unique_ptr<const surface::Surface<dim>> surface,
                     std::vector<potentials::Plane<dim>> planes, double distance);

} // namespace recoil::objectives
