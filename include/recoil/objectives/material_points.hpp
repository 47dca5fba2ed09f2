#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/objectives/observable.hpp"

namespace recoil::objectives {

/// A point that moves with the material, the same on all ranks and for any number of them.
template <int dim>
struct MaterialPoint {
  GlobalIndex carrier; ///< input id of a cell, or of a particle
  /// Barycentric by the vertices of the cell, ascending in input id; of a particle its arm in the axes of
  /// that [m].
  std::array<double, dim + 1> coordinates;
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

/// Which vector of a material point is seen.
enum class PointVector { position, displacement };

/// x_m = X_m + u(X_m), or u(X_m), of material points in cells; dim numbers each, on the owner of the cell.
/// `space` must outlive it. Collective.
/// @throws InputError on every rank for an empty list and for a cell that the mesh does not have.
template <int dim>
std::unique_ptr<Observable<dim>> observe_points(const fem::FunctionSpace<dim>& space, PointVector vector,
                                                const std::vector<MaterialPoint<dim>>& points);

/// The engineering strain e = |F d| - 1, F = I + sum_a u_a grad phi_a' at a material point in a cell: the
/// relative change of length that a strain gauge along the unit vector d of the rest shape measures. One
/// number, on the owner of the cell. `space` must outlive it. Not collective.
template <int dim>
std::unique_ptr<Observable<dim>> observe_strain(const fem::FunctionSpace<dim>& space,
                                                const MaterialPoint<dim>& point,
                                                const Eigen::Matrix<double, dim, 1>& direction);

} // namespace recoil::objectives
