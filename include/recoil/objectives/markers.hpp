#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/observations.hpp"

namespace recoil::objectives {

/// A point that moves with the material, the same on all ranks and for any number of them.
template <int dim>
struct MaterialPoint {
  GlobalIndex cell;                        ///< input id
  std::array<double, dim + 1> barycentric; ///< by the vertices of the cell, ascending in input id
};

/// The material point of `body` (number in mesh.body_names) at a rest position; of several cells that meet
/// there the one with the smallest id. In a study of the shape it is located once, on the first mesh, and
/// then moves with the vertices. Cost: every owned cell of the body is looked at. Collective.
/// @param what named in errors: "marker 'tip'".
/// @throws InputError on every rank where the position lies outside of the body.
template <int dim>
MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>& mesh, std::int32_t body,
                          const Eigen::Matrix<double, dim, 1>& rest, const std::string& what);

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

} // namespace recoil::objectives
