#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

namespace recoil::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Scene bundled(const std::string& name) {
  return read_scene(std::string(RECOIL_TEST_DATA "/scenes/") + name).scene;
}

double constant(const MaterialValue& value) { return std::get<Expression>(value)({}); }

TEST(SceneValues, SingleObjectsStandForLists) {
  const auto scene = bundled("clamped_box.json");
  ASSERT_EQ(scene.geometry.size(), 1u);
  ASSERT_EQ(scene.geometry[0].surface_selection.size(), 1u);
  const auto& selection = scene.geometry[0].surface_selection[0];
  EXPECT_EQ(selection.id, 1);
  EXPECT_EQ(std::get<mesh::AxisSelection>(selection.shape).axis, -1);
  EXPECT_THAT(selection.where, HasSubstr("clamped_box.json:5 (/geometry/surface_selection)"));
  EXPECT_THAT(scene.geometry[0].generator->divisions, ElementsAre(2, 2, 2));
  ASSERT_EQ(elements_of(scene).materials.size(), 1u);
  EXPECT_TRUE(elements_of(scene).materials[0].everywhere);
  EXPECT_EQ(constant(elements_of(scene).materials[0].rho), 1000);
  EXPECT_EQ(scene.boundary_conditions.dirichlet.size(), 1u);
}

TEST(SceneValues, Strip) {
  auto scene = bundled("plane_strain_strip.json");
  const auto& transformation = scene.geometry[0].transformation;
  EXPECT_EQ(*transformation.dimensions, Eigen::Vector3d(4, 1, 0));
  EXPECT_THAT(transformation.rotation, ElementsAre(90));
  EXPECT_EQ(order_of_body(scene, "strip"), 2);
  const auto& material = elements_of(scene).materials[0];
  EXPECT_EQ(material.type, "HookeLinearElasticity");
  EXPECT_EQ(material.law->name, "LinearElasticity");
  EXPECT_FALSE(material.given_by_young());
  EXPECT_EQ(material.plane, PlaneState::strain);
  EXPECT_DOUBLE_EQ(std::get<Expression>(*material.find("mu"))({0, 2, 0, 0}), 1.2e4);
  EXPECT_EQ(constant(material.psi), 3);
  EXPECT_EQ(constant(material.phi), 0);
  EXPECT_EQ(find_material(scene, "strip", 5), &elements_of(scene).materials[0]);
  EXPECT_EQ(find_material(scene, "strip", 0), nullptr);
  EXPECT_EQ(elements_of(scene).bdf_order, 2);
  EXPECT_DOUBLE_EQ(scene.time.dt, 0.1);
  EXPECT_THAT(scene.output.fields, ElementsAre(OutputField::von_mises));
  EXPECT_EQ(scene.boundary_conditions.rhs.size(), 3u);
  validate_with_meshes(scene);
  EXPECT_EQ(scene.boundary_conditions.rhs.size(), 2u);
  EXPECT_EQ(scene.gravity.size(), 2u);
}

TEST(SceneValues, InheritedBodies) {
  const auto scene = bundled("inherited_bodies.json");
  ASSERT_EQ(scene.geometry.size(), 3u);
  EXPECT_EQ(scene.geometry[0].transformation.scale, Eigen::Vector3d(2, 1, 1));
  EXPECT_EQ(scene.geometry[1].array->size, (std::vector<int>{2, 1, 1}));
  EXPECT_TRUE(scene.geometry[1].array->relative);
  EXPECT_EQ(scene.geometry[2].obstacle_id, 0);
  ASSERT_EQ(scene.planes.size(), 1u);
  EXPECT_EQ(scene.planes[0].normal, Eigen::Vector3d::UnitY());
  EXPECT_EQ(scene.time.dt, 0.02);
  EXPECT_EQ(scene.time.kind, TimeKind::quasistatic);
  EXPECT_EQ(constant(*elements_of(scene).materials[0].find("c2")), -5000);
  EXPECT_EQ(find_material_index(scene, "hard", 0), 1);
  const auto& entry = scene.boundary_conditions.dirichlet[0];
  EXPECT_EQ(entry.evaluate(0, {0, 0, 0, 0.04}), 1);
  EXPECT_EQ(entry.evaluate(1, {0, 0, 0, 0.04}), 0.04);
  // Sub-steps: linear from zero at the start and between the times of the list; nothing beyond.
  EXPECT_DOUBLE_EQ(entry.evaluate(0, {0, 0, 0, 0.03}), 0.5);
  EXPECT_DOUBLE_EQ(entry.evaluate(1, {0, 0, 0, 0.03}), 0.03);
  EXPECT_EQ(entry.evaluate(1, {0, 0, 0, 0}), 0);
  EXPECT_ANY_THROW(entry.evaluate(0, {0, 0, 0, 0.05}));
  EXPECT_EQ(time_factor(scene.boundary_conditions.pressure[0].interpolation, 0, 3), 3);
  EXPECT_EQ(scene.contact.dhat_relative, 0.01);
  EXPECT_EQ(scene.contact.barrier_stiffness, 1e5);
  EXPECT_EQ(scene.contact.friction_pairs[0].bodies[1], "ground");
  EXPECT_TRUE(elements_of(scene).solver.lump_mass_matrix);
  EXPECT_EQ(elements_of(scene).solver.stop, StopRule::step);
  EXPECT_THAT(scene.notes, ::testing::Contains(HasSubstr("(/output/paraview/options/material): ignored")));
}

