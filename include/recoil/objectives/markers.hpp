#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/observations.hpp"

namespace recoil::objectives {

/// A point that moves with the material, the same on all ranks and for any number of them.
template <int dim>
struct MaterialPoint {
  GlobalIndex cell;                        ///< input id
  std::array<double, dim + 1> barycentric; ///< by the vertices of the cell, ascending in input id
};

/// The material points of `body` (number in mesh.body_names) at rest positions, nothing for those outside of
/// it; of several cells that meet at a position the one with the smallest id. In a study of the shape they
/// are located once, on the first mesh, and then move with the vertices. Cost: every rank searches all
/// positions in a bounding-volume hierarchy over its own cells of the body. Collective; `rests` are the same
/// on all ranks.
template <int dim>
std::vector<std::optional<MaterialPoint<dim>>>
locate_all(const mesh::DistributedMesh<dim>& mesh, std::int32_t body,
           std::span<const Eigen::Matrix<double, dim, 1>> rests);

/// A single one. Collective.
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
  std::string name = {};
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
