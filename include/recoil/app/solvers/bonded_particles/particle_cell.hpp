#pragma once

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::app {

/// Whether the scene has a cell at rest that nothing holds: then one particle is.
bool pins_particle(const Scene& scene);

/// F = I + H at a time [s], H the `linear_displacement_offset`. @throws InputError where det F <= 0.
Eigen::Matrix3d deformation_at(const PeriodicEntry& entry, double time);

/// Entries of F that `fixed_macro_strain` does not name, 3 i + j, of columns that repeat.
std::vector<int> free_entries(const PeriodicEntry& entry);

/// The cell of a scene that has one: the box around its packed bodies, or what `correspondence` says, with
/// the corner at the origin. Serial, on the rank that holds the meshes. @throws InputError for packed bodies
/// that do not fill it from face to face along edges that repeat.
std::optional<particles::PeriodicCell> cell_of(const Scene& scene, const mesh::AssembledGeometry& geometry);

/// Shifts of bonds that come without: of each second end to the image next to the first one at rest.
/// @throws InputError for bonds longer than half of the cell is wide.
void find_shifts(particles::ParticleSet& set, const std::string& where);

/// Holds the particle with the smallest id where the cell carries it, along axes that repeat. Local.
void pin_particle(const PeriodicEntry& entry, solvers::BondedParticles& problem);

} // namespace recoil::app
