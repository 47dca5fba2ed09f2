#include <gtest/gtest.h>

#include "app_study/study_text.hpp"

namespace recoil::app::wrong_replacement_test {
namespace {

/// Parameters that one value cannot stand for, and shapes that move what has no derivative.
class WrongReplacement : public ::testing::TestWithParam<WrongStudy> {};

TEST_P(WrongReplacement, IsRefused) { expect_refused(GetParam()); }

WrongStudy wrong(const char* name, const char* entries, const char* scene_patch,
                 std::vector<const char*> parts) {
  return {name, with_parameters(entries), scene_patch, std::move(parts)};
}

std::string ball_of(const std::string& constants) {
  return R"({"materials": {"type": "NeoHookean", )" + constants + "}}";
}

WrongStudy wrong_ball(const char* name, const char* entries, const char* constants,
                      std::vector<const char*> parts) {
  return {name, with_parameters(entries), ball_of(constants), std::move(parts)};
}

constexpr const char* modulus = R"({"name": "E", "quantity": "young_modulus", "body": "ball", "initial": 1})";
constexpr const char* shape = R"({"name": "s", "quantity": "shape", "body": "ball", "basis": "vertices"})";
constexpr const char* wall =
    R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0]})";

const WrongStudy inputs[] = {
    wrong_ball("formula", modulus, R"("E": "1e5+1e4*x", "nu": 0.3)",
               {"(/parameters/0/quantity)", "'E' would replace `E` of body 'ball'", "(/materials)",
                "varies in space: '1e5+1e4*x'"}),
    wrong_ball("formula_beside", modulus, R"("E": 1e5, "nu": "0.3+0.1*x")",
               {"(/parameters/0/quantity)", "together with `nu`", "'0.3+0.1*x'"}),
    wrong_ball("formula_of_the_other_pair", modulus, R"("lambda": "1e5+1e4*x", "mu": 1e5)",
               {"(/parameters/0/quantity)", "would replace `lambda`"}),
    wrong_ball(
        "element_data", modulus, R"("E": {"file": "observed.csv", "dataset": "/E"}, "nu": 0.3)",
        {"(/parameters/0", "one value per element", "by one value per global", "\"per\": \"element\""}),
    wrong_ball("density", R"({"name": "rho", "quantity": "density", "body": "ball", "initial": 1})",
               R"("E": 1, "nu": 0.3, "rho": "1+z")", {"would replace `rho`", "'1+z'"}),
    wrong("velocity",
          R"({"name": "v", "quantity": "initial_velocity", "body": "ball", "initial": [0, 0, 0]})",
          R"({"initial_conditions": {"velocity": {"body": "ball", "value": ["y", "-x", 0]}}})",
          {"(/parameters/0/quantity)", "would replace 'y'", "/initial_conditions/velocity", "per node"}),
    wrong("dirichlet_in_space", wall,
          R"({"boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": ["x", 0, 0]}]}})",
          {"(/parameters/0/quantity)", "would replace 'x'", "/dirichlet_boundary/0", "varies in space"}),
    wrong("dirichlet_per_node", wall,
          R"({"boundary_conditions": {"dirichlet_boundary": [
              {"id": 1, "value": {"file": "observed.csv", "dataset": "/u"}}]}})",
          {"(/parameters/0/quantity)", "would replace", "observed.csv, /u", "one value per node"}),
    wrong("nodes_and_steps",
          R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0], "per": "node",
              "per_step": true})",
          "{}", {"(/parameters/0/per_step)", "per step or per node, not both"}),
    wrong(
        "nodes_in_time",
        R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0], "per": "node"})",
        R"({"boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": ["-t", 0, 0]}]}})",
        {"(/parameters/0/quantity)", "would replace '-t'", "varies in time"}),
    wrong("dirichlet_in_time", wall,
          R"({"boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": ["-t", 0, 0]}]}})",
          {"(/parameters/0/quantity)", "would replace '-t'", "varies in time", "\"per_step\": true"}),
    wrong("obstacle_in_time",
          R"({"name": "o", "quantity": "obstacle_motion", "body": "floor", "initial": [0, 0, 0]})",
          R"({"boundary_conditions": {"obstacle_displacements": [{"id": 7, "value": [0, 0, "t"]}]}})",
          {"(/parameters/0/quantity)", "would replace 't'", "/obstacle_displacements/0"}),
    wrong("traction_in_time", R"({"name": "t", "quantity": "traction", "initial": [0, 0, 0]})",
          R"({"boundary_conditions": {"neumann_boundary": [{"id": 2, "value": [0, 0, "t"]}]}})",
          {"would replace 't'", "with an `interpolation`"}),
    wrong("pressure_and_normal_traction", R"({"name": "p", "quantity": "pressure", "initial": 1})",
          R"({"boundary_conditions": {"normal_aligned_neumann_boundary": [{"id": [2, 3], "value": 1}]}})",
          {"(/parameters/0/quantity)", "load the same facets", "/normal_aligned_neumann_boundary/0"}),
    wrong("body_force_in_time", R"({"name": "b", "quantity": "body_force", "initial": [0, 0, 0]})",
          R"({"boundary_conditions": {"rhs": [0, 0, "3*t"]}})",
          {"would replace '3*t'", "(/boundary_conditions/rhs)", "varies in time; write numbers"}),
    wrong("shape_and_body_force", shape, R"({"boundary_conditions": {"rhs": ["x", 0, 0]}})",
          {"(/parameters/0/quantity)", "a shape moves the points",
           "'x' at drop.json (/boundary_conditions/rhs)"}),
    wrong("shape_and_traction", shape,
          R"({"boundary_conditions": {"neumann_boundary": [{"id": 2, "value": ["y", 0, 0]}]}})",
          {"a shape moves the points", "'y'", "/neumann_boundary/0"}),
    {"shape_and_material",
     with_parameters(shape),
     ball_of(R"("E": "1e5+1e4*x", "nu": 0.3)"),
     {"a shape moves the points", "'1e5+1e4*x'", "(/materials)"}},
    wrong("shape_and_spin", shape,
          R"({"initial_conditions": {"angular_velocity": {"body": "ball", "value": [0, 0, 1]}}})",
          {"(/parameters/0/quantity)", "a shape moves what the spin at", "angular_velocity",
           "drop one of the two"}),
    wrong("shape_of_an_obstacle",
          R"({"name": "s", "quantity": "shape", "body": "floor", "basis": "vertices"})", "{}",
          {"(/parameters/0/body)", "'floor' is an obstacle", "obstacle_motion"}),
    {"shape_and_spin_parameter",
     with_parameters(std::string(shape) +
                     R"(, {"name": "w", "quantity": "initial_angular_velocity", "initial": [0, 0, 1]})"),
     "{}",
     {"(/parameters/0/quantity)", "initial_angular_velocity", "drop one"}},
    wrong("shape_and_relative_dhat", shape, R"({"contact": {"dhat": null, "dhat_relative": 1e-3}})",
          {"(/parameters/0/quantity)", "contact/dhat_relative", "write contact/dhat"}),
};