TEST(SceneValues, DefaultsOfTheTable) {
  const auto scene = read_changed("{}").scene;
  EXPECT_EQ(scene.geometry[0].transformation.scale, Eigen::Vector3d::Ones());
  EXPECT_EQ(scene.geometry[0].transformation.rotation_mode, "xyz");
  EXPECT_EQ(scene.contact.dhat, 1e-3);
  EXPECT_EQ(scene.contact.epsv, 1e-3);
  EXPECT_FALSE(scene.contact.enabled);
  EXPECT_FALSE(scene.contact.barrier_stiffness);
  EXPECT_EQ(scene.contact.friction_iterations, 1);
  EXPECT_EQ(scene.contact.friction_convergence_tol, 0);
  EXPECT_EQ(elements_of(scene).solver.grad_norm_tol, 1e-10);
  EXPECT_EQ(elements_of(scene).solver.characteristic_force_density, 1e4);
  EXPECT_EQ(elements_of(scene).solver.max_iterations, 500);
  EXPECT_EQ(scene.output.every, 1);
  EXPECT_EQ(scene.output.chunk, 16);
  EXPECT_EQ(elements_of(scene).space.order, 1);
  EXPECT_THAT(scene.warnings, ::testing::IsEmpty());
}

TEST(SceneValues, GeometricContactPotential) {
  const auto usual = read_changed(R"({"contact": {"use_gcp_formulation": true}})").scene.contact;
  EXPECT_TRUE(usual.use_gcp_formulation);
  EXPECT_EQ((std::array{usual.alpha_t, usual.beta_t, usual.alpha_n, usual.beta_n}),
            (std::array{0.5, 0.0, 0.5, 0.0})); // of PolyFEM
  const auto given = read_changed(R"({"contact": {"use_gcp_formulation": true, "alpha_t": 0.1, "beta_t": 0.05,
    "alpha_n": 0.9, "beta_n": -0.3, "use_adaptive_dhat": false, "min_distance_ratio": 0.5}})")
                         .scene.contact;
  EXPECT_EQ((std::array{given.alpha_t, given.beta_t, given.alpha_n, given.beta_n}),
            (std::array{0.1, 0.05, 0.9, -0.3}));
}

