#pragma once

#include <memory>

#include "recoil/app/simulation/load_geometry.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// The particles and bonds of all bodies of a scene. Serial, on the rank that holds the meshes.
/// @throws InputError where a body cannot be filled.
particles::ParticleSet pack_bodies(const Scene& scene, const mesh::AssembledGeometry& geometry);

/// A scene of bonded particles, in its initial state. `scene` must outlive the solver. `bodies` and the
/// surfaces of `obstacles` are of the first rank. Collective. @throws InputError on every rank.
std::unique_ptr<solvers::BondedParticlesSolver>
make_particle_solver(const parallel::Communicator& comm, const Scene& scene,
                     const particles::ParticleSet& bodies, const std::vector<mesh::SurfaceMesh>& obstacles);

/// The same of a scene that was just loaded. Collective.
std::unique_ptr<solvers::BondedParticlesSolver> load_particle_solver(const parallel::Communicator& comm,
                                                                     const LoadedScene& loaded);

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