INSTANTIATE_TEST_SUITE_P(Table, WrongReplacement, ::testing::ValuesIn(inputs),
                         [](const auto& info) { return std::string(info.param.name); });

/// What the parameter does not touch may vary as it likes.
TEST(Replacement, LeavesOthersAlone) {
  const auto accepts = [](const std::string& parameters, const std::string& scene) {
    const std::string study =
        R"({"objectives": {"name": "W", "type": "elastic_energy"}, "parameters": [)" + parameters + "]}";
    EXPECT_NO_THROW(check_with_scene(read_changed_study(study).study, changed_drop(scene)))
        << parameters << scene;
  };
  accepts(R"({"name": "E", "quantity": "young_modulus", "body": "ball", "initial": 1})",
          ball_of(R"("lambda": 1e5, "mu": 1e5, "rho": "1+x")"));
  accepts(R"({"name": "l", "quantity": "lambda", "body": "ball", "initial": 1})",
          ball_of(R"("lambda": 1e5, "mu": "1e5+1e4*x")"));
  accepts(R"({"name": "E", "quantity": "young_modulus", "body": "ball", "initial": 1, "per": "element"})",
          ball_of(R"("E": {"file": "observed.csv", "dataset": "/E"}, "nu": 0.3)"));
  accepts(R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0],
              "per_step": true})",
          R"({"boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": ["-t", 0, 0]}]}})");
  for (const char* value : {R"(["2*x", 0, 0])", R"({"file": "observed.csv", "dataset": "/u"})"})
    accepts(
        R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0], "per": "node"})",
        R"({"boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": )" + std::string(value) +
            R"(, "interpolation": "linear"}]}})");
  accepts(R"({"name": "g", "quantity": "dirichlet_value", "boundary": 1, "initial": [0, 0, 0]})",
          R"({"boundary_conditions": {"dirichlet_boundary": [
              {"id": 1, "value": ["t", 0, 0], "dimension": [false, true, true], "interpolation": "linear"}]}})");
  accepts(R"({"name": "rho", "quantity": "density", "initial": 1},
             {"name": "b", "quantity": "body_force", "initial": [0, 0, -1]})",
          R"({"time": null, "gravity": [0, 0, 0]})");
  accepts(R"({"name": "mu", "quantity": "friction", "bodies": ["plinth", "ball"], "initial": 0.3})",
          R"({"solver": {"contact": {"friction_iterations": -1, "barrier_stiffness": "adaptive"}}})");
}

} // namespace
} // namespace recoil::app::wrong_replacement_test
