#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app_experiment/experiment.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/experiment/check_scenes.hpp"
#include "recoil/app/study/experiment/experiment_model.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_particles.hpp"
#include "support/hdf5_array.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::app::particle_experiment_test {
namespace {

using nlohmann::json;

/// A beam whose grip moves and whose end is pulled, and a block that is thrown beside it.
json scene(const std::string& integrator) {
  const auto body = [](const char* name, json size, json place) {
    return json{{"name", name},
                {"generator", {{"type", "box"}, {"size", size}, {"divisions", {1, 1, 1}}}},
                {"transformation", {{"translation", place}}},
                {"particles", {{"radius", 0.002}}}};
  };
  json beam = body("beam", {0.024, 0.0101, 0.0101}, {0, 0, 0}),
       block = body("block", {0.0101, 0.0101, 0.0101}, {0, 0.03, 0});
  beam["point_selection"] = {{{"id", 1}, {"axis", "-x"}, {"position", -0.0075}},
                             {{"id", 2}, {"axis", "x"}, {"position", 0.0075}}};
  const bool at_rest = integrator == "quasistatic";
  if (at_rest) block["point_selection"] = json::array({{{"id", 1}, {"axis", "-x"}, {"position", -0.0025}}});
  json result = json::parse(R"({
    "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000},
    "gravity": [0, 20, -40],
    "boundary_conditions": {
      "dirichlet_boundary": [{"id": 1, "value": [0, 0, 0.3], "interpolation": [{"type": "linear"}],
                              "rotation": [0, 4, 0], "rotation_interpolation": [{"type": "linear"}]}],
      "particle_forces": [{"id": 2, "value": [0, 0, 0]}]},
    "time": {"dt": 0.001, "time_steps": 4},
    "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-12}}})");
  result["geometry"] = {beam, block};
  if (at_rest)
    result["time"]["quasistatic"] = true;
  else
    result["solver"]["bonded_particles"]["integrator"] = integrator;
  return result;
}

/// The strength of bonds that soften under these loads: at rest there is no balance beyond the peak.
double strength_for(const std::string& integrator) { return integrator == "quasistatic" ? 4e4 : 1e5; }

/// The scene with bonds that soften.
json softening_scene(const std::string& integrator) {
  json result = scene(integrator);
  const double strength = strength_for(integrator);
  result["materials"]["tensile_strength"] = strength;
  result["materials"]["shear_strength"] = 0.7 * strength;
  result["materials"]["friction_angle"] = 20;
  result["materials"]["weibull_modulus"] = 5;
  result["solver"]["bonded_particles"]["damage_width"] = 0.2;
  return result;
}

bool is_damping(const ParameterKind& kind) { return kind.name == std::string("damping_time"); }

bool needs_contact(const ParameterKind& kind) { return kind.changes(parameters::quantities::friction); }

/// The scene with a wall that slides along the block, off its constrained part, and one that slides below the
/// grip of the beam.
json touching_scene(const std::string& integrator) {
  json result = scene(integrator);
  const auto plane = [](const char* name, int id, json point, json normal) {
    return json{{"type", "plane"},         {"name", name},   {"is_obstacle", true},
                {"surface_selection", id}, {"point", point}, {"normal", normal}};
  };
  result["geometry"].push_back(plane("wall", 3, {0.01805, 0.019216, 0}, {-1, -1, 0}));
  result["geometry"].push_back(plane("shelf", 4, {0, 0, -0.003783}, {0, 0, 1}));
  result["boundary_conditions"]["obstacle_displacements"] = {
      {{"id", 3}, {"value", {"0.02*t", "-0.02*t", "0.1*t"}}},
      {{"id", 4}, {"value", {"0.1*t", "0", "0.3*t"}}}};
  result["contact"] = {{"enabled", true}, {"dhat", 4e-4}, {"epsv", 1e-3}, {"friction_coefficient", 0.2}};
  result["solver"]["contact"] = {{"barrier_stiffness", 20}};
  return result;
}

json scene_of(const ParameterKind& kind, const std::string& integrator) {
  if (needs_contact(kind)) return touching_scene(integrator);
  json result = kind.is_strength ? softening_scene(integrator) : scene(integrator);
  if (is_damping(kind)) result["materials"]["damping_time"] = 2e-3;
  return result;
}

/// What a kind has in such a scene.
std::vector<json> entries(const ParameterKind& kind, const std::string& integrator) {
  static const std::map<std::string, json> starts{{"young_modulus", 1e7},
                                                  {"poisson_ratio", 0.3},
                                                  {"density", 1000},
                                                  {"friction", 0.3},
                                                  {"damping_time", 2e-3},
                                                  {"body_force", {3, 20, -40}},
                                                  {"dirichlet_value", {0.1, 0.05, 0.3}},
                                                  {"dirichlet_rotation", {3, 10, -6}},
                                                  {"particle_force", {0.2, 0.05, -0.1}},
                                                  {"tensile_strength", 8e4},
                                                  {"shear_strength", 6e4},
                                                  {"initial_displacement", {1e-4, 5e-5, -1e-4}},
                                                  {"initial_velocity", {0.5, 0.1, 0.2}},
                                                  {"initial_angular_velocity", {20, 10, 40}}};
  json entry{{"name", "q"}, {"quantity", kind.name}, {"initial", starts.at(kind.name)}};
  if (kind.is_strength)
    entry["initial"] = starts.at(kind.name).get<double>() * strength_for(integrator) / 1e5;
  if (kind.takes_key("boundary")) entry["boundary"] = kind.name == std::string("particle_force") ? 2 : 1;
  if (kind.takes_key("bodies")) entry["bodies"] = {"block", "wall"};
  std::vector<json> all{entry};
  if (kind.takes_key("body") && kind.name != std::string("body_force")) {
    all.push_back(entry);
    all.back()["per"] = "body";
    all.push_back(entry);
    all.back()["body"] = "beam";
  }
  if (holds(kind.per, Per::bond)) {
    all.push_back(entry);
    all.back().update({{"per", "bond"}, {"body", "beam"}});
  }
  if (kind.takes_key("per_step")) {
    all.push_back(entry);
    all.back()["per_step"] = true;
    const bool turns = kind.name == std::string("dirichlet_rotation");
    all.back()["initial"] = turns ? json{0.01, 0.04, -0.02} : json{2e-4, 1e-4, 3e-4};
  }
  return all;
}

/// Displacements that particles are not at.
void write_aim(const std::filesystem::path& path, const particles::ParticleSet& particles) {
  testing::Hdf5Array aim{{particles.positions.size(), 3}, {}};
  for (std::size_t i = 0; i < 3 * particles.positions.size(); ++i)
    aim.entries.push_back(1e-3 * std::sin(3.7 * double(i)));
  testing::write_arrays(path, {{"u", aim}});
}

/// A study of a scene, and its only experiment.
struct Studied {
  Study study;
  std::unique_ptr<ExperimentModel> model;

