#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"

namespace recoil::app {
namespace {

/// A scene of bonded particles whose only body and material are these.
std::string particle_scene(const std::string& body, const std::string& material,
                           const std::string& settings = "{}") {
  return R"({"solver": {"type": "bonded_particles", "bonded_particles": )" + settings +
         R"(}, "time": {"dt": 0.1, "time_steps": 1},
             "boundary_conditions": null, "geometry": [{"name": "bar", )" +
         body + R"(}], "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000)" +
         material + "}}";
}

const char* const box = R"("generator": {"type": "box", "size": [1, 1, 1], "divisions": 1})";
std::string packed(const std::string& particles = "") {
  return std::string(box) + R"(, "particles": {"radius": 0.1)" + particles + "}";
}
/// Files are not opened while a scene is read; they must be there.
std::string from_file(const std::string& particles = "", const std::string& more = "") {
  return R"("particles": {"file": "meshes/square.obj")" + particles + "}" + more;
}

TEST(Particles, OfAPackingHaveTheirDefaults) {
  const Scene scene = read_changed(particle_scene(packed(), "")).scene;
  ASSERT_EQ(particles_of(scene).bodies.size(), 1);
  const ParticleBody& body = particles_of(scene).bodies[0];
  EXPECT_EQ(body.packing, Packing::hcp);
  EXPECT_TRUE(body.whole_spheres && body.is_simple_lattice() && body.file.empty());
  EXPECT_EQ(body.min_radius, 0.1);
  EXPECT_EQ(body.max_radius, 0.1);
  EXPECT_EQ(body.seed, 0);
  EXPECT_FALSE(body.bond_tolerance);
  EXPECT_FALSE(particles_of(scene).materials[0].weibull_modulus);
  EXPECT_FALSE(particles_of(scene).materials[0].macroscopic);
}

/// A scene whose held particles turn like this.
std::string turned_scene(const std::string& turn) {
  std::string text =
      particle_scene(packed() + R"(, "point_selection": [{"id": 1, "axis": "x", "position": 0}])", "");
  const std::string none = R"("boundary_conditions": null)";
  return text.replace(text.find(none), none.size(),
                      R"("boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0], )" +
                          turn + "}]}");
}

