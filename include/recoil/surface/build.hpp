#pragma once

#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::surface {

/// The surface of thin sheets, edges and points in space (mesh::distribute_surfaces) that deform: every
/// vertex is a node, and a body of its own for each of `sheets`. Sheets have faces on both sides and no
/// inside: both sides collide, with other bodies and with the sheet itself. `comm` must outlive the surface.
/// @param prescribed one flag per component of each local vertex of `sheets`; empty: none is. Collective.
template <int dim>
Surface<dim> surface_of_sheets(const parallel::Communicator& comm,
                               const mesh::DistributedSurfaces<dim>& sheets,
                               std::span<const char> prescribed = {});

/// The surface of obstacles, which has no nodes. `stays_flat`: one flag per obstacle, whether all its motions
/// keep planes and straight lines; only of such ones flat parts are known (empty: of no obstacle).
/// `comm` must outlive the surface. Collective.
template <int dim>
Surface<dim> surface_of_obstacles(const parallel::Communicator& comm,
                                  const mesh::DistributedObstacles<dim>& obstacles,
                                  std::span<const char> stays_flat = {});

/// Both in one: the ids, bodies and obstacle vertices of `obstacles`, which has no nodes, follow those of
/// `bodies`. Collective.
template <int dim>
Surface<dim> joined(const Surface<dim>& bodies, const Surface<dim>& obstacles);

/// Reads meshes of sheets, with what is refused and mended in obstacles (mesh::assemble_geometry), which
/// messages call them, and distributes them over all ranks by their graph. Collective. @throws InputError on
/// every rank.
template <int dim>
mesh::DistributedSurfaces<dim> read_sheets(const parallel::Communicator& comm,
                                           std::span<const mesh::GeometrySpec> meshes);

} // namespace recoil::surface