  /// @param objectives in place of those of markers, centre of mass and forces, if any.
  Studied(const parallel::Communicator& comm, const std::filesystem::path& folder,
          const Interrupts& interrupts, const std::string& scene, const json& parameter,
          const json& objectives = {}) {
    json document = json::parse(R"({
      "markers": [{"name": "tip", "body": "beam", "rest": [0.0115, 0.001, 0.002]},
                  {"name": "corner", "body": "block", "rest": [0.004, 0.034, -0.004]},
                  {"name": "end", "body": "beam", "id": 2}],
      "objectives": [{"name": "path", "type": "markers", "target": "markers.csv"},
                     {"name": "centre", "type": "center_of_mass", "target": "centre.csv"},
                     {"name": "grip", "type": "reaction_force", "boundary": 1, "direction": [1, 2, -3],
                      "target": "force.csv"}]})");
    document["experiments"] = {{"name", "run"}, {"scene", scene}};
    document["parameters"] = parameter;
    LoadedScene loaded = load_scene(comm, folder / scene, all_solvers());
    for (const std::string& obstacle : obstacle_names(loaded.file.scene))
      document["objectives"].push_back({{"name", obstacle},
                                        {"type", "reaction_force"},
                                        {"obstacle", obstacle},
                                        {"direction", {-1, -0.7, 0.8}},
                                        {"target", "force.csv"}});
    if (!objectives.empty()) document["objectives"] = objectives;
    if (comm.rank() == 0) write_aim(folder / "aim.h5", pack_bodies(loaded.file.scene, loaded.geometry));
    comm.barrier();
    study = parse_study(document.dump(), "study.json", folder).study;
    const std::vector<Scene> scenes{loaded.file.scene};
    const std::vector<int> dims{3};
    check_study_dimensions(study, dims);
    check_study_against_scenes(study, scenes);
    model = ExperimentModel::create(comm, study, 0, std::move(loaded), interrupts);
  }
};

