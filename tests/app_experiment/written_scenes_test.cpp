#include <gmock/gmock.h>

#include "app_experiment/every_kind.hpp"
#include "app_experiment/experiment.hpp"
#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app::written_scenes_test {
namespace {

using nlohmann::json;
using namespace every_kind;

template <int dim>
std::vector<double> in_file_order(const DiscreteScene<dim>& discrete, const linalg::Vector& field) {
  return node_layout(discrete.space()).template to_blocks<double>(field.owned(), dim);
}

/// Velocities at the start, then the displacements of all states of a run.
template <int dim>
std::vector<std::vector<double>> run(DiscreteScene<dim>& discrete) {
  auto& solver = discrete.solver();
  const stepping::State& start = solver.history().newest();
  std::vector<std::vector<double>> states{in_file_order(discrete, start.v), in_file_order(discrete, start.u)};
  while (solver.step() < discrete.scene().time.steps) {
    const stepping::StepOutcome outcome = solver.advance([](const auto&...) {});
    EXPECT_TRUE(outcome.failure.empty()) << outcome.failure << ", step " << solver.step();
    if (!outcome.failure.empty()) break;
    states.push_back(in_file_order(discrete, solver.history().newest().u));
  }
  return states;
}

double largest(const std::vector<double>& values) {
  double size = 0;
  for (const double value : values) size = std::max(size, std::abs(value));
  return size;
}

/// Values that differ from slot to slot and from the start.
template <int dim>
ParameterValues changed(const StudiedExperiment<dim>& experiment) {
  ParameterValues values = experiment.start();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> along = experiment.direction(k);
    for (std::size_t i = 0; i < along.size(); ++i) values[k][i] += 0.1 * along[i];
  }
  return values;
}

/// Runs an experiment with changed values, and the scene that is written of it.
template <int dim>
json compare_runs(const StudiedExperiment<dim>& experiment, const std::string& what) {
  const parallel::Communicator& comm = experiment.comm();
  const ParameterValues values = changed(experiment);
  const Variant<dim> variant = experiment.at(values);
  const auto expected = run(*variant.discrete);

  write_scene_with_values(experiment.resolved(), experiment.scene(), experiment.geometry(),
                          experiment.fields(), values, experiment.folder(), "written");
  LoadedScene loaded = load_scene(comm, experiment.folder() / "written.json", all_solvers());
  DiscreteScene<dim> discrete(loaded.file.scene, distribute_geometry<dim>(comm, loaded));
  discrete.start();
  const auto found = run(discrete);

  EXPECT_EQ(found.size(), expected.size()) << what;
  for (std::size_t state = 0; state < std::min(found.size(), expected.size()); ++state) {
    double error = 0;
    EXPECT_EQ(found[state].size(), expected[state].size()) << what;
    for (std::size_t i = 0; i < std::min(found[state].size(), expected[state].size()); ++i)
      error = std::max(error, std::abs(found[state][i] - expected[state][i]));
    EXPECT_LE(comm.max(error), 1e-10 * comm.max(largest(expected[state]))) << what << ", state " << state;
  }
  return json::parse(loaded.file.resolved);
}

json study_of(const json& parameters) {
  return {{"objectives", {{{"name", "o"}, {"type", "elastic_energy"}}}}, {"parameters", parameters}};
}

template <int dim>
void check_entry(const ParameterKind& kind, json entry) {
  const json scene = every_kind::scene<dim>(law_for(kind));
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::TemporaryFolder folder(comm);
  if (entry.contains("basis") && entry["basis"].contains("modes")) {
    const StudiedExperiment<dim> plain(MPI_COMM_WORLD, scene,
                                       study_of({{{"name", "q"}, {"quantity", "density"}, {"initial", 1}}}));
    every_kind::write_modes<dim>(comm, folder / "modes.h5", plain.geometry().mesh.num_vertices_global, 0.1);
    entry["basis"]["modes"] = (folder / "modes.h5").string();
  }
  compare_runs(StudiedExperiment<dim>(MPI_COMM_WORLD, scene, study_of({entry})), entry.dump());
}

