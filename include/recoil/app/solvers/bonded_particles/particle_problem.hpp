#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// The particles of a scene at rest, and what acts on them. `scene` must outlive the problem. The surfaces of
/// `obstacles` are of the first rank. Collective. @throws InputError on every rank.
solvers::BondedParticles make_particle_problem(const parallel::Communicator& comm, const Scene& scene,
                                               particles::DistributedParticles&& bodies,
                                               const std::vector<mesh::SurfaceMesh>& obstacles);
/// The solver of make_particle_problem(), in the initial state.
std::unique_ptr<solvers::BondedParticlesSolver>
make_particle_solver(const parallel::Communicator& comm, const Scene& scene,
                     particles::DistributedParticles&& bodies,
                     const std::vector<mesh::SurfaceMesh>& obstacles);

/// The owned particles of each entry of `boundary_conditions/dirichlet_boundary`. Collective.
std::vector<std::vector<LocalIndex>> prescribed_groups(const parallel::Communicator& comm, const Scene& scene,
                                                       const particles::DistributedParticles& particles);
/// The owned particles of a body, empty: of all, with an id of `point_selection`. Collective. @throws
/// InputError at `where` on every rank where there are none.
std::vector<LocalIndex> particles_with_id(const parallel::Communicator& comm, const Scene& scene,
                                          const particles::DistributedParticles& particles,
                                          const std::string& body, int id, const std::string& where);
/// prescribed_groups() of `boundary_conditions/particle_forces`, each of which its particles share equally.
std::vector<std::vector<LocalIndex>> loaded_groups(const parallel::Communicator& comm, const Scene& scene,
                                                   const particles::DistributedParticles& particles);

} // namespace recoil::app