class ParticleExperiment {
public:
  ParticleExperiment(MPI_Comm ranks, const json& scene, const json& parameter, const json& objectives = {})
      : comm_(ranks), folder_(comm_), interrupts_(comm_) {
    if (comm_.rank() == 0) {
      std::ofstream(folder_ / "scene.json") << scene;
      std::ofstream(folder_ / "markers.csv")
          << "time,marker,x,y,z,sd\n0,tip,0.012,0,0,0.01\n0.004,tip,0.013,-0.002,0.001,0.01\n"
             "0,corner,0,0.03,0,0.01\n0.004,corner,0.002,0.03,0,0.02\n"
             "0,end,0.01,0.001,0,0.01\n0.004,end,0.011,0,0.001,0.01\n";
      std::ofstream(folder_ / "force.csv") << "time,force,sd\n0,0.01,1\n0.004,-0.05,2\n";
      std::ofstream(folder_ / "centre.csv")
          << "time,x,y,z,sd\n0,0,0.01,0,0.01\n0.004,0.001,0.02,0.003,0.02\n";
      // Seen at states; one point is in no body.
      std::ofstream(folder_ / "field.csv")
          << "time [ms],x,y,z,ux,uy,uz,sd\n2,0.0112,0.002,-0.001,0.002,-0.001,0.001,0.01\n"
             "4,0.0112,0.002,-0.001,0.001,0,0.003,0.01\n2,0.004,-0.003,0.003,0.001,0.001,-0.002,0.02\n"
             "4,0.3,0,0,0.001,0,0,0.01\n";
    }
    comm_.barrier();
    studied_ =
        std::make_unique<Studied>(comm_, folder_.path(), interrupts_, "scene.json", parameter, objectives);
    model_ = studied_->model.get();
    objective_.emplace(*model_, inverse::ReducedObjective::Options{1, {1e-14, {}}});
  }

  /// The scene that is written with other values has the objective that these have.
  void check_written_scene() {
    const ParameterValues q = model_->values_along(direction_, 0.1);
    const double expected = inverse::ReducedObjective(*model_, {}).value(q).objective;
    model_->write_scene(q, folder_.path());
    comm_.barrier();
    const bool is_nu = model_->study().parameters[0].kind->name == std::string("poisson_ratio");
    const json same = is_nu ? json{{"name", "same"}, {"quantity", "density"}, {"initial", 1000}}
                            : json{{"name", "same"}, {"quantity", "poisson_ratio"}, {"initial", 0.3}};
    const Studied written(comm_, folder_.path(), interrupts_, "run.json", same);
    const auto found = inverse::ReducedObjective(*written.model, {}).value(written.model->start_values());
    EXPECT_EQ(found.failure, "");
    EXPECT_NEAR(found.objective, expected, 1e-9 * expected);
  }

  /// The derivative of the objective along the direction.
  double slope() {
    if (slope_) return *slope_;
    const inverse::ObjectiveGradient gradient = objective_->gradient(model_->start_values());
    EXPECT_EQ(gradient.failure, "");
    slope_ = gradient.failure.empty() ? model_->derivative(gradient.values, direction_) : std::nan("");
    return *slope_;
  }

  /// The gradient against differences of runs; of sums of squares with both products of the Jacobian.
  void check() {
    if (!model_->check_start().why_not_least_squares.empty()) {
      if (is_alone()) check_differences(slope());
      return;
    }
    const ParameterValues q = model_->start_values();
    ParameterValues change = model_->values_along(direction_, 1);
    for (std::size_t k = 0; k < q.size(); ++k)
      for (std::size_t i = 0; i < q[k].size(); ++i) change[k][i] -= q[k][i];
    const inverse::ResidualChanges forward = objective_->jacobian(q, {change});
    ASSERT_EQ(forward.failure, "");
    const std::vector<double>& Jw = forward.columns.at(0);

    std::mt19937 random(5 + comm_.rank());
    std::vector<double> y(Jw.size());
    double product = 0, size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = std::uniform_real_distribution(-1.0, 1.0)(random);
      product += y[i] * Jw[i];
      size += std::abs(y[i] * Jw[i]);
    }
    const inverse::ObjectiveGradient back = objective_->jacobian_transposed(q, y);
    ASSERT_EQ(back.failure, "");
    EXPECT_NEAR(model_->derivative(back.values, direction_), comm_.sum(product), 1e-12 * comm_.sum(size));

