#pragma once

#include <memory>
#include <optional>

#include <Eigen/Geometry>

#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// The particles and bonds of all bodies of a scene. Serial, on the rank that holds the meshes.
/// @throws InputError where a body cannot be filled.
particles::ParticleSet pack_bodies(const Scene& scene, const mesh::AssembledGeometry& geometry);

/// The box around the geometry that a body fills; of a body from a file there is none. Serial, on the rank
/// that holds the meshes.
std::optional<Eigen::AlignedBox3d> box_of_body(const ParticleBody& body,
                                               const mesh::AssembledGeometry& geometry);

/// The particles of a scene at rest, and what acts on them. `scene` must outlive the problem. `bodies`, the
/// rank of each particle, `owners` (empty: as distribute() chooses), and the surfaces of `obstacles` are of
/// the first rank. Collective. @throws InputError on every rank.
solvers::BondedParticles make_particle_problem(const parallel::Communicator& comm, const Scene& scene,
                                               const particles::ParticleSet& bodies,
                                               const std::vector<mesh::SurfaceMesh>& obstacles,
                                               const std::vector<int>& owners = {});
/// The solver of make_particle_problem(), in the initial state.
std::unique_ptr<solvers::BondedParticlesSolver>
make_particle_solver(const parallel::Communicator& comm, const Scene& scene,
                     const particles::ParticleSet& bodies, const std::vector<mesh::SurfaceMesh>& obstacles,
                     const std::vector<int>& owners = {});

/// The solver of a scene that was just loaded; `owners` are ignored where their number is not that of its
/// particles. Collective.
std::unique_ptr<solvers::BondedParticlesSolver> load_particle_solver(const parallel::Communicator& comm,
                                                                     const LoadedScene& loaded,
                                                                     std::vector<int> owners = {});

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
