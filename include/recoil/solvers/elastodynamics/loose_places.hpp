#pragma once

#include <optional>
#include <span>
#include <string>

#include "recoil/solvers/elastodynamics/problem.hpp"

/// What solutions without inertia and regularisation leave open: rigid motions of bodies that neither
/// prescribed entries nor, as loads that balance do not, anything else resists. The solution has the smallest
/// norm along these (docs/theory.md). Rotations that loads may resist are not among them.
namespace recoil::solvers {

/// A displacement [m] along all of them; nothing where there are none. Collective.
template <int dim>
std::optional<linalg::Vector> loose_displacement(const ElastodynamicsProblem<dim>& problem);

/// On which of them the derivative `du` of something by the displacement (owned entries) works, as "body 'a'
/// against translation along x"; empty where on none. Collective.
template <int dim>
std::string loose_motion_seen_by(const ElastodynamicsProblem<dim>& problem, std::span<const double> du);

} // namespace recoil::solvers
