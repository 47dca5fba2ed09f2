#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"

namespace recoil::app {
namespace {

class WrongSettings : public ::testing::TestWithParam<WrongInput> {};

TEST_P(WrongSettings, IsRefused) { expect_refused(GetParam()); }

const WrongInput wrong_settings[] = {
    {"unknown_root_key", R"({"matreials": {}})", {"(/matreials)", "unknown key", "did you mean 'materials'"}},
    {"unknown_solver_key",
     R"({"solver": {"nonlinear": {"grad_nrm_tol": 1}}})",
     {"(/solver/nonlinear/grad_nrm_tol)", "did you mean 'grad_norm_tol'"}},
    {"time_step_zero", R"({"time": {"dt": 0, "tend": 1}})", {"(/time/dt)", "> 0", "is 0"}},
    {"only_time_step", R"({"time": {"dt": 0.1}})", {"(/time)", "two of `tend`, `dt`, `time_steps`"}},
    {"only_end", R"({"time": {"tend": 0.1}})", {"(/time)", "two of"}},
    {"contradicting_times",
     R"({"time": {"tend": 1, "dt": 0.1, "time_steps": 11}})",
     {"(/time)", "contradict"}},
    {"end_before_start", R"({"time": {"t0": 2, "tend": 1, "dt": 0.1}})", {"(/time/tend)", "t0 = 2"}},
    {"steps_not_whole",
     R"({"time": {"dt": 0.1, "time_steps": 2.5}})",
     {"(/time/time_steps)", "integer", "2.5"}},
    {"unknown_integrator",
     R"({"time": {"dt": 0.1, "time_steps": 2, "integrator": "BDF7"}})",
     {"(/time/integrator)", "BDF7", "BDF1 .. BDF6"}},
    {"newmark_by_name",
     R"({"time": {"dt": 0.1, "time_steps": 2, "integrator": "ImplicitNewmark"}})",
     {"(/time/integrator)", "ImplicitNewmark is not built"}},
    {"newmark_as_object",
     R"({"time": {"dt": 0.1, "time_steps": 2, "integrator": {"type": "ImplicitNewmark"}}})",
     {"(/time/integrator)", "swaps"}},
    {"lumped_quadratic",
     R"({"space": {"discr_order": 2}, "solver": {"advanced": {"lump_mass_matrix": true}}})",
     {"lump_mass_matrix", "order 1", "'box' has order 2"}},
    {"dhat_twice",
     R"({"contact": {"dhat": 1e-3, "dhat_relative": 1e-3}})",
     {"(/contact/dhat_relative)", "excludes `dhat`"}},
    {"negative_friction",
     R"({"contact": {"friction_coefficient": -0.1}})",
     {"(/contact/friction_coefficient)", ">= 0", "-0.1"}},
    {"friction_pair",
     R"({"contact": {"friction_pairs": [{"bodies": ["box", "flor"], "coefficient": 1}]}})",
     {"(/contact/friction_pairs/0/bodies)", "no body 'flor'"}},
    {"friction_pair_twice",
     R"({"contact": {"friction_pairs": [{"bodies": ["box", "box"], "coefficient": 1},
                                                               {"bodies": ["box", "box"], "coefficient": 2}]}})",
     {"(/contact/friction_pairs/1/bodies)", "already"}},
    {"quadrature_too_high",
     R"({"space": {"advanced": {"quadrature_order": 31}}})",
     {"(/space/advanced/quadrature_order)", "-1 to 30", "is 31"}},
    {"quadrature_of_mass",
     R"({"space": {"discr_order": 3, "advanced": {"mass_quadrature_order": 5}}})",
     {"(/space/advanced/mass_quadrature_order)", "integrated to degree 6", "is 5"}},
    {"largest_entry_as_norm",
     R"({"solver": {"nonlinear": {"norm_type": "Linf"}}})",
     {"(/solver/nonlinear/norm_type)", "\"L2\", \"Euclidean\"", "\"Linf\""}},
    {"unknown_conventions", R"({"conventions": "polyfm"})", {"(/conventions)", "did you mean 'polyfem'"}},
    {"convergent_of_another_kind",
     R"({"contact": {"use_gcp_formulation": true}})",
     {"(/contact/use_gcp_formulation)", "not built"}},
    {"adhesion",
     R"({"contact": {"adhesion": {"adhesion_enabled": true}}})",
     {"(/contact/adhesion)", "not built"}},
    {"barrier_stiffness",
     R"({"solver": {"contact": {"barrier_stiffness": "adaptiv"}}})",
     {"(/solver/contact/barrier_stiffness)", "\"adaptive\"", "adaptiv"}},
    {"rayleigh_damping",
     R"({"solver": {"rayleigh_damping": [{"form": "elasticity"}]}})",
     {"(/solver/rayleigh_damping)", "phi and psi"}},
    {"units", R"({"units": {"length": "mm"}})", {"(/units/length)", "mm", "m, kg, s"}},
    {"restart_data", R"({"input": {"data": {"state": "a.hdf5"}}})", {"(/input)", "--restart"}},
    {"reference_solution", R"({"output": {"reference": {"solution": ["x"]}}})", {"(/output/reference)"}},
    {"unknown_field",
     R"({"output": {"fields": ["stres"]}})",
     {"(/output/fields/0)", "did you mean 'stress'"}},
    {"output_interval", R"({"output": {"every": 0}})", {"(/output/every)", "is 0"}},
    {"flag_as_number", R"({"contact": {"enabled": 1}})", {"(/contact/enabled)", "true or false", "is 1"}},
    {"stop_rule",
     R"({"solver": {"nonlinear": {"stop": "energy"}}})",
     {"(/solver/nonlinear/stop)", "energy", "gradient"}},
};

INSTANTIATE_TEST_SUITE_P(Table, WrongSettings, ::testing::ValuesIn(wrong_settings),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace recoil::app