template <int dim>
void check_registry() {
  for_each_kind<dim>([](const ParameterKind& kind) {
    ASSERT_TRUE(kind.actions<dim>().write) << kind.name;
    for (const json& entry : entries_for_ranks<dim>(kind)) check_entry<dim>(kind, entry);
  });
}
TEST(WrittenScenes, RunAsTheExperimentWithItsValues2D) { check_registry<2>(); }
TEST(WrittenScenes, RunAsTheExperimentWithItsValues3D) { check_registry<3>(); }

/// Two bodies, one of them refined and copied, with two volume ids each.
json two_bodies() {
  json left = box<2>("left", {1, 0.4, 0}, {4, 2, 1}, {0, 0, 0}),
       right = box<2>("right", {0.3, 0.2, 0}, {2, 1, 1}, {2, 0, 0});
  left["volume_selection"] = {{{"id", 4}, {"axis", "x"}, {"position", 0}}, {{"id", 2}}};
  left["surface_selection"] = {{{"id", 1}, {"axis", "-x"}, {"position", -0.499}},
                               {{"id", 3}, {"axis", "x"}, {"position", 0.499}}};
  left["point_selection"] = {{{"id", 9}, {"box", {{0.49, 0.19}, {0.51, 0.21}}}}};
  right.update({{"n_refs", 1}, {"type", "mesh_array"}, {"array", {{"size", {2, 1}}, {"offset", 0.5}}}});
  json result = json::parse(R"({"solver": {"nonlinear": {"grad_norm_tol": 1e-12}}, "gravity": [0.3, -9.81, 0],
                                "time": {"dt": 0.004, "time_steps": 3, "integrator": "BDF2"}})");
  result["geometry"] = {left, right};
  result["materials"] = {{"type", "NeoHookean"}, {"lambda", 5e4}, {"mu", 4e4}, {"rho", 900}, {"psi", 10}};
  result["boundary_conditions"] = {{"dirichlet_boundary",
                                    {{{"id", 1}, {"value", {0, "0.1*t", 0}}},
                                     {{"id", 9}, {"value", {0.001, 0}}, {"dimension", {false, true}}}}},
                                   {"neumann_boundary", {{{"id", 3}, {"value", {1000, 0, 0}}}}}};
  result["initial_conditions"] = {
      {"velocity", {{{"body", {"left", "right"}}, {"value", {0.1, 0.2}}}}},
      {"angular_velocity", {{{"body", "right"}, {"value", 2}, {"center", {2, 0}}}}}};
  return result;
}

json compare_two_bodies(const json& scene, const json& parameters) {
  return compare_runs(StudiedExperiment<2>(MPI_COMM_WORLD, scene, study_of(parameters)), parameters.dump());
}

json parameter(const std::string& quantity, const json& initial, json more) {
  more.update({{"name", quantity + more.dump()}, {"quantity", quantity}});
  if (!initial.is_null()) more["initial"] = initial;
  return more;
}

TEST(WrittenScenes, GiveMaterialsNumbersWhereTheyCan) {
  const json all =
      compare_two_bodies(two_bodies(), {parameter("young_modulus", 1e5, {}), parameter("density", 800, {})});
  ASSERT_TRUE(all["materials"].is_object());
  EXPECT_TRUE(all["materials"]["E"].is_number() && all["materials"]["rho"].is_number());
  EXPECT_FALSE(all["materials"].contains("mu"));
  const json one = compare_two_bodies(two_bodies(), {parameter("young_modulus", 1e5, {{"body", "left"}}),
                                                     parameter("density", 800, {{"per", "body"}}),
                                                     parameter("damping_shear", 20, {{"region", 4}})});
  ASSERT_EQ(one["materials"].size(), 2);
  EXPECT_EQ(one["materials"][0]["body"], json{"left"});
  EXPECT_TRUE(one["materials"][0]["E"].is_number() && one["materials"][1]["mu"].is_number());
  EXPECT_NE(one["materials"][0]["rho"], one["materials"][1]["rho"]);
  EXPECT_TRUE(one["materials"][0]["psi"].is_object() && one["materials"][1]["psi"].is_number());
}

