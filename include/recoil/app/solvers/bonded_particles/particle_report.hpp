#pragma once

#include <string>
#include <vector>

#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::app {

/// What `recoil validate` and the log of a run say of the bodies of a problem of this scene, a few lines per
/// body, without their ends: particles, bonds and coordination number (bonds that a particle has on average),
/// radii, mass, densities of the bulk and of the spheres; extents of the spheres and of the geometry that
/// they fill; moduli of the bonds, critical time step T (solvers::critical_time_step) and dt/T; of lattices
/// describe(LatticeModuli). Of leapfrog a line with the sub-steps, and whether bonds or contact ask for them.
/// Collective.
std::vector<std::string> describe_bodies(const LoadedScene& loaded, const solvers::BondedParticles& problem);

} // namespace recoil::app
