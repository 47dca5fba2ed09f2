#pragma once

#include <set>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"

/// What a scene says without its meshes, as far as it can be known.
namespace recoil::app {

/// Ids that selections may give; `complete` unless a file may hold others.
struct KnownIds {
  std::set<int> ids;
  bool complete = true;

  bool may_hold(int id) const { return !complete || ids.contains(id); }
};

KnownIds volume_ids(const mesh::GeometrySpec& body);
/// Ids of facets and points.
KnownIds surface_ids(const mesh::GeometrySpec& body);
/// Of all deformable bodies.
KnownIds surface_ids(const Scene& scene);

const mesh::GeometrySpec* find_geometry(const Scene& scene, const std::string& name);
/// Names of obstacles that have a mesh and so can move.
std::vector<std::string> mesh_obstacle_names(const Scene& scene);
bool is_plane(const Scene& scene, const std::string& name);

/// Materials that elements of a body, with one of these volume ids (none: any), may have.
std::vector<const MaterialEntry*> possible_materials(const Scene& scene, const mesh::GeometrySpec& body,
                                                     const std::vector<int>& regions);

/// Whether a region of the scene may hold elements of one of the bodies (none: any deformable) with one of
/// the volume ids (none: any).
bool may_overlap(const Region& region, const Scene& scene, const std::vector<std::string>& bodies,
                 const std::vector<int>& regions);

/// What moves an obstacle: the first obstacle displacement with its id, else the first Dirichlet value;
/// nullptr if it rests.
const DirichletEntry* find_motion_of(const Scene& scene, const mesh::GeometrySpec& obstacle);

bool depends_on_position(const MaterialValue& value);
bool is_zero(const MaterialValue& value);
/// Gravity or `rhs` act somewhere, some time.
bool has_body_force(const Scene& scene);
bool has_damping(const Scene& scene);
/// Friction is part of the steps, be its coefficients zero or not.
bool has_friction(const Scene& scene);

/// A formula or list of a scene that makes a value differ from place to place, or from time to time.
struct Varying {
  std::string formula, where;
};
/// First formula of constrained components that depends on position (of time: on t, or is a list per time).
std::vector<Varying> position_dependence(const DirichletEntry& entry);
std::vector<Varying> time_dependence(const DirichletEntry& entry);
std::vector<Varying> time_dependence(const PressureEntry& entry);
/// Those that are no values per element.
std::vector<Expression> formulas_of(const std::vector<MaterialValue>& values);
std::vector<Varying> position_dependence(const std::vector<Expression>& value, const std::string& where);
std::vector<Varying> time_dependence(const std::vector<Expression>& value, const std::string& where);
/// What depends on where the vertices of some deformable bodies are: formulas that may act on them.
std::vector<Varying> position_dependence(const Scene& scene, const std::vector<std::string>& moved);

/// "1, 2, 5"; "none".
std::string list_of(const std::set<int>& ids);

} // namespace recoil::app
