#pragma once

#include "recoil/app/scene/scene_format.hpp"

namespace recoil::app {

/// Rows of the keys that scenes of bonded particles alone have.
std::vector<KeySection> particle_keys();

/// Rows of finite elements that bonded particles have, too.
std::vector<std::string> keys_shared_by_particles();

/// Keys that bonded particles have no use for, and what their scenes have in the place of those of others.
std::span<const AbsentKey> absent_from_particles();

/// Keys of the options that kernels of bonded particles speak of.
std::span<const OptionKey> particle_options();

/// Particles, bonds and what acts on them. @throws InputError.
void build_particles(const Item& root, Scene& scene);

/// The cell of a scene, and what does not go with it. @throws InputError.
void build_cell(const Item& root, Scene& scene);

/// Whether the particles of an entry of `geometry` come from a file.
bool has_particle_file(const Item& entry);

} // namespace recoil::app