TEST(WrittenScenes, ConvertElasticConstantsAsTheParametersDo) {
  json scene = two_bodies();
  scene["materials"] = {
      {{"body", "left"}, {"type", "NeoHookean"}, {"E", 1e5}, {"nu", 0.3}, {"plane", "strain"}},
      {{"id", {0}}, {"type", "SaintVenant"}, {"E", 2e5}, {"nu", 0.2}}};
  const json one = compare_two_bodies(scene, {parameter("lambda", 5e4, {{"region", 2}})});
  EXPECT_TRUE(one["materials"][0]["lambda"].is_object() && one["materials"][0]["mu"].is_number());
  EXPECT_FALSE(one["materials"][0].contains("E"));
  EXPECT_TRUE(one["materials"][1]["E"].is_number());
  compare_two_bodies(scene, {parameter("mu_lame", 5e4, {{"per", "vertex"}})});
  compare_two_bodies(scene, {parameter("young_modulus", 1e5, {{"per", "body"}}),
                             parameter("poisson_ratio", 0.3, {{"per", "element"}})});
}

TEST(WrittenScenes, KeepTheValuesPerElementOfRefinedBodiesWithNewMeshes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::TemporaryFolder folder(comm);
  json scene = two_bodies();
  std::vector<double> rows;
  for (int i = 0; comm.rank() == 0 && i < 20; ++i) rows.push_back(700 + 10 * i);
  io::Hdf5Writer file(comm, folder / "elements.h5");
  file.write_rows<double>("rho", rows, 1);
  file.close();
  const json data{{"file", (folder / "elements.h5").string()}, {"dataset", "rho"}};
  scene["materials"]["rho"] = data;
  scene["boundary_conditions"]["rhs"] = {0, data};
  scene["time"]["dt"] = 1e-3;
  scene["initial_conditions"].erase("angular_velocity");
  const json written =
      compare_two_bodies(scene, {parameter("shape", {}, {{"body", "right"}, {"basis", "affine"}}),
                                 parameter("shape", {}, {{"body", "left"}, {"basis", "vertices"}})});
  for (const json& body : written["geometry"]) EXPECT_TRUE(body.contains("mesh") && !body.contains("array"));
  EXPECT_TRUE(written["materials"]["rho"].is_object());
}

TEST(WrittenScenes, SayWhereBodiesStart) {
  const json regions = compare_two_bodies(
      two_bodies(), {parameter("initial_velocity", {1, 2}, {{"region", 4}}),
                     parameter("initial_velocity", {2, 1}, {{"region", 2}, {"body", "left"}}),
                     parameter("initial_angular_velocity", 3, {{"body", "right"}}),
                     parameter("initial_displacement", {0.01, 0.02}, {{"per", "body"}})});
  const json& velocity = regions["initial_conditions"]["velocity"];
  ASSERT_EQ(velocity.size(), 3);
  EXPECT_TRUE(velocity[1].contains("id") && velocity[1]["value"].is_array());
  EXPECT_TRUE(velocity[2]["value"].is_object());
  EXPECT_EQ(regions["initial_conditions"]["angular_velocity"].size(), 1);
  json second = two_bodies();
  second["space"]["discr_order"] = 2;
  compare_two_bodies(second, {parameter("initial_velocity", {1, 2}, {{"per", "vertex"}, {"body", "left"}}),
                              parameter("initial_displacement", {0.01, 0.02}, {{"per", "vertex"}})});
  const json nodes =
      compare_two_bodies(second, {parameter("initial_velocity", {1, 2}, {{"per", "node"}, {"body", "left"}}),
                                  parameter("initial_displacement", {0.01, 0.02}, {{"per", "node"}})});
  EXPECT_TRUE(nodes["initial_conditions"]["solution"].back()["value"].is_object());
}

