#pragma once

#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::app {

/// Values of the owned nodes of `space` from a file, dim numbers each; all or none of a node are NaN.
/// Collective.
/// @throws InputError at `where`, on every rank, for a file or dataset that cannot be read or has another
/// number of rows or columns, and for other values that are not finite.
template <int dim>
std::vector<double> read_nodal_values(const NodalData& data, const std::string& where,
                                      const fem::FunctionSpace<dim>& space);

} // namespace recoil::app