    // The gradient of |r|^2 is 2 J' r, and that of differences.
    const double slope = this->slope();
    const std::vector<double> r = objective_->residuals(q);
    double by_tangent = 0, largest = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      by_tangent += 2 * r[i] * Jw[i];
      largest += 2 * std::abs(r[i] * Jw[i]);
    }
    EXPECT_NEAR(slope, comm_.sum(by_tangent), 1e-12 * comm_.sum(largest));
    if (is_alone()) check_differences(slope);
  }

private:
  void check_differences(double slope) {
    double error = std::numeric_limits<double>::infinity();
    // Where bonds soften there are kinks, which large steps cross.
    for (const double h : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5}) {
      const auto at = [&](double by) {
        return objective_->value(model_->values_along(direction_, by)).objective;
      };
      const double difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      error = std::min(error, std::abs(difference - slope) / std::abs(difference));
      if (error < 1e-7) break;
    }
    EXPECT_LE(error, 1e-6);
  }

  parallel::Communicator comm_;
  testing::TemporaryFolder folder_;
  Interrupts interrupts_;
  std::unique_ptr<Studied> studied_;
  ExperimentModel* model_ = nullptr; ///< of it
  std::optional<inverse::ReducedObjective> objective_;
  std::optional<double> slope_;
  Direction direction_{3, -1};
};

void check_derivatives(const json& scene, const json& parameter, const json& objectives = {}) {
  ParticleExperiment experiment(MPI_COMM_WORLD, scene, parameter, objectives);
  experiment.check();
  if (is_alone()) return;
  const double alone = ParticleExperiment(MPI_COMM_SELF, scene, parameter, objectives).slope();
  EXPECT_NEAR(experiment.slope(), alone, 1e-8 * std::abs(alone));
}

void check_written_scene(const json& scene, const json& parameter) {
  ParticleExperiment(MPI_COMM_WORLD, scene, parameter).check_written_scene();
}

/// A scene at rest does not depend on it.
bool is_initial(const ParameterKind& kind) {
  return kind.changes(parameters::quantities::velocity) || kind.name == std::string("initial_displacement");
}

/// act(integrator, kind, parameter) for every kind that bonded particles have, with the slots that its values
/// may have.
template <class Act>
void for_every_parameter(Act act) {
  for (const std::string integrator : {"be_reflect", "mid_reflectT", "quasistatic"})
    for (const ParameterKind& kind : parameter_kinds()) {
      if (!kind.on_particles || (is_initial(kind) && integrator == "quasistatic")) continue;
      for (const json& parameter : entries(kind, integrator)) {
        SCOPED_TRACE(integrator + " " + parameter.dump());
        act(scene_of(kind, integrator), parameter);
      }
    }
}

TEST(ParticleExperiment, RunsHaveTangentsAndGradients) {
  for_every_parameter([](const json& scene, const json& parameter) { check_derivatives(scene, parameter); });
}

/// Checks one entry of every kind that needs neither strengths nor friction, in scene(integrator). Ranks do
/// not meet integrators: several take only `on_ranks`, which saves minutes.
void check_every_kind(json (*scene)(const std::string&), const std::string& on_ranks) {
  for (const std::string integrator : {"be_reflect", "mid_reflectT", "quasistatic"}) {
    if (!is_alone() && integrator != on_ranks) continue;
    for (const ParameterKind& kind : parameter_kinds()) {
      if (!kind.on_particles || kind.is_strength || needs_contact(kind) || is_damping(kind) ||
          (is_initial(kind) && integrator == "quasistatic"))
        continue;
      const json parameter = entries(kind, integrator).front();
      SCOPED_TRACE(integrator + " " + parameter.dump());
      check_derivatives(scene(integrator), parameter);
    }
  }
}

