#pragma once

#include <memory>
#include <span>

#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/coarse_space.hpp"

namespace recoil::fem {

/// The functions of order 1 on the mesh of `space`, which hold values at its vertices, as a coarse space of
/// it. `constrained`: one flag per local entry. Not collective.
template <int dim>
std::shared_ptr<const linalg::CoarseSpace> linear_functions(const FunctionSpace<dim>& space,
                                                            std::span<const char> constrained);

} // namespace recoil::fem
