#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/objectives/material_point.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/observations.hpp"

namespace recoil::objectives {

/// A material point and where it was seen.
template <int dim>
struct Marker {
  MaterialPoint<dim> point;
  Track<dim> track;
};

/// J = sum_m |x_m - y_m(time)|^2 / sd_m(time)^2, x_m = X_m + u(X_m). `space` must
/// outlive the objective. Collective.
/// @throws InputError on every rank for an empty list and for a cell that the mesh does not have.
template <int dim>
std::unique_ptr<Objective<dim>> make_markers(const fem::FunctionSpace<dim>& space,
                                             std::vector<Marker<dim>> markers);

/// J = sum_p |u(X_p) - y_p(time)|^2 / sd_p(time)^2 with displacements y_p in place of positions, such as
/// those of a digital image correlation: the tracks hold displacements. Otherwise as make_markers.
/// Collective.
template <int dim>
std::unique_ptr<Objective<dim>> make_displacement_field(const fem::FunctionSpace<dim>& space,
                                                        std::vector<Marker<dim>> points);

} // namespace recoil::objectives