TEST(WrittenScenes, NodesStartFromTheirRowsOfAFile) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::TemporaryFolder folder(comm);
  json scene = two_bodies();
  scene["space"]["discr_order"] = 2;
  scene["initial_conditions"].erase("angular_velocity");
  const StudiedExperiment<2> plain(MPI_COMM_WORLD, scene, study_of({parameter("density", 800, {})}));
  const auto layout = node_layout(plain.at(plain.start()).discrete->space());
  std::vector<double> rows;
  for (GlobalIndex i = 2 * layout.block_begin(); i < 2 * layout.block_end(); ++i) rows.push_back(std::sin(i));
  io::Hdf5Writer file(comm, folder / "start.h5");
  file.write_rows<double>("v", rows, 2);
  file.close();
  json start = parameter("initial_velocity", {1, 2}, {{"per", "node"}});
  start["initial"] = {{"file", (folder / "start.h5").string()}, {"dataset", "v"}};
  const StudiedExperiment<2> experiment(MPI_COMM_WORLD, scene, study_of({start}));
  EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(experiment.fields()[0].num_owned_slots)), layout.global_size());
  const Variant<2> variant = experiment.at(experiment.start());
  EXPECT_EQ(in_file_order(*variant.discrete, variant.discrete->solver().history().newest().v), rows);
}

TEST(WrittenScenes, PrescribeEachNodeOfABoundary) {
  json scene = two_bodies();
  scene["space"]["discr_order"] = 2;
  json& entry = scene["boundary_conditions"]["dirichlet_boundary"][0];
  entry["value"] = {0, 0};
  entry["interpolation"] = {{{"type", "linear"}}, {{"type", "none"}}};
  const json given = parameter("dirichlet_value", {0.02, 0.001}, {{"boundary", 1}, {"per", "node"}});
  const json written = compare_two_bodies(scene, {given});
  const json& fitted = written["boundary_conditions"]["dirichlet_boundary"][0];
  EXPECT_TRUE(fitted["value"].is_object());
  EXPECT_EQ(fitted["interpolation"].size(), 2);
  // Two elements of order 2 along the side.
  const StudiedExperiment<2> experiment(MPI_COMM_WORLD, scene, study_of({given}));
  EXPECT_EQ(experiment.comm().sum(static_cast<GlobalIndex>(experiment.fields()[0].num_owned_slots)), 5);
}