TEST(ParticleExperiment, SofteningRunsHaveTangentsAndGradients) {
  check_every_kind(softening_scene, "mid_reflectT");
}

/// Forces on what is constrained and touched, and those of obstacles.
TEST(ParticleExperiment, RunsInContactHaveTangentsAndGradients) {
  check_every_kind(touching_scene, "be_reflect");
}

/// A cell that repeats while it deforms.
json cell_scene(const std::string& integrator) {
  json result = softening_scene(integrator);
  result["geometry"] = {
      {{"name", "cell"},
       {"generator", {{"type", "box"}, {"size", {0.024, 0.024, 0.024}}, {"divisions", {1, 1, 1}}}},
       {"particles", {{"packing", "random"}, {"radius", {0.0025, 0.0035}}, {"bond_tolerance", 0.1}}}}};
  result["boundary_conditions"] = json::parse(R"({"periodic_boundary": {"enabled": true,
    "linear_displacement_offset": [["2*t", "4*t", 0], [0, "-t", 0], [0, 0, "1e3*t^2"]]}})");
  result["gravity"] = {0, 0, 0};
  return result;
}

/// Every type of objective that bonded particles have, as a study writes it.
std::map<std::string, json> objective_entries() {
  return {{"markers", {{"target", "markers.csv"}}},
          {"displacement_field", {{"body", "beam"}, {"target", "field.csv"}, {"outside", "drop"}}},
          {"center_of_mass", {{"target", "centre.csv"}, {"body", "beam"}}},
          {"height", {{"axis", "y"}}},
          {"velocity", {{"target", {0.1, -0.2, 0.3}}}},
          {"position_integral", {{"axis", "z"}, {"body", "block"}}},
          {"target_displacement", {{"reference", "aim.h5"}, {"components", {"x", "z"}}}},
          {"target_position", {{"reference", "aim.h5"}, {"body", "beam"}, {"time", "final"}}},
          {"elastic_energy", {{"body", "beam"}}},
          {"contact_force_norm", {{"body", "block"}}},
          {"reaction_force", {{"boundary", 1}, {"direction", {1, 2, -3}}, {"target", "force.csv"}}},
          {"homogenized_stress", {{"component", {0, 1}}}}};
}

/// Of all kinds of parameters at once, whose directions are of the sizes of their values, in contact with and
/// without bonds that soften.
TEST(ParticleExperiment, ObjectivesHaveExactDerivatives) {
  const json parameters = json::parse(R"([
    {"name": "E", "quantity": "young_modulus", "per": "bond", "body": "beam", "initial": 1e7},
    {"name": "nu", "quantity": "poisson_ratio", "initial": 0.3},
    {"name": "rho", "quantity": "density", "per": "body", "initial": 1000},
    {"name": "v", "quantity": "initial_velocity", "initial": [0.5, 0.1, 0.2]},
    {"name": "grip", "quantity": "dirichlet_value", "boundary": 1, "initial": [0.1, 0.05, 0.3]}])");
  const json of_cells = json::parse(R"([{"name": "E", "quantity": "young_modulus", "initial": 1e7},
                                        {"name": "nu", "quantity": "poisson_ratio", "initial": 0.3}])");
  const json hard = touching_scene("be_reflect"), materials = softening_scene("be_reflect")["materials"];
  json soft = hard;
  soft["materials"] = materials;
  soft["solver"]["bonded_particles"]["damage_width"] = 0.2;
  const auto entries = objective_entries();
  for (const ObjectiveType& type : objective_types()) {
    if (!holds(observables_on_particles(), type.asks)) continue;
    ASSERT_TRUE(entries.contains(type.name)) << "give " << type.name << " an entry in this test";
    json objective = entries.at(type.name);
    objective.update({{"name", "o"}, {"type", type.name}});
    if (type.name == std::string("homogenized_stress")) {
      check_derivatives(cell_scene("be_reflect"), of_cells, json::array({objective}));
      continue;
    }
    for (const json* on : {&hard, &std::as_const(soft)}) {
      SCOPED_TRACE(type.name + std::string(on == &soft ? ", bonds soften" : ""));
      check_derivatives(*on, parameters, json::array({objective}));
    }
  }
}

