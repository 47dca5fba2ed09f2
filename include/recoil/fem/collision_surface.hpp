#pragma once

#include "recoil/fem/function_space.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::fem {

/// The boundary of the deformable mesh through its Lagrange nodes (order k: k^2 triangles per facet, k
/// segments in 2D). Rest positions follow the vertices of the mesh.
/// @param prescribed one flag per local entry of the space (DirichletDofs::flags). Collective.
template <int dim>
surface::Surface<dim> boundary_surface(const FunctionSpace<dim>& space, std::span<const char> prescribed);

/// The surface on which bodies and obstacles collide: boundary_surface() and surface::surface_of_obstacles().
/// Collective.
template <int dim>
std::unique_ptr<const surface::Surface<dim>>
collision_surface(const FunctionSpace<dim>& space, const mesh::DistributedObstacles<dim>& obstacles,
                  std::span<const char> prescribed, std::span<const char> stays_flat = {});

} // namespace recoil::fem
