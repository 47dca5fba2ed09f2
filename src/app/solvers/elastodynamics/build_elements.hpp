#pragma once

#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/scene/scene_format.hpp"

namespace recoil::app {

/// Rows of the keys that scenes of finite elements alone have.
std::vector<KeySection> element_keys();

/// What a scene of finite elements has of its own, from its keys. @throws InputError.
void build_elements(const Item& root, Scene& scene);

/// Compares a scene of finite elements with its meshes, reads files of values of their nodes, and refuses
/// what cannot fit into memory. Collective. @throws InputError on every rank.
void check_geometry_of_elements(const parallel::Communicator& comm, LoadedScene& loaded);

/// `boundary_conditions/periodic_boundary`. @throws InputError.
void build_periodic(const Item& root, Scene& scene);

/// `materials` of a scene of finite elements. @throws InputError.
void build_materials(const Item& root, Scene& scene);

} // namespace recoil::app
