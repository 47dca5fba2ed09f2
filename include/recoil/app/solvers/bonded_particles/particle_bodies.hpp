#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/particles/distributed_particles.hpp"

namespace recoil::app {

/// With this many particles and more, scenes on several ranks have their bodies made in slices.
inline constexpr double least_particles_in_slices = 50'000;

/// The particles and bonds of all bodies of a scene. Serial, on the rank that holds the meshes.
/// @throws InputError where a body cannot be filled.
particles::ParticleSet pack_bodies(const Scene& scene, const mesh::AssembledGeometry& geometry);

/// Gives the ranks of the particles `ids` of this rank, of so many in all; on every rank nothing where they
/// are not known. Collective.
using OwnersOf = std::function<std::vector<int>(GlobalIndex, std::span<const GlobalIndex>)>;

/// The bodies of a scene, distributed: to `owners`, if these are given and known, or to parts of about as
/// many particles each. From `in_slices_from` particles on every rank makes a share of each lattice; other
/// bodies, all of a cell that repeats, and all where there are fewer, are made by the first rank, which warns
/// of large ones. The numbers of particles and bonds are those of pack_bodies() either way. `geometry` is of
/// the first rank. Collective.
/// @throws InputError on every rank.
particles::DistributedParticles distribute_bodies(const parallel::Communicator& comm, const Scene& scene,
                                                  const mesh::AssembledGeometry& geometry,
                                                  const OwnersOf& owners = {},
                                                  double in_slices_from = least_particles_in_slices);

/// The box around the geometry that a body fills; of a body from a file there is none. Serial, on the rank
/// that holds the meshes.
std::optional<Eigen::AlignedBox3d> box_of_body(const ParticleBody& body,
                                               const mesh::AssembledGeometry& geometry);

/// The entry of `geometry` that a body of this name has.
const mesh::GeometrySpec& entry_of_body(const Scene& scene, const std::string& body);

} // namespace recoil::app
