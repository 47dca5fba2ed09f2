#include <gtest/gtest.h>

#include "app_study/study_text.hpp"

namespace recoil::app {
namespace {

class WrongObjective : public ::testing::TestWithParam<WrongStudy> {};

TEST_P(WrongObjective, IsRefused) { expect_refused(GetParam()); }

WrongStudy wrong(const char* name, const char* entries, std::vector<const char*> parts) {
  return {name, with_objectives(entries), "{}", std::move(parts)};
}

/// With a parameter that needs neither time nor contact.
WrongStudy wrong_in(const char* scene_patch, const char* name, const char* entries,
                    std::vector<const char*> parts) {
  return {name,
          std::string(R"({"parameters": {"name": "E", "quantity": "young_modulus", "body": "ball",
                          "initial": 1}, "objectives": )") +
              entries + "}",
          scene_patch, std::move(parts)};
}

constexpr const char* statics = R"({"time": null})";

const char* const two_experiments =
    R"({"experiments": [{"name": "drop", "scene": "drop.json"}, {"name": "push", "scene": "drop.json"}],
        "objectives": {"name": "W", "type": "elastic_energy"}})";

const WrongStudy inputs[] = {
    wrong("unknown_type", R"({"name": "a", "type": "center_of_mas", "target": "observed.csv"})",
          {"(/objectives/0/type)", "did you mean 'center_of_mass'"}),
    wrong("no_objective", "", {"(/objectives)", "at least 1"}),
    wrong("name_twice", R"({"name": "a", "type": "elastic_energy"}, {"name": "a", "type": "elastic_energy"})",
          {"(/objectives/1/name)", "'a' is taken already"}),
    wrong("experiment", R"({"name": "a", "type": "elastic_energy", "experiment": "push"})",
          {"(/objectives/0/experiment)", "no experiment 'push'", "there are: drop"}),
    {"experiment_needed", two_experiments, "{}", {"(/objectives", "needs `experiment`", "'push'"}},
    wrong("body", R"({"name": "a", "type": "elastic_energy", "body": "bal"})",
          {"(/objectives/0/body)", "experiment 'drop'", "no body 'bal'", "did you mean 'ball'"}),
    wrong("obstacle", R"({"name": "a", "type": "elastic_energy", "body": "floor"})",
          {"(/objectives/0/body)", "'floor' is an obstacle"}),
    wrong("no_exponent", R"({"name": "a", "type": "stress_norm"})", {"(/objectives/0)", "needs `p`"}),
    wrong("small_exponent", R"({"name": "a", "type": "stress_norm", "p": 0.5})",
          {"(/objectives/0/p)", "> 1", "is 0.5"}),
    wrong("no_exponent_of_the_maximum", R"({"name": "a", "type": "max_stress"})",
          {"(/objectives/0)", "max_stress needs `p`"}),
    wrong("limit_of_the_maximum", R"({"name": "a", "type": "max_stress", "p": 8, "limit": 1})",
          {"(/objectives/0/limit)", "`limit` does not go with max_stress"}),
    wrong("stress", R"({"name": "a", "type": "stress_norm", "p": 2, "stress": "kirchhoff"})",
          {"(/objectives/0/stress)", "\"first_piola\", \"cauchy\"", "kirchhoff"}),
    wrong("no_limit", R"({"name": "a", "type": "stress_bound"})", {"(/objectives/0)", "needs `limit`"}),
    wrong("limit_of_zero", R"({"name": "a", "type": "volume_bound", "limit": 0})",
          {"(/objectives/0/limit)", "must be > 0"}),
    wrong("no_distance", R"({"name": "a", "type": "rest_separation"})",
          {"(/objectives/0)", "needs `distance`"}),
    wrong("distance_of_zero", R"({"name": "a", "type": "rest_separation", "distance": 0})",
          {"(/objectives/0/distance)", "must be > 0"}),
    wrong("time_of_a_rest_shape",
          R"({"name": "a", "type": "rest_separation", "distance": 1, "time": "final"})",
          {"(/objectives/0/time)", "do not change in time"}),
    wrong(
        "three_bodies_apart",
        R"({"name": "a", "type": "min_distance", "bodies": ["ball", "plinth", "floor"], "limit": 1, "p": 4})",
        {"(/objectives/0/bodies)", "2", "keep a distance"}),
    wrong("unknown_body_apart",
          R"({"name": "a", "type": "min_distance", "bodies": ["ball", "flor"], "limit": 1, "p": 4})",
          {"(/objectives/0/bodies)", "no body or obstacle 'flor'", "did you mean 'floor'"}),
    wrong("body_apart_from_itself",
          R"({"name": "a", "type": "min_distance", "bodies": ["ball", "ball"], "limit": 1, "p": 4})",
          {"(/objectives/0/bodies)", "from itself", "rest_separation"}),
    wrong("apart_without_exponent",
          R"({"name": "a", "type": "min_distance", "bodies": ["ball", "floor"], "limit": 1})",
          {"(/objectives/0)", "needs `p`"}),
    wrong("apart_by_an_area",
          R"({"name": "a", "type": "min_distance", "bodies": ["ball", "floor"],
              "limit": {"value": 1, "unit": "m^3"}, "p": 4})",
          {"(/objectives/0/limit)", "\"unit\": \"m\""}),
    wrong("unit_of_limit", R"({"name": "a", "type": "volume_bound", "limit": {"value": 1, "unit": "Pa"}})",
          {"(/objectives/0/limit)", "\"unit\": \"m^3\""}),
    wrong("exponent_of_energy", R"({"name": "a", "type": "elastic_energy", "p": 2})",
          {"(/objectives/0/p)", "`p` does not go with elastic_energy"}),
    wrong("no_target", R"({"name": "a", "type": "center_of_mass"})", {"(/objectives/0)", "needs `target`"}),
    wrong("target_missing", R"({"name": "a", "type": "center_of_mass", "target": "observd.csv"})",
          {"(/objectives/0/target)", "no such file", "did you mean 'observed.csv'", "folder of the study"}),
    wrong("target_of_numbers", R"({"name": "a", "type": "center_of_mass", "target": [0, 0, 1]})",
          {"(/objectives/0/target)", "is a CSV file"}),
    wrong("velocity_of_a_file", R"({"name": "a", "type": "velocity", "target": "observed.csv"})",
          {"(/objectives/0/target)", "is a vector"}),
    wrong("velocity_in_the_plane", R"({"name": "a", "type": "velocity", "target": [0, 1]})",
          {"(/objectives/0/target)", "target velocity needs 3 components in 3D, has 2"}),
    wrong("no_reference", R"({"name": "a", "type": "target_position"})",
          {"(/objectives/0)", "needs `reference`"}),
    wrong("reference_missing", R"({"name": "a", "type": "target_position", "reference": "run"})",
          {"(/objectives/0/reference)", "no such file or folder"}),
    wrong("reference_of_no_run", R"({"name": "a", "type": "target_position", "reference": "."})",
          {"(/objectives/0/reference)", "is not a run folder"}),
    wrong("forces_of_boundaries",
          R"({"name": "a", "type": "reaction_force", "boundary": [1, 2], "direction": [1, 0, 0],
              "target": "observed.csv"})",
          {"(/objectives/0/boundary)", "one id, not a list"}),
    wrong("distance_of_numbers", R"({"name": "a", "type": "signed_distance_target", "target": [0, 0, 1]})",
          {"(/objectives/0/target)", "is an HDF5 file"}),
    wrong("polygon_of_numbers", R"({"name": "a", "type": "polygon_target", "target": [0, 0, 1]})",
          {"(/objectives/0/target)", "\"goal.stl\" in 3D"}),
    wrong("distance_from_no_facet",
          R"({"name": "a", "type": "signed_distance_target", "target": "observed.csv", "boundary": 77})",
          {"(/objectives/0/boundary)", "no facet has the surface id 77"}),
    wrong("axis", R"({"name": "a", "type": "height", "axis": "up"})",
          {"(/objectives/0/axis)", "\"x\", \"y\", \"z\""}),
    wrong("integral_without_axis", R"({"name": "a", "type": "position_integral"})",
          {"(/objectives/0)", "position_integral needs `axis`"}),
    wrong("data_of_an_energy", R"({"name": "a", "type": "elastic_energy", "time": {"times": "data"}})",
          {"(/objectives/0/time)", "elastic_energy is not compared with a CSV file"}),
    wrong("times_of_a_text",
          R"({"name": "a", "type": "center_of_mass", "target": "observed.csv", "time": {"times": "dat"}})",
          {"(/objectives/0/time/times)", "\"data\"", "did you mean 'data'"}),
    wrong_in(
        statics, "data_of_statics",
        R"({"name": "a", "type": "center_of_mass", "target": "observed.csv", "time": {"times": "data"}})",
        {"(/objectives/time)", "a static scene has one state"}),
    wrong(
        "field_of_two_bodies",
        R"({"name": "a", "type": "displacement_field", "body": ["ball", "plinth"], "target": "observed.csv"})",
        {"(/objectives/0/body)", "lie in one body, here are 2"}),
    wrong("field_without_body", R"({"name": "a", "type": "displacement_field", "target": "observed.csv"})",
          {"(/objectives/0)", "needs `body`"}),
    wrong("outside",
          R"({"name": "a", "type": "displacement_field", "body": "ball", "target": "observed.csv",
              "outside": "ignore"})",
          {"(/objectives/0/outside)", "\"refuse\", \"drop\""}),
    wrong("markers_without_any", R"({"name": "a", "type": "markers", "target": "observed.csv"})",
          {"(/objectives/0)", "no `markers`", "\"rest\""}),
    wrong("gauge_on_two_bodies",
          R"({"name": "a", "type": "strain_at", "body": ["ball", "plinth"], "target": "observed.csv",
                                      "rest": [0, 0, 2], "direction": [1, 0, 0]})",
          {"(/objectives/0/body)", "sits on one body, here are 2"}),
    wrong("gauge_without_direction",
          R"({"name": "a", "type": "strain_at", "body": "ball", "target": "observed.csv",
                                          "rest": [0, 0, 2], "direction": [0, 0, 0]})",
          {"(/objectives/0/direction)", "must not be zero"}),
    wrong("gauge_in_the_plane",
          R"({"name": "a", "type": "strain_at", "body": "ball", "target": "observed.csv",
                                     "rest": [0, 2], "direction": [1, 0, 0]})",
          {"(/objectives/0/rest)", "strain gauge needs 3 components in 3D, has 2"}),
    wrong("gauge_without_body",
          R"({"name": "a", "type": "strain_at", "target": "observed.csv", "rest": [0, 0, 2],
                                     "direction": [1, 0, 0]})",
          {"(/objectives/0)", "strain_at needs `body`"}),
    wrong("time", R"({"name": "a", "type": "elastic_energy", "time": "last"})",
          {"(/objectives/0/time)", "\"integral\", \"final\"", "last"}),
    wrong("time_of_nothing", R"({"name": "a", "type": "elastic_energy", "time": {}})",
          {"(/objectives/0/time)", "needs one of"}),
    wrong("steps_repeated", R"({"name": "a", "type": "elastic_energy", "time": {"steps": [1, 3, 3]}})",
          {"(/objectives/0/time/steps/2)", "ascending", "3 comes after 3"}),
    wrong("step_not_run", R"({"name": "a", "type": "elastic_energy", "time": {"steps": [1, 11]}})",
          {"(/objectives/0/time)", "step 11 is not run", "10 steps"}),
    wrong("time_not_reached", R"({"name": "a", "type": "elastic_energy", "time": {"times": [0.05, 0.2]}})",
          {"(/objectives/0/time)", "0.2 s is not reached", "0.0 s to 0.1 s"}),
    wrong("time_of_a_volume", R"({"name": "a", "type": "volume_bound", "limit": 1, "time": "final"})",
          {"(/objectives/0/time)", "do not change in time"}),
    wrong("power", R"({"name": "a", "type": "elastic_energy", "power": 0})",
          {"(/objectives/0/power)", "must be > 0"}),
    wrong_in(R"({"contact": {"enabled": false}})", "contact_force_without_contact",
             R"({"name": "a", "type": "contact_force_norm"})", {"(/objectives/type)", "contact/enabled"}),
    wrong_in(R"({"contact": {"enabled": false}})", "apart_without_contact",
             R"({"name": "a", "type": "min_distance", "bodies": ["ball", "floor"], "limit": 1, "p": 4})",
             {"(/objectives/type)", "contact/enabled"}),
    wrong_in(statics, "integral_in_statics", R"({"name": "a", "type": "elastic_energy", "time": "integral"})",
             {"(/objectives/time)", "a static scene has one state", "\"final\""}),
    wrong_in(statics, "velocity_in_statics", R"({"name": "a", "type": "velocity", "target": [0, 0, 0]})",
             {"(/objectives/type)", "velocity needs a scene that moves in time"}),
};

INSTANTIATE_TEST_SUITE_P(Table, WrongObjective, ::testing::ValuesIn(inputs),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace recoil::app