/// What holds a grip by damped bonds that soften.
TEST(ParticleExperiment, ReactionsOfDampedBondsHaveExactDerivatives) {
  json damped = touching_scene("mid_reflectT");
  damped["materials"] = softening_scene("mid_reflectT")["materials"];
  damped["materials"]["damping_time"] = 2e-3;
  damped["solver"]["bonded_particles"]["damage_width"] = 0.2;
  json grip = objective_entries().at("reaction_force");
  grip.update({{"name", "o"}, {"type", "reaction_force"}});
  check_derivatives(damped, json::parse(R"([
    {"name": "E", "quantity": "young_modulus", "per": "bond", "body": "beam", "initial": 1e7},
    {"name": "tau", "quantity": "damping_time", "initial": 2e-3},
    {"name": "t", "quantity": "tensile_strength", "initial": 8e4},
    {"name": "grip", "quantity": "dirichlet_value", "boundary": 1, "initial": [0.1, 0.05, 0.3]}])"),
                    json::array({grip}));
}

/// A grip that has moved at once, so that the start depends on the parameter.
TEST(ParticleExperiment, StartsWhereItIsHeld) {
  for (const std::string integrator : {"be_reflect", "mid_reflectT", "quasistatic"}) {
    SCOPED_TRACE(integrator);
    json held = scene(integrator);
    held["boundary_conditions"]["dirichlet_boundary"][0].erase("interpolation");
    const json parameter{
        {"name", "q"}, {"quantity", "dirichlet_value"}, {"boundary", 1}, {"initial", {1e-4, 5e-5, 2e-4}}};
    check_derivatives(held, parameter);
    json turned = scene(integrator);
    turned["boundary_conditions"]["dirichlet_boundary"][0].erase("rotation_interpolation");
    const json turn{
        {"name", "q"}, {"quantity", "dirichlet_rotation"}, {"boundary", 1}, {"initial", {0.01, 0.03, -0.02}}};
    check_derivatives(turned, turn);
  }
}

/// The derivative of a rotation by its vector, where it is no longer small.
TEST(ParticleExperiment, TurnsFarAround) {
  const json turn{
      {"name", "q"}, {"quantity", "dirichlet_rotation"}, {"boundary", 1}, {"initial", {40, 60, -50}}};
  check_derivatives(scene("mid_reflectT"), turn);
}

/// Bonds whose modulus follows from that of the lattice, and so from `nu`, too.
TEST(ParticleExperiment, DifferentiatesMacroscopicModuli) {
  json macroscopic = scene("be_reflect");
  macroscopic["materials"]["moduli"] = "macro";
  macroscopic["materials"]["section"] = 0.9;
  macroscopic["materials"]["shear_correction"] = 0.8;
  macroscopic["materials"]["shear_energy"] = "angle";
  for (const ParameterKind& kind : parameter_kinds())
    if (kind.name == std::string("young_modulus") || kind.name == std::string("poisson_ratio"))
      for (const json& parameter : entries(kind, "be_reflect")) {
        if (parameter.value("per", "") == "bond") continue; // a lattice of unlike bonds has no such moduli
        SCOPED_TRACE(parameter.dump());
        check_derivatives(macroscopic, parameter);
        check_written_scene(macroscopic, parameter);
      }
}

/// Each bond has the value times its Weibull factor and that of its radius.
TEST(ParticleExperiment, DifferentiatesStrengthsOfARadius) {
  json of_radius = softening_scene("be_reflect");
  of_radius["materials"]["strength_radius"] = 0.0018;
  for (const ParameterKind& kind : parameter_kinds())
    if (kind.on_particles && kind.is_strength) {
      const json parameter = entries(kind, "be_reflect").front();
      SCOPED_TRACE(parameter.dump());
      check_derivatives(of_radius, parameter);
      check_written_scene(of_radius, parameter);
    }
}

TEST(ParticleExperiment, WritesScenesWithValues) {
  for_every_parameter([](const json& scene, const json& parameter) {
    if (scene["solver"]["bonded_particles"].value("integrator", "") != "be_reflect") return;
    check_written_scene(scene, parameter);
  });
}

} // namespace
} // namespace recoil::app::particle_experiment_test