TEST(Particles, TurnByFactors) {
  const Scene scene = read_changed(turned_scene(R"("rotation": [1, "2*t", 3], "rotation_interpolation":
      ["linear", {"type": "none"}, {"type": "piecewise_linear", "points": [0, 2], "values": [0, 1]}])"))
                          .scene;
  const PrescribedTurn& turn = particles_of(scene).turns.at(0);
  EXPECT_EQ(turn.evaluate(0, 0.5), 0.5);
  EXPECT_EQ(turn.evaluate(1, 0.5), 1);
  EXPECT_EQ(turn.evaluate(2, 0.5), 0.75);
  const auto refused = [](const char* name, const std::string& turn, std::vector<const char*> parts) {
    const std::string patch = turned_scene(turn);
    parts.push_back("(/boundary_conditions/dirichlet_boundary/0/rotation_interpolation");
    expect_refused({name, patch.c_str(), parts});
  };
  refused("free", R"("rotation": "free", "rotation_interpolation": "linear")", {"leave it out"});
  refused("two", R"("rotation": [0, 0, 1], "rotation_interpolation": ["linear", "none"])",
          {"one per component", "2 for 3"});
  refused("ramp", R"("rotation": [0, 0, 1], "rotation_interpolation": {"type": "linear_ramp"})", {"`to`"});
}

/// Bodies may start away from where they are at rest.
TEST(Particles, StartDisplaced) {
  const auto started = [](const std::string& entry) {
    std::string text = particle_scene(packed(), "");
    return text.replace(text.find('{') + 1, 0, R"("initial_conditions": {"solution": [)" + entry + "]}, ");
  };
  const Scene scene = read_changed(started(R"({"body": "bar", "value": [0.1, "0.2*x", 0]})")).scene;
  EXPECT_EQ(scene.initial_conditions.solution.at(0).value.at(0)({}), 0.1);
  const auto refused = [&](const char* name, const std::string& entry, std::vector<const char*> parts) {
    const std::string patch = started(entry);
    parts.push_back("(/initial_conditions/solution/0");
    expect_refused({name, patch.c_str(), parts});
  };
  refused("id", R"({"id": 1, "value": [0, 0, 0]})", {"`body`"});
  refused("other", R"({"body": "rod", "value": [0, 0, 0]})", {"'rod'"});
  refused("plane", R"({"body": "bar", "value": [0, 0]})", {"3"});
}

TEST(Particles, OfAFileNeedNoMesh) {
  const Scene scene =
      read_changed(particle_scene(from_file(R"(, "bonds": "meshes/square.obj", "radius": 0.2)",
                                            R"(, "transformation": {"scale": [2, 2, 2]})"),
                                  ""))
          .scene;
  const ParticleBody& body = particles_of(scene).bodies.at(0);
  EXPECT_EQ(body.file.filename(), "square.obj");
  EXPECT_TRUE(body.file.is_absolute());
  EXPECT_EQ(body.bonds, body.file);
  EXPECT_EQ(body.radius_in_file, 0.2);
  EXPECT_FALSE(body.is_simple_lattice());
  EXPECT_TRUE(scene.geometry.at(0).mesh.empty() && !scene.geometry.at(0).generator);
  EXPECT_EQ(scene.geometry[0].transformation.scale, Eigen::Vector3d(2, 2, 2));
}

TEST(Particles, HaveMaterialsOfBonds) {
  const Scene scene =
      read_changed(particle_scene(packed(R"(, "packing": "fcc", "bond_tolerance": 0.1)"),
                                  R"(, "tensile_strength": 1e5, "weibull_modulus": 8, "strength_seed": 3,
                                     "moduli": "macro")"))
          .scene;
  const BondMaterialEntry& material = particles_of(scene).materials.at(0);
  EXPECT_EQ(material.weibull_modulus, 8);
  EXPECT_EQ(material.strength_seed, 3);
  EXPECT_TRUE(material.macroscopic);
  EXPECT_EQ(particles_of(scene).bodies.at(0).bond_tolerance, 0.1);
}

TEST(Particles, HaveBondsOfAForm) {
  const BondMaterialEntry plain =
      particles_of(read_changed(particle_scene(packed(), "")).scene).materials.at(0);
  EXPECT_EQ(plain.form.shear_correction, 1);
  EXPECT_EQ(plain.form.shear_energy, potentials::ShearEnergy::smooth);
  EXPECT_FALSE(plain.form.half_turns || plain.strength_radius);
  const BondMaterialEntry other =
      particles_of(
          read_changed(particle_scene(packed(), R"(, "shear_correction": 0.9, "shear_energy": "angle",
                                                 "bend_twist": "paper_half_angle", "shear_strength": 1e5,
                                                 "strength_radius": 2e-3)"))
              .scene)
          .materials.at(0);
  EXPECT_EQ(other.form.shear_correction, 0.9);
  EXPECT_EQ(other.form.shear_energy, potentials::ShearEnergy::angle);
  EXPECT_TRUE(other.form.half_turns);
  EXPECT_EQ(other.strength_radius, 2e-3);
}

TEST(Particles, Corrode) {
  const auto scene = [](const char* settings) {
    return particle_scene(
        packed(),
        R"(, "tensile_strength": 1e5, "stress_corrosion": {"rate": 1e-9, "exponent": 20, "threshold": 0.2})",
        settings);
  };
  const Scene read = read_changed(scene("{}")).scene;
  const auto& corrosion = particles_of(read).materials.at(0).stress_corrosion;
  ASSERT_TRUE(corrosion);
  EXPECT_EQ(corrosion->rate, 1e-9);
  EXPECT_EQ(corrosion->exponent, 20);
  EXPECT_EQ(corrosion->threshold, 0.2);
  EXPECT_TRUE(corrodes(read));
  EXPECT_FALSE(corrodes(read_changed(particle_scene(packed(), "")).scene));
  const std::string softening = scene(R"({"damage_width": 0.1})");
  expect_refused(
      {"corrodes_and_softens",
       softening.c_str(),
       {"(/solver/bonded_particles/damage_width)", "`stress_corrosion`", "leave one of both out"}});
}

TEST(Particles, HaveDampedBonds) {
  const auto scene = [](const char* settings) {
    return particle_scene(packed(), R"(, "damping_time": 2e-4)", settings);
  };
  EXPECT_EQ(particles_of(read_changed(particle_scene(packed(), "")).scene).materials.at(0).damping_time, 0);
  EXPECT_EQ(particles_of(read_changed(scene("{}")).scene).materials.at(0).damping_time, 2e-4);
  const std::string exact = scene(R"({"integrator": "del_exact"})");
  expect_refused({"damped_exact",
                  exact.c_str(),
                  {"(/solver/bonded_particles/integrator)", "`damping_time`", "mid_reflectT"}});
}

TEST(Particles, MayBeDealtOutAgain) {
  const auto with = [](const char* settings) { return particle_scene(packed(), "", settings); };
  EXPECT_EQ(particles_of(read_changed(with("{}")).scene).solver.max_imbalance, 1.3);
  const std::string scene = with(R"({"max_imbalance": 2})");
  EXPECT_EQ(particles_of(read_changed(scene).scene).solver.max_imbalance, 2);
  const std::string wrong = with(R"({"max_imbalance": 0.9})");
  expect_refused(
      {"uneven_below_one", wrong.c_str(), {"(/solver/bonded_particles/max_imbalance)", "1", "0.9"}});
}

TEST(Particles, Soften) {
  EXPECT_EQ(particles_of(read_changed(particle_scene(packed(), "")).scene).solver.damage_width, 0);
  const Scene scene = read_changed(particle_scene(packed(), R"(, "shear_strength": 1e5)",
                                                  R"({"damage_width": 0.1, "integrator": "del_exact"})"))
                          .scene;
  EXPECT_EQ(particles_of(scene).solver.damage_width, 0.1);
  const char* const key = "(/solver/bonded_particles/damage_width)";
  const auto refused = [&](const char* name, const char* material, const char* settings,
                           std::vector<const char*> parts) {
    const std::string patch = particle_scene(packed(), material, settings);
    parts.push_back(key);
    expect_refused({name, patch.c_str(), parts});
  };
  refused("no_strength", "", R"({"damage_width": 0.1})", {"no material has one", "`tensile_strength`"});
  refused("leapfrog", R"(, "tensile_strength": 1e5)", R"({"damage_width": 0.1, "integrator": "leapfrog"})",
          {"leapfrog", "be_reflect"});
  refused("negative", R"(, "tensile_strength": 1e5)", R"({"damage_width": -0.1})", {"0", "1"});
  refused("too_wide", R"(, "tensile_strength": 1e5)", R"({"damage_width": 2})", {"0", "1"});
}

struct WrongScene {
  const char* name;
  std::string body, material;
  std::vector<const char*> parts;
};
std::ostream& operator<<(std::ostream& out, const WrongScene& scene) { return out << scene.name; }

class WrongParticles : public ::testing::TestWithParam<WrongScene> {};

TEST_P(WrongParticles, AreRefused) {
  const std::string patch = particle_scene(GetParam().body, GetParam().material);
  expect_refused({GetParam().name, patch.c_str(), GetParam().parts});
}

const char* const strong = R"(, "tensile_strength": 1e5)";
const WrongScene wrong_scenes[] = {
    {"no_radius",
     std::string(box) + R"(, "particles": {})",
     "",
     {"(/geometry/0/particles)", "`radius`", "`file`"}},
    {"neither_mesh_nor_file", R"("particles": {"radius": 0.1})", "", {"(/geometry/0)", "`mesh`"}},
    {"modulus_below_one",
     packed(),
     std::string(strong) + R"(, "weibull_modulus": 0.5)",
     {"(/materials/weibull_modulus)", "1", "0.5"}},
    {"modulus_of_no_strength",
     packed(),
     R"(, "weibull_modulus": 5)",
     {"(/materials/weibull_modulus)", "`tensile_strength`"}},
    {"seed_of_nothing",
     packed(),
     std::string(strong) + R"(, "strength_seed": 5)",
     {"(/materials/strength_seed)", "`weibull_modulus`"}},
    {"radius_of_no_strength",
     packed(),
     R"(, "strength_radius": 1e-3)",
     {"(/materials/strength_radius)", "`tensile_strength`"}},
    {"strength_radius_of_nothing",
     packed(),
     std::string(strong) + R"(, "strength_radius": 0)",
     {"(/materials/strength_radius)", "0"}},
    {"no_shear_stiffness", packed(), R"(, "shear_correction": 0)", {"(/materials/shear_correction)", "0"}},
    {"unknown_shear_energy",
     packed(),
     R"(, "shear_energy": "sine")",
     {"(/materials/shear_energy)", "smooth", "angle"}},
    {"unknown_turns",
     packed(),
     R"(, "bend_twist": "half")",
     {"(/materials/bend_twist)", "full", "paper_half_angle"}},
    {"unknown_moduli", packed(), R"(, "moduli": "mean")", {"(/materials/moduli)", "bonds", "macro"}},
    {"moduli_of_a_random_packing",
     packed(R"(, "packing": "random")"),
     R"(, "moduli": "macro")",
     {"(/materials/moduli)", "random packing like 'bar'", "quasi-static", "\"hcp\""}},
    {"moduli_of_a_file",
     from_file(),
     R"(, "moduli": "macro")",
     {"(/materials/moduli)", "from a file like 'bar'", "quasi-static"}},
    {"moduli_with_second_neighbours",
     packed(R"(, "bond_tolerance": 0.5)"),
     R"(, "moduli": "macro")",
     {"(/materials/moduli)", "nearest neighbours", "below 0.41"}},
    {"file_and_mesh",
     std::string(box) + ", " + from_file(),
     "",
     {"(/geometry/0/generator)", "left over", "keep one"}},
    {"file_and_packing",
     from_file(R"(, "packing": "hcp")"),
     "",
     {"(/geometry/0/particles/packing)", "`file`"}},
    {"file_and_seed", from_file(R"(, "seed": 0)"), "", {"(/geometry/0/particles/seed)", "`file`"}},
    {"bonds_without_file",
     packed(R"(, "bonds": "meshes/square.obj")"),
     "",
     {"(/geometry/0/particles/bonds)", "`file`", "missing"}},
    {"seed_of_a_lattice",
     packed(R"(, "seed": 1)"),
     "",
     {"(/geometry/0/particles/seed)", "random packings", "\"random\""}},
    {"volume_ids", packed() + R"(, "volume_selection": 1)", "", {"(/geometry/0/volume_selection)", "`body`"}},
    {"surface_ids",
     packed() + R"(, "surface_selection": 1)",
     "",
     {"(/geometry/0/surface_selection)", "`point_selection`"}},
    {"refined_meshes", packed() + R"(, "n_refs": 1)", "", {"(/geometry/0/n_refs)", "`radius`"}},
    {"damping", packed(), R"(, "phi": 10)", {"(/materials/phi)", "leave it out", "`damping_time`"}},
    {"negative_damping", packed(), R"(, "damping_time": -1e-3)", {"(/materials/damping_time)", "0"}},
    {"damping_without_unit", packed(), R"(, "damping_time": "1 ms")", {"(/materials/damping_time)"}},
    {"corrosion_of_no_strength",
     packed(),
     R"(, "stress_corrosion": {"rate": 1e-9, "exponent": 20})",
     {"(/materials/stress_corrosion)", "`tensile_strength`", "missing"}},
    {"corrosion_without_exponent",
     packed(),
     std::string(strong) + R"(, "stress_corrosion": {"rate": 1e-9})",
     {"(/materials/stress_corrosion", "exponent"}},
    {"corrosion_that_heals",
     packed(),
     std::string(strong) + R"(, "stress_corrosion": {"rate": -1e-9, "exponent": 20})",
     {"(/materials/stress_corrosion/rate)", "0"}},
    {"corrosion_that_stress_slows",
     packed(),
     std::string(strong) + R"(, "stress_corrosion": {"rate": 1e-9, "exponent": -1})",
     {"(/materials/stress_corrosion/exponent)", "0", "1000"}},
    {"corrosion_above_the_strength",
     packed(),
     std::string(strong) + R"(, "stress_corrosion": {"rate": 1e-9, "exponent": 20, "threshold": 1})",
     {"(/materials/stress_corrosion/threshold)", "1"}},
    {"corrosion_that_is_a_number",
     packed(),
     std::string(strong) + R"(, "stress_corrosion": 1e-9)",
     {"(/materials/stress_corrosion)"}},
    {"corrosion_of_another_name",
     packed(),
     std::string(strong) + R"(, "stress_corrosion": {"rate": 1e-9, "exponent": 20, "beta": 1})",
     {"(/materials/stress_corrosion", "beta"}},
    {"terms_of_no_strength",
     packed(),
     R"(, "strength_terms": "separate")",
     {"(/materials/strength_terms)", "`tensile_strength`"}},
    {"file_that_is_not_there",
     R"("particles": {"file": "no.csv"})",
     "",
     {"(/geometry/0/particles/file)", "no such file"}},
    {"two_radii_for_a_file",
     from_file(R"(, "radius": [0.1, 0.2])"),
     "",
     {"(/geometry/0/particles/radius)", "one radius"}},
    {"stretched_spheres",
     from_file("", R"(, "transformation": {"scale": [1, 1, 2]})"),
     "",
     {"(/geometry/0/transformation/scale)", "spheres", "one positive number"}},
    {"mirrored_spheres",
     from_file("", R"(, "transformation": {"scale": -1})"),
     "",
     {"(/geometry/0/transformation/scale)", "one positive number"}},
    {"dimensions_of_spheres",
     from_file("", R"(, "transformation": {"dimensions": [1, 1, 2]})"),
     "",
     {"(/geometry/0/transformation/dimensions)", "`scale`"}},
    {"refined_spheres", from_file("", R"(, "n_refs": 1)"), "", {"(/geometry/0/n_refs)", "leave it out"}},
    {"particles_of_an_obstacle",
     packed() + R"(, "is_obstacle": true)",
     "",
     {"(/geometry/0/particles)", "obstacle", "`is_obstacle`"}},
    {"normalised_spheres",
     from_file("", R"(, "advanced": {"normalize_mesh": true})"),
     "",
     {"(/geometry/0/advanced/normalize_mesh)", "`scale`"}},
};

INSTANTIATE_TEST_SUITE_P(Table, WrongParticles, ::testing::ValuesIn(wrong_scenes),
                         [](const auto& info) { return std::string(info.param.name); });

/// A scene with these keys of the solver.
std::string solved_by(const std::string& keys) { return particle_scene(packed(), "", "{" + keys + "}"); }

TEST(Particles, BreakInStepsThatAreCutOnDemand) {
  EXPECT_EQ(particles_of(read_changed(solved_by("")).scene).solver.max_broken_share, 1);
  EXPECT_EQ(
      particles_of(read_changed(solved_by(R"("max_broken_share": 0.01)")).scene).solver.max_broken_share,
      0.01);
  const std::string place = "(/solver/bonded_particles/max_broken_share)";
  for (const char* wrong : {"0", "-0.1", "1.5", "\"all\""})
    expect_refused(
        {wrong, solved_by(R"("max_broken_share": )" + std::string(wrong)).c_str(), {place.c_str()}});
  expect_refused({"leapfrog",
                  solved_by(R"("integrator": "leapfrog", "max_broken_share": 0.5)").c_str(),
                  {place.c_str(), "implicit steps", "`explicit_share`"}});
}

/// A scene of bonded particles with other keys beside: `keys` of the file.
std::string beside(const std::string& keys, const std::string& settings = "{}") {
  std::string text = particle_scene(packed(), "", settings);
  return text.replace(text.find('{') + 1, 0, keys + ", ");
}

TEST(Particles, RefuseWhatIsOfFiniteElements) {
  const std::string order = beside(R"("space": {"discr_order": 2})");
  expect_refused({"order", order.c_str(), {"(/space/discr_order)", "leave it out"}});
  const std::string bdf = particle_scene(packed(), "");
  std::string text = bdf;
  text.replace(text.find(R"("dt": 0.1)"), 0, R"("integrator": "BDF2", )");
  expect_refused({"bdf", text.c_str(), {"(/time/integrator)", "\"bonded_particles\": {\"integrator\""}});
  text = bdf;
  text.replace(text.find(R"("nu": 0.3)"), 9, R"("nu": 0.5)");
  expect_refused({"incompressible", text.c_str(), {"(/materials/nu)", "below 0.5", "take 0.499"}});
  text = bdf;
  text.replace(text.find(R"("boundary_conditions": null)"), 27,
               R"("boundary_conditions": {"rest_pressure_boundary": {"id": 1, "value": 1}})");
  expect_refused(
      {"load", text.c_str(), {"(/boundary_conditions/rest_pressure_boundary)", "particle_forces"}});
}

TEST(Particles, AtRestHaveNoIntegratorAndNoVelocity) {
  const auto at_rest = [](const std::string& settings, const std::string& keys = "") {
    std::string text = particle_scene(packed(), "", settings);
    return text.replace(text.find(R"("dt": 0.1)"), 0, R"("quasistatic": true, )").insert(1, keys);
  };
  EXPECT_EQ(read_changed(at_rest("{}")).scene.time.kind, TimeKind::quasistatic);
  for (const char* integrator : {"leapfrog", "mid_reflectT"}) {
    const std::string scene = at_rest(R"({"integrator": ")" + std::string(integrator) + "\"}");
    expect_refused({integrator,
                    scene.c_str(),
                    {"(/solver/bonded_particles/integrator)", "quasistatic", "leave it out"}});
  }
  const std::string thrown =
      at_rest("{}", R"("initial_conditions": {"velocity": [{"body": "bar", "value": [1, 0, 0]}]}, )");
  expect_refused({"velocity", thrown.c_str(), {"(/initial_conditions/velocity)", "inertia"}});
}

/// Keys of integrators that the scene does not take stay where another one is tried: a warning.
TEST(Particles, WarnOfKeysOfOtherIntegrators) {
  const auto warnings = [](const std::string& keys) { return read_changed(solved_by(keys)).scene.warnings; };
  EXPECT_TRUE(warnings(R"("explicit_share": 0.1, "integrator": "leapfrog")").empty());
  EXPECT_TRUE(warnings(R"("tolerance": 1e-8)").empty());
  const auto one = warnings(R"("explicit_share": 0.1)");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_NE(one[0].find("(/solver/bonded_particles/explicit_share)"), std::string::npos) << one[0];
  EXPECT_EQ(
      warnings(R"("integrator": "leapfrog", "tolerance": 1e-8, "max_iterations": 7, "cascade_share": 0.5)")
          .size(),
      3u);
}

TEST(Particles, HandBreakingOverWhereLeapfrogCanTakeIt) {
  EXPECT_EQ(particles_of(read_changed(solved_by("")).scene).solver.sudden_breaking,
            solvers::SuddenBreaking::impacts);
  const auto wrong = [](const char* name, const std::string& keys, std::vector<const char*> parts) {
    parts.insert(parts.begin(), "(/solver/bonded_particles/sudden_breaking)");
    expect_refused({name, solved_by(R"("sudden_breaking": "leapfrog")" + keys).c_str(), parts});
  };
  EXPECT_EQ(particles_of(
                read_changed(solved_by(R"("sudden_breaking": "leapfrog", "max_broken_share": 0.01)")).scene)
                .solver.sudden_breaking,
            solvers::SuddenBreaking::leapfrog);
  wrong("never", "", {"`max_broken_share`"});
  wrong("leapfrog", R"(, "integrator": "leapfrog")", {"already"});
}

TEST(Particles, HaveALawOfContact) {
  expect_refused({"without",
                  solved_by(R"("contact_law": "penalty")").c_str(),
                  {"(/solver/bonded_particles/contact_law)", "contact/enabled"}});
  expect_refused({"unknown",
                  solved_by(R"("contact_law": "spring")").c_str(),
                  {"(/solver/bonded_particles/contact_law)"}});
}

TEST(Particles, HaveALawAlongContacts) {
  const std::string contact = R"("contact": {"enabled": true, "dhat": 1e-4, "friction_coefficient": 0.3})";
  const auto spec = [&](const char* settings) {
    return particles_of(read_changed(beside(contact, settings)).scene).solver;
  };
  EXPECT_EQ(spec("{}").tangential_law, potentials::TangentialLaw::coulomb);
  EXPECT_EQ(spec(R"({"contact_law": "hertz", "tangential_law": "mindlin"})").tangential_law,
            potentials::TangentialLaw::mindlin);
  const char* const place = "(/solver/bonded_particles/tangential_law)";
  expect_refused(
      {"without contact", solved_by(R"("tangential_law": "mindlin")").c_str(), {place, "contact/enabled"}});
  expect_refused({"without Hertz",
                  beside(contact, R"({"tangential_law": "mindlin"})").c_str(),
                  {place, "\"contact_law\": \"hertz\""}});
  const auto scene =
      read_changed(
          beside(R"("contact": {"enabled": true, "dhat": 1e-4, "friction_coefficient": 0.3, "epsv": 1e-5})",
                 R"({"contact_law": "hertz", "tangential_law": "mindlin"})"))
          .scene;
  ASSERT_EQ(scene.warnings.size(), 1u);
  EXPECT_NE(scene.warnings[0].find("(/contact/epsv)"), std::string::npos) << scene.warnings[0];
}

TEST(Particles, BelongToTheirSolver) {
  expect_refused({"modulus",
                  R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": 0, "weibull_modulus": 5}]})",
                  {"(/materials/0/weibull_modulus)", "bonded particles"}});
  expect_refused({"moduli",
                  R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": 0, "moduli": "macro"}]})",
                  {"(/materials/0/moduli)", "bonded particles"}});
  for (const char* key : {R"("strength_radius": 1)", R"("shear_correction": 1)", R"("shear_energy": "angle")",
                          R"("bend_twist": "full")"}) {
    const std::string patch =
        R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": 0, )" + std::string(key) + "}]}";
    expect_refused({"form", patch.c_str(), {"(/materials/0/", "bonded particles"}});
  }
  expect_refused({"file",
                  R"({"geometry": [{"particles": {"file": "meshes/square.obj"}}]})",
                  {"(/geometry/0/particles)", "bonded_particles"}});
}

} // namespace
} // namespace recoil::app
