#pragma once

#include "recoil/solvers/async_contact/model.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::solvers::async_contact {

/// What thin sheets are made of.
struct ShellMaterial {
  double stretching_stiffness; ///< Young's modulus times thickness [N/m]
  double poisson = 0.3;
  double bending_stiffness;   ///< k of BendingHinge [J]
  double area_density;        ///< [kg/m^2]
  double stretch_damping = 0; ///< [N s/m]
  double bend_damping = 0;    ///< [J s]
  double yield_angle = std::numeric_limits<double>::infinity();
  double alpha = 0.1; ///< share of the greatest stable step of each element
};

/// The shell of Young's modulus Y, thickness h and density: stretching Yh, bending Y h^3 / (72 (1 - nu^2)).
ShellMaterial solid_shell(double youngs_modulus, double poisson, double thickness, double density);

/// Adds the sheets of a surface on one rank: vertices with a third of the mass of the triangles around them,
/// at rest at their rest positions, those with all components prescribed as prescribed vertices; membranes,
/// hinges, and points, edges and triangles that collide. Elements of prescribed vertices alone have no
/// forces.
/// @return number of its first vertex; vertex i of the surface is that number + i.
/// @throws InputError if the surface is distributed or has triangles without area.
LocalIndex add_shell(Model& model, const surface::Surface<3>& surface, const ShellMaterial& material);

} // namespace recoil::solvers::async_contact
