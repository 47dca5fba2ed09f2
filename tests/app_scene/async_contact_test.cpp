#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/async_contact/async_scene.hpp"
#include "recoil/base/error.hpp"

/// Scenes of asynchronous contact: what they mean and what is refused.
namespace recoil::app {
namespace async_contact_test {

using nlohmann::json;

/// A cloth, two spheres with a spring that do not touch it, and a plate that rises, as one scene without
/// contact; changed by a merge patch.
json scene_with(const std::string& merge_patch) {
  json scene = json::parse(R"({
    "geometry": [{"name": "cloth", "mesh": "meshes/square.obj", "point_selection": [{"id": 1, "axis": "-x", "position": 0}]},
                 {"name": "dumbbell", "spheres": {"centers": [[0, 0, 5], [0, 0, 6]], "radius": 0.1, "springs": [[0, 1]]}},
                 {"name": "plate", "mesh": "meshes/square.obj", "is_obstacle": true, "surface_selection": 2}],
    "materials": [{"body": "cloth", "type": "Shell", "E": 1e6, "nu": 0.25, "rho": 1000, "thickness": 1e-3},
                  {"body": "dumbbell", "type": "Spheres", "mass": 2, "spring_stiffness": 10}],
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, "0.1*t"]}]},
    "gravity": [0, 0, -9.81],
    "time": {"dt": 0.1, "time_steps": 2},
    "solver": {"type": "asynchronous"}})");
  scene.merge_patch(json::parse(merge_patch));
  return scene;
}

SceneFile read(const json& scene) {
  return parse_scene(scene.dump(1), "scene.json", RECOIL_TEST_DATA "/scenes");
}

