#include <gtest/gtest.h>

#include "app_study/study_text.hpp"

namespace recoil::app {
namespace {

/// Parameters that their scene does not use.
class WrongUse : public ::testing::TestWithParam<WrongStudy> {};

TEST_P(WrongUse, IsRefused) { expect_refused(GetParam()); }

WrongStudy wrong(const char* name, const char* entries, std::vector<const char*> parts,
                 const char* scene_patch = "{}") {
  return {name, with_parameters(entries), scene_patch, std::move(parts)};
}

constexpr const char* modulus = R"({"name": "E", "quantity": "young_modulus", "body": "ball", "initial": 1})";
constexpr const char* velocity =
    R"({"name": "v", "quantity": "initial_velocity", "body": "ball", "initial": [0, 0, 0]})";
constexpr const char* start =
    R"({"name": "u", "quantity": "initial_displacement", "body": "ball", "initial": [0, 0, 0]})";
constexpr const char* rubbing =
    R"({"name": "mu", "quantity": "friction", "bodies": ["ball", "floor"], "initial": 0.3})";
constexpr const char* density = R"({"name": "rho", "quantity": "density", "initial": 1})";
/// Beside an objective that does not weigh by it.
const std::string with_density = std::string(R"({"parameters": [)") + density +
                                 R"(], "objectives": {"name": "e", "type": "elastic_energy"}})";
constexpr const char* quasistatic = R"({"time": {"quasistatic": true}, "contact": {"enabled": false},
  "materials": {"type": "NeoHookean", "E": 1, "nu": 0.3}})";

