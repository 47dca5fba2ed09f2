#pragma once

#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::app {

/// What `recoil validate` and the log of a run say of the bodies of a problem of this scene, a few lines per
/// body, without their ends: particles, bonds and coordination number (bonds that a particle has on average),
/// radii, mass, densities of the bulk and of the spheres; moduli of the bonds, critical time step T
/// (solvers::critical_time_step) and dt/T; of lattices describe(LatticeModuli). Collective.
std::vector<std::string> describe_bodies(const Scene& scene, const solvers::BondedParticles& problem);

} // namespace recoil::app
