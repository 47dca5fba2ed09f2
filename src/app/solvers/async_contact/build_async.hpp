#pragma once

#include "recoil/app/scene/scene_format.hpp"

namespace recoil::app {

/// Rows of the keys that scenes of asynchronous contact alone have.
std::vector<KeySection> async_keys();

/// Keys that asynchronous contact has no use for, and what its scenes have in the place of those of others.
std::span<const AbsentKey> absent_from_async();

/// Keys of finite elements that solids have, too.
std::vector<std::string> keys_of_solids();

/// Keys of the options that the kernels of asynchronous contact speak of.
std::span<const OptionKey> async_options();

/// Spheres, materials and settings. @throws InputError.
void build_async(const Item& root, Scene& scene);

/// Whether an entry of `geometry` is a body of spheres, which needs no mesh.
bool has_spheres(const Item& entry);

} // namespace recoil::app