TEST(SceneValues, WhatDifferentiableScenesOfPolyfemHold) {
  const auto scene = read_changed(R"({
    "space": {"discr_order": 2, "advanced": {"quadrature_order": 5, "n_boundary_samples": 5}},
    "time": {"t0": 0, "tend": 0.04, "time_steps": 2},
    "solver": {"nonlinear": {"norm_type": "Euclidean", "Newton": {"use_psd_projection": false,
      "use_psd_projection_in_regularized": false}}},
    "boundary_conditions": {
      "dirichlet_boundary": ["../studies/observed.csv", {"id": 1, "value": [0, 0, 0]},
        {"id": 2, "value": {"file": "../studies/observed.csv", "dataset": "/u"}, "dimension": [true, false, true],
         "interpolation": "linear"}],
      "pressure_boundary": {"id": 1, "value": [1, -2, "-300*t"], "time_reference": [0, 0.02, 0.04]}}})")
                         .scene;
  EXPECT_EQ(elements_of(scene).conventions, Conventions::recoil);
  EXPECT_EQ(elements_of(scene).space.quadrature_degree, 5);
  EXPECT_EQ(elements_of(scene).solver.norm, StopNorm::euclidean);
  EXPECT_EQ(scene.boundary_conditions.dirichlet[0].node_file.filename(), "observed.csv");
  EXPECT_TRUE(scene.boundary_conditions.dirichlet[0].node_file.is_absolute());
  EXPECT_TRUE(scene.boundary_conditions.dirichlet[1].node_file.empty());
  EXPECT_FALSE(scene.boundary_conditions.dirichlet[1].nodal);
  const DirichletEntry& nodes = scene.boundary_conditions.dirichlet[2];
  EXPECT_EQ(nodes.nodal.value().dataset, "/u");
  EXPECT_TRUE(nodes.nodal->file.is_absolute());
  EXPECT_EQ(time_factor(nodes.interpolation, 2, 3), 3);
  ASSERT_EQ(nodes.value.size(), 3u);
  EXPECT_TRUE(nodes.value[0].constrained && !nodes.value[1].constrained);
  const PressureEntry& pressure = scene.boundary_conditions.pressure[0];
  EXPECT_EQ(pressure.evaluate({0, 0, 0, 0.0201}), -2);
  EXPECT_DOUBLE_EQ(pressure.evaluate({0, 0, 0, 0.04}), -12);
  EXPECT_DOUBLE_EQ(pressure.evaluate({0, 0, 0, 0.03}), -7);
  EXPECT_ANY_THROW(pressure.evaluate({0, 0, 0, 0.05}));
  EXPECT_THAT(scene.notes, ::testing::Contains(HasSubstr("use_psd_projection): ignored")));
  EXPECT_THAT(scene.notes, ::testing::Contains(HasSubstr("n_boundary_samples): ignored")));
  EXPECT_EQ(elements_of(read_changed(R"({"conventions": "polyfem"})").scene).conventions,
            Conventions::polyfem);
  EXPECT_FALSE(elements_of(read_changed("{}").scene).space.quadrature_degree);
  EXPECT_EQ(elements_of(read_changed("{}").scene).solver.norm, StopNorm::l2);
}

TEST(SceneValues, NamesAfterPlaceInTheList) {
  const auto scene = read_changed(R"({"geometry": [{"mesh": "gone.msh", "enabled": false},
      {"generator": {"type": "box", "size": [1, 1, 1], "divisions": 1}}], "boundary_conditions": null})")
                         .scene;
  ASSERT_EQ(scene.geometry.size(), 1u);
  EXPECT_EQ(scene.geometry[0].name, "body1");
}

TEST(SceneValues, SelectionShapes) {
  const auto scene = read_changed(R"({"boundary_conditions": null, "geometry": [{
      "generator": {"type": "box", "size": [1, 1, 1], "divisions": 1},
      "volume_selection": {"id_offset": 7},
      "point_selection": 4,
      "surface_selection": [
        {"id": 1, "box": [[0, 0], [1, 1]], "relative": true, "axis": "x", "position": 0},
        {"threshold": 1e-7, "id_offset": 10},
        {"id": 2, "center": [1, 2, 3], "radius": 4},
        {"id": 3, "p1": [1, 0, 0], "p2": [0, 1, 0], "radius": 0.5},
        {"id": 5, "axis": "-z", "position": 6},
        {"id": 6, "axis": 2, "position": 6},
        {"id": 7, "normal": [0, 0, 2], "point": [0, 0, 1], "boundary_only": false},
        {"id": 8}]}]})")
                         .scene;
  const auto& spec = scene.geometry[0];
  EXPECT_EQ(std::get<mesh::IdOffsetSelection>(spec.volume_selection[0].shape).id_offset, 7);
  EXPECT_EQ(spec.point_selection[0].id, 4);
  const auto& list = spec.surface_selection;
  EXPECT_TRUE(list[0].relative);
  EXPECT_EQ(std::get<mesh::BoxSelection>(list[0].shape).max, Eigen::Vector3d(1, 1, 0));
  EXPECT_THAT(scene.warnings, ::testing::Contains(HasSubstr("the box of this entry decides")));
  EXPECT_EQ(std::get<mesh::ThresholdSelection>(list[1].shape).id_offset, 10);
  EXPECT_EQ(std::get<mesh::SphereSelection>(list[2].shape).radius, 4);
  EXPECT_EQ(std::get<mesh::CylinderSelection>(list[3].shape).p2, Eigen::Vector3d::UnitY());
  EXPECT_EQ(std::get<mesh::AxisSelection>(list[4].shape).axis, -3);
  EXPECT_EQ(std::get<mesh::AxisSelection>(list[5].shape).axis, 2);
  EXPECT_EQ(std::get<mesh::PlaneSelection>(list[6].shape).normal, Eigen::Vector3d(0, 0, 2));
  EXPECT_FALSE(list[6].boundary_only);
  EXPECT_TRUE(std::holds_alternative<mesh::EverythingSelection>(list[7].shape));
}