/// Why an experiment refuses values per node: `num_missing` rows fewer than there are nodes, all of `value`.
std::string message_about_nodes(json scene, double value, GlobalIndex num_missing) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::TemporaryFolder folder(comm);
  const json study = study_of({parameter("density", 800, {})});
  const StudiedExperiment<2> plain(MPI_COMM_WORLD, scene, study);
  const auto num_nodes = plain.at(plain.start()).discrete->space().num_nodes_global();
  io::Hdf5Writer file(comm, folder / "nodes.h5");
  file.write_rows<double>("u", std::vector(comm.rank() == 0 ? 2 * (num_nodes - num_missing) : 0, value), 2);
  file.close();
  scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = {{"file", (folder / "nodes.h5").string()},
                                                                    {"dataset", "u"}};
  const StudiedExperiment<2> experiment(MPI_COMM_WORLD, scene, study);
  try {
    experiment.at(experiment.start());
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(WrittenScenes, NodesOfABoundaryNeedTheirRows) {
  using ::testing::HasSubstr;
  EXPECT_EQ(message_about_nodes(two_bodies(), 0, 0), "nothing");
  EXPECT_THAT(message_about_nodes(two_bodies(), std::nan(""), 0), HasSubstr("its node is on this boundary"));
  EXPECT_THAT(message_about_nodes(two_bodies(), 0, 1), HasSubstr("a row per node"));
  // Obstacles move by the entry with their id, too.
  json pushed = every_kind::scene<2>(*potentials::find_law("NeoHookean"));
  pushed["boundary_conditions"].erase("obstacle_displacements");
  pushed["geometry"][3]["surface_selection"] = 1;
  EXPECT_THAT(message_about_nodes(pushed, 0, 0), HasSubstr("the obstacle 'pusher' has this id"));
}

TEST(WrittenScenes, KeepWhatIsBesideTheFittedLoads) {
  json scene = two_bodies();
  scene["boundary_conditions"]["neumann_boundary"][0]["interpolation"] = {{{"type", "linear"}}};
  compare_two_bodies(scene, {parameter("traction", {900, 200}, {}),
                             parameter("dirichlet_value", {0.002, 0.001}, {{"boundary", 9}}),
                             parameter("body_force", {1, -9}, {{"body", "left"}})});
  compare_two_bodies(scene,
                     {parameter("traction", {900, 200}, {{"per_step", true}}),
                      parameter("dirichlet_value", {0.002, 0.001}, {{"boundary", 1}, {"per_step", true}}),
                      parameter("body_force", {1, -9}, {{"region", 4}})});
  scene.erase("time");
  scene["materials"].erase("psi");
  scene.erase("initial_conditions");
  scene["geometry"].erase(1);
  scene["boundary_conditions"]["rhs"] = {"0.1*t", 0};
  scene["gravity"] = {0.3, -0.5, 0};
  scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = {0, 0};
  scene["boundary_conditions"]["dirichlet_boundary"].erase(1);
  compare_two_bodies(
      scene, {parameter("body_force", {0.2, -0.9}, {{"region", 4}}), parameter("traction", {900, 200}, {})});
}

/// Obstacles that share an id, have none, or move by the same entry.
TEST(WrittenScenes, MoveEachObstacleOnItsOwn) {
  for (const json& id : {json("all"), json{7, 8}}) {
    json scene = every_kind::scene<2>(*potentials::find_law("NeoHookean"));
    json other = box<2>("other", {0.1, 0.1, 0}, {1, 1, 1}, {0.8, 0.4, 0}), still = other, third = other;
    other.update({{"is_obstacle", true}, {"surface_selection", 7}});
    third.update({{"is_obstacle", true}, {"surface_selection", 8}, {"name", "third"}});
    third["transformation"]["translation"] = {1.2, 0.4};
    still.update({{"is_obstacle", true}, {"name", "still"}});
    still["transformation"]["translation"] = {1.6, 0.4};
    for (const json& body : {other, third, still}) scene["geometry"].push_back(body);
    scene["boundary_conditions"]["obstacle_displacements"][0]["id"] = id;
    compare_runs(
        StudiedExperiment<2>(MPI_COMM_WORLD, scene,
                             study_of({parameter("obstacle_motion", {0.002, 0.001},
                                                 {{"body", {"pusher", "still"}}, {"per", "body"}})})),
        "pusher and still");
    compare_runs(
        StudiedExperiment<2>(
            MPI_COMM_WORLD, scene,
            study_of({parameter("obstacle_motion", {0.002, 0.001}, {{"body", "pusher"}, {"per_step", true}}),
                      parameter("obstacle_motion", {0.002, 0.001}, {{"body", "third"}})})),
        "pusher and third");
  }
}

TEST(WrittenScenes, ReplaceEarlierOnes) {
  const json parameters{parameter("density", 800, {{"per", "element"}})};
  const StudiedExperiment<2> experiment(MPI_COMM_WORLD, two_bodies(), study_of(parameters));
  compare_runs(experiment, "first");
  compare_runs(experiment, "again");
  const StudiedExperiment<2> plain(MPI_COMM_WORLD, two_bodies(), study_of({parameter("density", 800, {})}));
  write_scene_with_values(plain.resolved(), plain.scene(), plain.geometry(), plain.fields(), plain.start(),
                          experiment.folder(), "written");
  experiment.comm().barrier();
  EXPECT_TRUE(std::filesystem::exists(experiment.folder() / "written.json"));
  EXPECT_FALSE(std::filesystem::exists(experiment.folder() / "written-data"));
}

} // namespace
} // namespace recoil::app::written_scenes_test