std::string message_of(const json& scene) {
  try {
    read(scene);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(AsyncContact, HasTheStiffnessesOfAPlate) {
  const Scene scene = read(scene_with("{}")).scene;
  const AsyncMaterial* cloth = find_async_material(scene, "cloth");
  ASSERT_TRUE(cloth);
  EXPECT_DOUBLE_EQ(cloth->stretching_stiffness, 1e3);
  EXPECT_DOUBLE_EQ(cloth->bending_stiffness, 1e6 * 1e-9 / (72 * (1 - 0.0625)));
  EXPECT_DOUBLE_EQ(cloth->area_density, 1);
  EXPECT_FALSE(cloth->yield_angle);
  ASSERT_EQ(async_of(scene).spheres.size(), 1);
  EXPECT_EQ(async_of(scene).spheres[0].springs.size(), 1);
  EXPECT_EQ(find_async_material(scene, "dumbbell")->mass, 2);
}

TEST(AsyncContact, TakesStiffnessesAsTheyAre) {
  json scene = scene_with("{}");
  scene["materials"][0] =
      json::parse(R"({"body": "cloth", "type": "Shell", "stretching_stiffness": 750, "bending_stiffness":
      0.05, "area_density": 0.2, "stretch_damping": 1, "bend_damping": 0.1, "yield_angle": 0.05})");
  const AsyncMaterial cloth = *find_async_material(read(scene).scene, "cloth");
  EXPECT_EQ(cloth.stretching_stiffness, 750);
  EXPECT_EQ(cloth.poisson, 0.3);
  EXPECT_EQ(cloth.bending_stiffness, 0.05);
  EXPECT_EQ(cloth.area_density, 0.2);
  EXPECT_EQ(cloth.bend_damping, 0.1);
  EXPECT_EQ(cloth.yield_angle, 0.05);
}

TEST(AsyncContact, HasItsDefaults) {
  const Scene scene = read(scene_with("{}")).scene;
  const AsyncSpec& spec = async_of(scene).solver;
  EXPECT_EQ(spec.certificates, solvers::async_contact::Certificates::windows);
  EXPECT_EQ(spec.restitution, 1);
  EXPECT_EQ(spec.layer_share, 0.01);
  EXPECT_FALSE(spec.motion_step);
  EXPECT_TRUE(spec.aligned);
  EXPECT_EQ(async_of(read(scene_with(R"({"solver": {"asynchronous": {"certificates": "slabs"}}})")).scene)
                .solver.certificates,
            solvers::async_contact::Certificates::slabs);
}

TEST(AsyncContact, TakesLawsOfSolids) {
  json scene = scene_with("{}");
  scene["materials"][0] =
      json::parse(R"({"body": "cloth", "type": "NeoHookean", "E": 1e5, "nu": 0.25, "rho": 900})");
  const Scene young = read(scene).scene;
  const AsyncMaterial& solid = *find_async_material(young, "cloth");
  EXPECT_EQ(solid.kind, AsyncBodyKind::solid);
  EXPECT_EQ(solid.law->name, "NeoHookean");
  EXPECT_EQ(solid.density, 900);
  ASSERT_EQ(solid.parameters.size(), 2);
  EXPECT_DOUBLE_EQ(solid.parameters[0], 4e4); // E nu/((1 + nu)(1 - 2 nu))
  EXPECT_DOUBLE_EQ(solid.parameters[1], 4e4); // E/(2 (1 + nu))
  scene["materials"][0] =
      json::parse(R"({"body": "cloth", "type": "MooneyRivlin", "c1": 3e4, "c2": 1e4, "k": 1e6})");
  EXPECT_EQ(find_async_material(read(scene).scene, "cloth")->parameters,
            (std::vector<double>{3e4, 1e4, 1e6}));
}

/// Wrong scenes: a JSON patch and what the message must hold.
struct Wrong {
  const char* name;
  const char* patch; ///< RFC 6902
  std::vector<const char*> parts;
};

const Wrong wrong_scenes[] = {
    {"no_time", R"([{"op": "remove", "path": "/time"}])", {"needs `time`"}},
    {"too_long", R"([{"op": "add", "path": "/time/dt", "value": 1e5}])", {"(/time)", "8000 s"}},
    {"quasistatic",
     R"([{"op": "add", "path": "/time/quasistatic", "value": true}])",
     {"(/time/quasistatic)", "asynchronous contact", "leave it out"}},
    {"integrator",
     R"([{"op": "add", "path": "/time/integrator", "value": "BDF2"}])",
     {"(/time/integrator)", "leave it out: clocks"}},
    {"order",
     R"([{"op": "add", "path": "/space", "value": {"discr_order": 2}}])",
     {"(/space/discr_order)", "a finer mesh"}},
    {"law",
     R"([{"op": "replace", "path": "/materials/0/type", "value": "BondedParticles"}])",
     {"(/materials/0/type)", "Shell, Spheres", "NeoHookean"}},
    {"thick_solid",
     R"([{"op": "replace", "path": "/materials/0/type", "value": "NeoHookean"}])",
     {"(/materials/0/thickness)", "this is a solid", "take a Shell"}},
    {"solid_without_constants",
     R"([{"op": "replace", "path": "/materials/0/type", "value": "MooneyRivlin"}, {"op": "remove", "path":
      "/materials/0/thickness"}, {"op": "remove", "path": "/materials/0/E"}, {"op": "remove", "path": "/materials/0/nu"}])",
     {"(/materials/0)", "MooneyRivlin needs", "`c1` is missing"}},
    {"solid_of_formulas",
     R"([{"op": "replace", "path": "/materials/0", "value": {"body": "cloth", "type": "NeoHookean", "E": "1e5*x",
      "nu": 0.3}}])",
     {"(/materials/0)", "`E` must be a number"}},
    {"incompressible_solid",
     R"([{"op": "replace", "path": "/materials/0", "value": {"body": "cloth", "type": "NeoHookean", "E": 1e5, "nu":
      0.5}}])",
     {"(/materials/0/nu)", "below 0.5 in solids", "take 0.499"}},
    {"damped_solid",
     R"([{"op": "replace", "path": "/materials/0", "value": {"body": "cloth", "type": "NeoHookean", "E": 1e5, "nu": 0.3,
      "psi": 1}}])",
     {"(/materials/0/psi)", "solids have no damping"}},
    {"solid_spheres",
     R"([{"op": "replace", "path": "/materials/1", "value": {"body": "dumbbell", "type": "NeoHookean", "E": 1e5, "nu":
      0.3}}])",
     {"(/materials/1)", "'dumbbell' is of spheres", "\"Spheres\""}},
    {"sphere_cloth",
     R"([{"op": "replace", "path": "/materials/0", "value": {"body": "cloth", "type": "Spheres", "mass": 1}}])",
     {"(/materials/0)", "'cloth' is of a mesh", "\"Shell\" or of an elastic law"}},
    {"law_constant",
     R"([{"op": "add", "path": "/materials/0/lambda", "value": 1}])",
     {"(/materials/0/lambda)", "take `body`, `E`, `nu`, `rho`"}},
    {"phi",
     R"([{"op": "add", "path": "/materials/0/phi", "value": 1}])",
     {"(/materials/0/phi)", "write `stretch_damping`"}},
    {"no_thickness",
     R"([{"op": "remove", "path": "/materials/0/thickness"}])",
     {"(/materials/0)", "`thickness` is missing"}},
    {"no_nu", R"([{"op": "remove", "path": "/materials/0/nu"}])", {"(/materials/0)", "`nu` is missing"}},
    {"two_stiffnesses",
     R"([{"op": "add", "path": "/materials/0/stretching_stiffness", "value": 1}])",
     {"(/materials/0/stretching_stiffness)", "give these or the stiffnesses"}},
    {"no_stiffness",
     R"([{"op": "remove", "path": "/materials/0/E"}])",
     {"(/materials/0)", "`stretching_stiffness` is missing"}},
    {"no_bending",
     R"([{"op": "remove", "path": "/materials/0/E"}, {"op": "add", "path": "/materials/0/stretching_stiffness",
      "value": 1}])",
     {"(/materials/0)", "`bending_stiffness` is missing"}},
    {"two_densities",
     R"([{"op": "add", "path": "/materials/0/area_density", "value": 1}])",
     {"(/materials/0/area_density)", "give one of both"}},
    {"formula",
     R"([{"op": "replace", "path": "/materials/0/E", "value": "1e6*x"}])",
     {"(/materials/0/E)", "must be a number"}},
    {"damped_nothing",
     R"([{"op": "remove", "path": "/materials/0/E"},
      {"op": "add", "path": "/materials/0/stretching_stiffness", "value": 1}, {"op": "add", "path":
      "/materials/0/bending_stiffness", "value": 0}, {"op": "add", "path": "/materials/0/bend_damping", "value": 1}])",
     {"(/materials/0/bend_damping)", "stiffness is 0"}},
    {"mass_of_shell",
     R"([{"op": "add", "path": "/materials/0/mass", "value": 1}])",
     {"(/materials/0/mass)", "this is a shell"}},
    {"thick_spheres",
     R"([{"op": "add", "path": "/materials/1/thickness", "value": 1}])",
     {"(/materials/1/thickness)", "rigid spheres"}},
    {"two_masses",
     R"([{"op": "add", "path": "/materials/1/rho", "value": 100}])",
     {"(/materials/1/mass)", "keep one"}},
    {"no_spring_stiffness",
     R"([{"op": "remove", "path": "/materials/1/spring_stiffness"}])",
     {"'dumbbell' has `springs`", "`spring_stiffness` is missing"}},
    {"no_material",
     R"([{"op": "remove", "path": "/materials/1"}])",
     {"(/materials)", "'dumbbell'", "add one of \"type\": \"Spheres\""}},
    {"other_material",
     R"([{"op": "remove", "path": "/materials/1"}, {"op": "remove", "path": "/materials/0/body"}])",
     {"(/materials/0)", "'dumbbell' is of spheres", "\"Spheres\""}},
    {"repeated_material",
     R"([{"op": "copy", "from": "/materials/0", "path": "/materials/0"}])",
     {"(/materials/1)", "given already"}},
    {"unknown_body",
     R"([{"op": "replace", "path": "/materials/0/body", "value": "clot"}])",
     {"(/materials/0/body)", "did you mean 'cloth'"}},
    {"no_mesh", R"([{"op": "remove", "path": "/geometry/0/mesh"}])", {"(/geometry/0)", "needs `mesh`"}},
    {"mesh_and_spheres",
     R"([{"op": "add", "path": "/geometry/1/mesh", "value": "meshes/square.obj"}])",
     {"(/geometry/1/mesh)", "keep one"}},
    {"no_centers",
     R"([{"op": "remove", "path": "/geometry/1/spheres/centers"}])",
     {"(/geometry/1/spheres)", "needs `centers`"}},
    {"two_sources",
     R"([{"op": "add", "path": "/geometry/1/spheres/file", "value": "meshes/square.obj"}])",
     {"(/geometry/1/spheres)", "keep one"}},
    {"no_radius",
     R"([{"op": "remove", "path": "/geometry/1/spheres/radius"}])",
     {"(/geometry/1/spheres)", "need a `radius`"}},
    {"flat_center",
     R"([{"op": "replace", "path": "/geometry/1/spheres/centers/0", "value": [0, 0]}])",
     {"(/geometry/1/spheres/centers/0)", "3"}},
    {"spring_to_itself",
     R"([{"op": "replace", "path": "/geometry/1/spheres/springs/0", "value": [1, 1]}])",
     {"(/geometry/1/spheres/springs/0)", "with itself"}},
    {"spring_to_none",
     R"([{"op": "replace", "path": "/geometry/1/spheres/springs/0", "value": [0, 2]}])",
     {"(/geometry/1/spheres/springs/0)", "the body has 2"}},
    {"ellipsoids",
     R"([{"op": "add", "path": "/geometry/1/transformation", "value": {"scale": [1, 2, 1]}}])",
     {"(/geometry/1/transformation/scale)", "one positive number"}},
    {"particles",
     R"([{"op": "add", "path": "/geometry/0/particles", "value": {"radius": 0.1}}])",
     {"(/geometry/0/particles)", "is of bonded particles"}},
    {"volume_ids",
     R"([{"op": "add", "path": "/geometry/0/volume_selection", "value": 1}])",
     {"(/geometry/0/volume_selection)", "by `body`"}},
    {"facet_ids",
     R"([{"op": "add", "path": "/geometry/0/surface_selection", "value": 1}])",
     {"(/geometry/0/surface_selection)", "`point_selection`"}},
    {"refined",
     R"([{"op": "add", "path": "/geometry/0/n_refs", "value": 1}])",
     {"(/geometry/0/n_refs)", "a finer mesh"}},
    {"sphere_obstacle",
     R"([{"op": "add", "path": "/geometry/1/is_obstacle", "value": true}])",
     {"(/geometry/1", "mesh"}},
    {"half_held",
     R"([{"op": "add", "path": "/boundary_conditions/dirichlet_boundary/0/dimension", "value": [true, false,
      true]}])",
     {"(/boundary_conditions/dirichlet_boundary/0/dimension)", "leave it out"}},
    {"load",
     R"([{"op": "add", "path": "/boundary_conditions/normal_aligned_neumann_boundary", "value": [{"id": 1, "value":
      1}]}])",
     {"(/boundary_conditions/normal_aligned_neumann_boundary/0/value)", "write `pressure_boundary`"}},
    {"load_at_rest",
     R"([{"op": "add", "path": "/boundary_conditions/rest_pressure_boundary", "value": [{"id": 1, "value": 1}]}])",
     {"(/boundary_conditions/rest_pressure_boundary/0/value)", "write `pressure_boundary`"}},
    {"pressure_per_time",
     R"([{"op": "add", "path": "/boundary_conditions/pressure_boundary", "value": [{"id": 1, "value": [0, 1],
      "time_reference": [0, 0.1]}]}])",
     {"(/boundary_conditions/pressure_boundary/0)", "write a formula of t"}},
    {"rhs",
     R"([{"op": "add", "path": "/boundary_conditions/rhs", "value": [0, {"file": "meshes/square.obj", "dataset": "/a"},
      0]}])",
     {"(/boundary_conditions/rhs/1)", "write a formula"}},
    {"triangles_of_spheres",
     R"([{"op": "add", "path": "/geometry/1/surface_selection", "value": 1}])",
     {"(/geometry/1/surface_selection)", "this body is of spheres"}},
    {"ids_of_volumes",
     R"([{"op": "add", "path": "/initial_conditions", "value": {"velocity": [{"id": 1, "value": [0, 0, 0]}]}}])",
     {"(/initial_conditions/velocity/0/id)", "write `body`"}},
    {"nodal_values",
     R"([{"op": "add", "path": "/initial_conditions", "value": {"velocity": [{"body": "cloth", "value":
      {"file": "meshes/square.obj", "dataset": "/v"}}]}}])",
     {"(/initial_conditions/velocity/0/value)", "write formulas"}},
    {"fields",
     R"([{"op": "add", "path": "/output", "value": {"fields": ["stress"]}}])",
     {"(/output/fields)", "leave it out"}},
    {"no_contact",
     R"([{"op": "add", "path": "/contact", "value": {"restitution": 0.5}}])",
     {"(/contact/restitution)", "set contact/enabled to true"}},
    {"moving_without_contact",
     R"([{"op": "add", "path": "/boundary_conditions/obstacle_displacements", "value": [{"id": 2,
      "value": [0, 0, "t"]}]}])",
     {"(/boundary_conditions/obstacle_displacements)", "set contact/enabled to true"}},
    {"frictionless_anchor",
     R"([{"op": "remove", "path": "/geometry/1"}, {"op": "remove", "path": "/materials/1"},
      {"op": "add", "path": "/contact", "value": {"enabled": true, "anchor_stiffness": 10}}])",
     {"(/contact/anchor_stiffness)", "give a `friction_coefficient`"}},
    {"restitution",
     R"([{"op": "add", "path": "/contact", "value": {"enabled": true, "restitution": 1.5}}])",
     {"(/contact/restitution)", "0 to 1"}},
    {"barrier",
     R"([{"op": "add", "path": "/solver/contact", "value": {"barrier_stiffness": 10}}])",
     {"(/solver/contact/barrier_stiffness)", "contact/layer_stiffness"}},
    {"relative",
     R"([{"op": "add", "path": "/contact", "value": {"enabled": true, "dhat_relative": 0.1}}])",
     {"(/contact/dhat_relative)", "write `dhat`"}},
    {"pairs",
     R"([{"op": "add", "path": "/contact", "value": {"enabled": true, "friction_pairs": [{"bodies": ["cloth",
      "plate"], "coefficient": 1}]}}])",
     {"(/contact/friction_pairs)", "write `friction_coefficient`"}},
    {"share",
     R"([{"op": "add", "path": "/solver/asynchronous", "value": {"layer_share": 0.7}}])",
     {"(/solver/asynchronous/layer_share)", "0.5"}},
    {"unknown_key",
     R"([{"op": "add", "path": "/solver/asynchronous", "value": {"layershare": 0.1}}])",
     {"(/solver/asynchronous", "layer_share"}},
    {"newton",
     R"([{"op": "add", "path": "/solver/nonlinear", "value": {"max_iterations": 7}}])",
     {"(/solver/nonlinear/max_iterations)", "nothing is iterated"}},
};

