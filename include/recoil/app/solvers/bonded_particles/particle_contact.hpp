#pragma once

#include "recoil/app/scene/scene.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::app {

/// Adds contact, friction and the motion of obstacles to a problem whose scene enables contact; nothing
/// otherwise. `surfaces` of obstacles are read on the first rank. `scene` must outlive the problem.
/// Collective.
/// @throws InputError on every rank for a dhat that is not below the smallest radius and for obstacles
/// without triangles.
void add_particle_contact(const parallel::Communicator& comm, const Scene& scene,
                          const std::vector<mesh::SurfaceMesh>& surfaces, solvers::BondedParticles& problem);

/// @throws InputError on every rank where particles overlap in the initial state, with the place of the
/// worst. Collective.
void require_no_overlap(const parallel::Communicator& comm, const solvers::BondedParticles& problem,
                        const Scene& scene);

} // namespace recoil::app
