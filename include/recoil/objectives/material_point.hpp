#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/mesh/distributed_mesh.hpp"

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

} // namespace recoil::objectives
