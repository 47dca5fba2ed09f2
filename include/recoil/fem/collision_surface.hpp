#pragma once

#include "recoil/fem/function_space.hpp"
#include "recoil/fem/periodic_boundary.hpp"
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

/// The surface of a cell that repeats, on which bodies collide with themselves, with each other and with
/// their copies in the cells next to it. It lacks the sides that are one period apart, where the material
/// goes on, and has for every second one of the cells around it a copy of all that is left: the others would
/// see the same pairs again. Collective. @throws InputError on every rank, naming the option, where facets on
/// the sides do not match.
template <int dim>
std::unique_ptr<const surface::Surface<dim>> periodic_surface(const FunctionSpace<dim>& space,
                                                              const PeriodicBoundary<dim>& periodic,
                                                              std::span<const char> prescribed);

} // namespace recoil::fem