const WrongStudy inputs[] = {
    wrong("body", R"({"name": "E", "quantity": "young_modulus", "body": "bal", "initial": 1})",
          {"(/parameters/0/body)", "experiment 'drop'", "no body 'bal'", "did you mean 'ball'"}),
    wrong("obstacle", R"({"name": "E", "quantity": "young_modulus", "body": "floor", "initial": 1})",
          {"(/parameters/0/body)", "'floor' is an obstacle"}),
    wrong("region",
          R"({"name": "E", "quantity": "young_modulus", "body": "ball", "region": 5, "initial": 1})",
          {"(/parameters/0/region)", "volume id 5", "ids there: 0"}),
    wrong("constant_of_another_law",
          R"({"name": "c", "quantity": "mooney_c1", "body": "ball", "initial": 1})",
          {"(/parameters/0/quantity)", "mooney_c1 is not a constant of NeoHookean", "/materials/0",
           "young_modulus"}),
    wrong("modulus_of_mooney_rivlin",
          R"({"name": "E", "quantity": "young_modulus", "body": "plinth", "initial": 1})",
          {"(/parameters/0/quantity)", "not a constant of MooneyRivlin", "'plinth'", "mooney_k"}),
    wrong("modulus_of_all", R"({"name": "E", "quantity": "young_modulus", "initial": 1})",
          {"(/parameters/0/quantity)", "not a constant of MooneyRivlin", "which `body` is meant"}),
    wrong("damping", R"({"name": "d", "quantity": "damping_shear", "body": "ball", "initial": 1})",
          {"(/parameters/0/quantity)", "damping_shear is not used", "'ball'", "positive `psi` or `phi`"}),
    wrong("damping_in_statics",
          R"({"name": "d", "quantity": "damping_shear", "body": "plinth", "initial": 1})",
          {"(/parameters/0/quantity)", "a static scene has no rates"}, R"({"time": null})"),
    wrong("friction_body",
          R"({"name": "mu", "quantity": "friction", "bodies": ["ball", "flor"], "initial": 1})",
          {"(/parameters/0/bodies)", "no body 'flor'", "did you mean 'floor'"}),
    wrong("friction_without_contact", rubbing,
          {"(/parameters/0/quantity)", "friction is not used: contact is off", "contact/enabled"},
          R"({"contact": {"enabled": false}})"),
    wrong("friction_of_obstacles",
          R"({"name": "mu", "quantity": "friction", "bodies": ["ground", "floor"], "initial": 1})",
          {"(/parameters/0/bodies)", "'ground' and 'floor' are obstacles", "never touch"}),
    wrong("friction_switched_off", rubbing,
          {"(/parameters/0/quantity)", "friction_iterations = 0", "use 1 or -1"},
          R"({"solver": {"contact": {"friction_iterations": 0}}})"),
    wrong("friction_passes", modulus,
          {"(/experiments/0/scene)", "friction_iterations = 3", "use 1, or -1 (until converged)"},
          R"({"solver": {"contact": {"friction_iterations": 3}}})"),
    wrong("passes_of_a_new_friction", rubbing, {"(/experiments/0/scene)", "friction_iterations = 2"},
          R"({"contact": {"friction_coefficient": 0}, "solver": {"contact": {"friction_iterations": 2}}})"),
    wrong("velocity_in_statics", velocity,
          {"(/parameters/0/quantity)", "initial_velocity is not used: the scene is static"},
          R"({"time": null})"),
    wrong("velocity_in_quasistatics", velocity,
          {"(/parameters/0/quantity)", "a quasistatic scene has no inertia"}, quasistatic),
    wrong("spin_in_statics", R"({"name": "w", "quantity": "initial_angular_velocity", "initial": [0, 0, 1]})",
          {"initial_angular_velocity is not used: the scene is static"}, R"({"time": null})"),
    wrong("displacement_in_statics", start, {"initial_displacement is not used: the scene is static"},
          R"({"time": null})"),
    wrong("displacement_that_is_forgotten", start,
          {"(/parameters/0/quantity)", "without friction, damping and normal tractions"}, quasistatic),
    {"density_in_statics",
     with_density,
     R"({"time": null, "gravity": [0, 0, 0]})",
     {"(/parameters/0/quantity)", "density is not used", "static", "no body force"}},
    {"density_in_quasistatics",
     with_density,
     R"({"time": {"quasistatic": true}, "gravity": [0, 0, 0]})",
     {"density is not used", "quasistatic"}},
    wrong("boundary", R"({"name": "g", "quantity": "dirichlet_value", "boundary": 9, "initial": [0, 0, 0]})",
          {"(/parameters/0/boundary)", "surface id 9", "ids in this scene: 1, 2, 3"}),
    wrong("boundary_that_is_free",
          R"({"name": "g", "quantity": "dirichlet_value", "boundary": 2, "initial": [0, 0, 0]})",
          {"(/parameters/0/boundary)", "dirichlet_value is not used",
           "no boundary_conditions/dirichlet_boundary with the id 2", "ids there: 1"}),
    wrong("boundary_of_an_obstacle",
          R"({"name": "g", "quantity": "dirichlet_value", "boundary": 7, "initial": [0, 0, 0]})",
          {"(/parameters/0/boundary)", "obstacle 'floor'", "obstacle_motion"}),
    wrong("traction_that_is_not_there",
          R"({"name": "t", "quantity": "traction", "boundary": 1, "initial": [0, 0, 0]})",
          {"(/parameters/0/boundary)", "neumann_boundary with the id 1", "ids there: 2", "may be zero"}),
    wrong("pressure_of_another_kind", R"({"name": "p", "quantity": "pressure", "initial": 0})",
          {"(/parameters/0)", "pressure is not used", "normal_aligned_neumann_boundary is another load"},
          R"({"boundary_conditions": {"pressure_boundary": null,
              "normal_aligned_neumann_boundary": {"id": 3, "value": 1}}})"),
    wrong("traction_of_several", R"({"name": "t", "quantity": "traction", "initial": [0, 0, 0]})",
          {"(/parameters/0/quantity)", "needs `boundary`", "2, 3"},
          R"({"boundary_conditions": {"neumann_boundary": [{"id": 2, "value": [0, 0, 0]},
                                                            {"id": 3, "value": [0, 0, 0]}]}})"),
    wrong("boundary_that_moves_an_obstacle",
          R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0]})",
          {"(/parameters/0/boundary)", "also moves the obstacle 'floor'", "obstacle_displacements"},
          R"({"boundary_conditions": {"obstacle_displacements": null,
              "dirichlet_boundary": {"id": [1, 7], "value": [0, 0, 0]}}})"),
    wrong("two_of_one_traction",
          R"({"name": "t", "quantity": "traction", "boundary": 2, "initial": [0, 0, 0]},
             {"name": "s", "quantity": "traction", "boundary": 3, "initial": [0, 0, 0]})",
          {"(/parameters/1/boundary)", "'s' and 't' would both set the value of", "split it"},
          R"({"boundary_conditions": {"neumann_boundary": {"id": [2, 3], "value": [0, 0, 0]}}})"),
    wrong("two_of_one_motion",
          R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0]},
             {"name": "h", "quantity": "dirichlet_value", "boundary": 2, "initial": [0, 0, 0]})",
          {"(/parameters/1/boundary)", "'h' and 'g' would both set"},
          R"({"boundary_conditions": {"dirichlet_boundary": {"id": [1, 2], "value": [0, 0, 0]}}})"),
    wrong("spin_of_a_region",
          R"({"name": "w", "quantity": "initial_angular_velocity", "region": 1, "initial": [0, 0, 1]})",
          {"(/parameters/0/region)", "`region` does not go with initial_angular_velocity"}),
    wrong(
        "part_of_a_spin",
        R"({"name": "w", "quantity": "initial_angular_velocity", "body": "ball", "initial": [0, 0, 1]})",
        {"(/parameters/0/quantity)", "part of the spin at", "one entry with one `body`"},
        R"({"initial_conditions": {"angular_velocity": {"body": ["ball", "plinth"], "value": [0, 0, 1]}}})"),
    wrong("density_of_what_turns", R"({"name": "rho", "quantity": "density", "body": "ball", "initial": 1})",
          {"(/parameters/0/quantity)", "turns about the centre of mass", "`center`"},
          R"({"initial_conditions": {"angular_velocity": {"body": "ball", "value": [0, 0, 1]}}})"),
    {"regularized_statics",
     with_density,
     R"({"time": null, "solver": {"advanced": {"lagged_regularization_weight": 1}}})",
     {"(/experiments/0/scene)", "lagged_regularization_weight > 0", "set it to 0"}},
    {"force_at_the_start",
     R"({"parameters": [{"name": "E", "quantity": "young_modulus", "body": "ball", "initial": 1}],
         "objectives": {"name": "f", "type": "contact_force_norm", "time": {"steps": [0, 1]}}})",
     R"({"time": null})",
     {"(/objectives/time)", "not for its start"}},
    wrong("motion_of_a_plane",
          R"({"name": "o", "quantity": "obstacle_motion", "body": "ground", "initial": [0, 0, 0]})",
          {"(/parameters/0/body)", "'ground' is a plane"}),
    wrong("motion_of_a_body",
          R"({"name": "o", "quantity": "obstacle_motion", "body": "ball", "initial": [0, 0, 0]})",
          {"(/parameters/0/body)", "'ball' is deformable", "dirichlet_value"}),
    wrong("motion_of_nothing",
          R"({"name": "o", "quantity": "obstacle_motion", "body": "flor", "initial": [0, 0, 0]})",
          {"(/parameters/0/body)", "no obstacle 'flor'", "did you mean 'floor'"}),
    wrong("motion_without_contact", R"({"name": "o", "quantity": "obstacle_motion", "initial": [0, 0, 0]})",
          {"(/parameters/0/quantity)", "obstacle_motion is not used: contact is off"},
          R"({"contact": {"enabled": false}})"),
    wrong("shape_of_a_plane", R"({"name": "s", "quantity": "shape", "body": "ground", "basis": "affine"})",
          {"(/parameters/0/body)", "has no vertices"}),
    wrong("shape_of_nothing", R"({"name": "s", "quantity": "shape", "body": "bell", "basis": "affine"})",
          {"(/parameters/0/body)", "no body 'bell'", "did you mean 'ball'"}),
    {"marker_body",
     R"({"objectives": {"name": "m", "type": "markers", "target": "observed.csv"},
         "markers": [{"name": "a", "body": "ball", "rest": [0, 0, 2]},
                     {"name": "b", "body": "bal", "rest": [0, 0, 2]}]})",
     "{}",
     {"(/markers/1/body)", "no body 'bal'", "did you mean 'ball'"}},
    {"markers_of_another_experiment",
     R"({"objectives": {"name": "m", "type": "markers", "target": "observed.csv"},
         "markers": {"name": "a", "body": "bal", "rest": [0, 0, 2]}})",
     "{}",
     {"(/objectives/type)", "no marker sits on a body"}},
    {"marker_in_the_plane",
     R"({"objectives": {"name": "m", "type": "markers", "target": "observed.csv"},
         "markers": [{"name": "a", "body": "ball", "rest": [0, 0]}]})",
     "{}",
     {"(/markers/0/rest)", "3 components in 3D, has 2"}},
};

INSTANTIATE_TEST_SUITE_P(Table, WrongUse, ::testing::ValuesIn(inputs),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace recoil::app