TEST(SceneValues, TermsOfALaw) {
  const auto scene =
      read_changed(R"({"materials": {"type": "UnconstrainedOgden", "mus": [3, "1+x"], "alphas": [2, -4],
                                     "Ds": [{"value": 0.5, "unit": "1/Pa"}, 7]}})")
          .scene;
  const MaterialEntry& material = elements_of(scene).materials[0];
  EXPECT_EQ(material.constants.size(), 6u);
  EXPECT_EQ(constant(*material.find("mus_1")), 3);
  EXPECT_EQ(std::get<Expression>(*material.find("mus_2"))({2, 0, 0, 0}), 3);
  EXPECT_EQ(constant(*material.find("alphas_2")), -4);
  EXPECT_EQ(constant(*material.find("Ds_1")), 0.5);
  EXPECT_EQ(material.find("mus_3"), nullptr);
  const auto single =
      read_changed(R"({"materials": {"type": "UnconstrainedOgden", "mus": 3, "alphas": 2, "Ds": 1}})").scene;
  EXPECT_EQ(constant(*elements_of(single).materials[0].find("mus_1")), 3);
}

TEST(SceneValues, NumbersWithUnits) {
  const auto scene =
      read_changed(
          R"({"materials": {"type": "NeoHookean", "nu": 0, "E": {"value": 3e5, "unit": "kg/m/s^2"}, "rho": {"value": "2*x", "unit": "kg/m^3"}},
      "gravity": [0, 0, {"value": -9, "unit": "m/s^2"}], "time": {"dt": {"value": 0.5, "unit": "s"}, "time_steps": 4.0}})")
          .scene;
  EXPECT_EQ(constant(*elements_of(scene).materials[0].find("E")), 3e5);
  EXPECT_EQ(std::get<Expression>(elements_of(scene).materials[0].rho)({3, 0, 0, 0}), 6);
  EXPECT_THAT(scene.gravity, ElementsAre(0, 0, -9));
  EXPECT_EQ(scene.time.dt, 0.5);
  EXPECT_EQ(scene.time.steps, 4);
}

TEST(SceneValues, UnitsOfTheScene) {
  const auto file = read_changed(
      R"({"units": {"length": "mm", "mass": "t", "time": "s"}, "gravity": [0, {"value": -9.81, "unit": "m/s^2"}, -3],
          "materials": {"type": "NeoHookean", "nu": 0, "E": {"value": 2, "unit": "GPa"}},
          "time": {"tend": {"value": 1, "unit": "min"}, "dt": 30}, "output": {"times": [{"value": 30000, "unit": "ms"}]}})");
  const Scene& scene = file.scene;
  EXPECT_EQ(scene.units, (UnitSystem{"mm", "t", "s"}));
  EXPECT_NEAR(constant(*elements_of(scene).materials[0].find("E")), 2000, 1e-9);
  EXPECT_NEAR(constant(elements_of(scene).materials[0].rho), 1e-12, 1e-24);
  EXPECT_NEAR(scene.gravity[1], -9810, 1e-9);
  EXPECT_EQ(scene.gravity[2], -3);
  EXPECT_EQ(scene.time.steps, 2);
  EXPECT_THAT(scene.output.steps, ElementsAre(1));
  // Defaults that are filled in, and those that are not.
  EXPECT_NEAR(scene.contact.epsv, 1, 1e-12);
  EXPECT_NEAR(scene.contact.dhat, 1, 1e-12);
  // What another rank reads is converted no more.
  const SceneFile again = read_resolved(file.resolved, file.locations, "scene.json", all_solvers().format());
  EXPECT_EQ(again.resolved, file.resolved);
  EXPECT_EQ(again.scene.contact.dhat, scene.contact.dhat);
  EXPECT_EQ(again.scene.gravity, scene.gravity);
}

TEST(SceneValues, UnitsHaveNames) {
  const UnitSystem engineer{"mm", "t", "s"};
  EXPECT_EQ(engineer.name_of("Pa"), "MPa");
  EXPECT_EQ(engineer.name_of("N"), "N");
  EXPECT_EQ(engineer.name_of("J"), "mJ");
  EXPECT_EQ(engineer.name_of("kg/m^3"), "t/mm^3");
  EXPECT_EQ(engineer.name_of("m/s"), "mm/s");
  EXPECT_EQ(UnitSystem{}.name_of("1/Pa"), "1/Pa");
}

} // namespace
} // namespace recoil::app
