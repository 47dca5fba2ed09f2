#pragma once

#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::app {

/// Puts displacements and velocities of the state at the nodes of bodies that the run has, too, by name: its
/// values at the rest positions of these nodes, by the shape functions of its elements. Nodes outside of all
/// elements of their body take the values of the nearest point of one, with a warning. Nodes of other bodies
/// keep what they have. Every rank holds the old mesh meanwhile. Collective.
/// @throws InputError at `where` on every rank: no run of finite elements of this dimension and in `units`,
/// no stored state at the time, no body in common, a node farther outside than a twentieth of its body.
template <int dim>
void read_stored_state(const StoredState& from, const UnitSystem& units, const fem::FunctionSpace<dim>& space,
                       linalg::Vector& u, linalg::Vector& v);

} // namespace recoil::app
