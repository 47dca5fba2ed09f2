#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::fem {

/// Linear facets over the boundary nodes of the cells that this rank holds, as local nodes ascending in
/// canonical number; all around an owned node are here.
template <int dim>
std::vector<std::array<LocalIndex, dim>> linear_facets(const FunctionSpace<dim>& space);

/// Whether one of linear_facets() is to collide; the same on every rank that has it.
template <int dim>
using FacetFilter = std::function<bool(const std::array<LocalIndex, dim>&)>;

/// The parts of boundary_surface(), of the facets that `keeps` accepts; empty: of all. Collective.
template <int dim>
surface::SurfaceParts<dim> boundary_parts(const FunctionSpace<dim>& space, std::span<const char> prescribed,
                                          const FacetFilter<dim>& keeps = {});

} // namespace recoil::fem