class WrongAsyncScene : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongAsyncScene, IsRefusedWithPlaceAndCure) {
  ASSERT_EQ(message_of(scene_with("{}")), "");
  const std::string message = message_of(scene_with("{}").patch(json::parse(GetParam().patch)));
  for (const char* part : GetParam().parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(All, WrongAsyncScene, ::testing::ValuesIn(wrong_scenes),
                         [](const auto& info) { return std::string(info.param.name); });

/// Beside what bonded particles refuse, and their own keys.
const std::set<std::string> refused_here{"/time/quasistatic",
                                         "/time/max_retries",
                                         "/contact/epsv",
                                         "/contact/friction_pairs",
                                         "/contact/friction_pairs/*/bodies",
                                         "/contact/friction_pairs/*/coefficient",
                                         "/solver/contact/barrier_stiffness",
                                         "/solver/contact/friction_iterations"};

/// What bonded particles refuse and asynchronous contact has: constants of elastic laws, loads.
bool is_used_here(const std::string& key) {
  for (const potentials::LawInfo& law : potentials::laws())
    for (const potentials::LawConstant& constant : law.constants)
      if (key == std::string("/materials/*/") + constant.name) return true;
  return key == "/boundary_conditions/rhs" || key.starts_with("/boundary_conditions/neumann_boundary") ||
         key.starts_with("/boundary_conditions/pressure_boundary");
}

/// Beside that, the cells that bonded particles share with finite elements.
bool is_refused_here(const Key& key) {
  return refused_here.contains(key.pattern) ||
         std::ranges::all_of(expand_braces(key.pattern), [](const std::string& one) {
           return one.starts_with("/boundary_conditions/periodic_boundary") ||
                  one == "/boundary_conditions/fixed_macro_strain" ||
                  one.starts_with("/boundary_conditions/linear_displacement_offset");
         });
}

/// Whatever scenes of bonded particles or finite elements have, those of asynchronous contact use or refuse.
TEST(AsyncContact, UsesOrRefusesEveryKey) {
  for (const KeySection& section : scene_keys().sections)
    for (const Key& key : section.keys) {
      if (key.mark != Mark::honoured || key.solvers.size() == 1 ||
          (key.types & object && key.fallback && std::string(key.fallback) == "{}"))
        continue;
      const bool is_refused = !key.is_for("asynchronous");
      const std::vector<std::string> keys = expand_braces(key.pattern);
      if (std::ranges::all_of(keys, is_used_here)) {
        EXPECT_FALSE(is_refused) << key.pattern;
      } else if (std::ranges::none_of(keys, is_used_here)) {
        EXPECT_EQ(is_refused, !key.is_for("bonded_particles") || is_refused_here(key)) << key.pattern;
      }
    }
}

} // namespace async_contact_test
} // namespace recoil::app
