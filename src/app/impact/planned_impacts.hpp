#pragma once

#include <vector>

#include "app/impact/impacts_file.hpp"
#include "recoil/app/breakable/breakable_shape.hpp"

namespace recoil::app {

/// An impact whose place on the shape has been found.
template <int dim>
struct PlannedImpact {
  ImpactSpec spec;
  Hit<dim> hit;
  cage::Point<dim> direction; ///< of length 1
};

/// All impacts of a file on a shape, the given ones first. @throws InputError with place and cure for places
/// farther from the shape than a quarter of its diagonal, and vertices that are not on its boundary.
template <int dim>
std::vector<PlannedImpact<dim>> plan_impacts(const BreakableShape<dim>& shape, const ImpactsFile& file);

} // namespace recoil::app
