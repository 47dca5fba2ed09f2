#pragma once

#include "recoil/app/scene/item.hpp"
#include "recoil/app/scene/scene.hpp"

/// From resolved JSON to a typed Scene, part by part. All throw InputError where values contradict each
/// other.
namespace recoil::app {

/// boundary_conditions and gravity.
void build_boundary_conditions(const Item& root, Scene& scene);
/// The factors in time that an entry has under `key`: none, one for all components, or one per component.
/// @throws InputError.
std::vector<TimeFactor> build_factors(const Item& entry, std::size_t components,
                                      const char* key = "interpolation");
/// Spheres must remain spheres under the transformation of their entry of `geometry`. @throws InputError.
void check_sphere_transformation(const Item& entry);
void build_initial_conditions(const Item& root, Scene& scene);
void build_time(const Item& root, Scene& scene);
/// contact, solver, output, tests.
void build_settings(const Item& root, Scene& scene);

/// Checks between the parts that need no mesh: names and ids exist, none twice.
void check_scene(const Scene& scene);

/// Refuses a name that no deformable body has; the message is placed at `where`.
void check_body(const Scene& scene, const std::string& body, const std::string& where);

/// An entry that holds for the facets, or elements, with some ids.
struct IdUse {
  const std::vector<int>& ids;
  const std::string& where;
};
/// Tractions and pressures.
std::vector<IdUse> loads_on_ids(const Scene& scene);

/// Names of deformable bodies, of obstacles with a mesh, of all.
std::vector<std::string> deformable_names(const Scene& scene);
std::vector<std::string> obstacle_names(const Scene& scene);

} // namespace recoil::app
