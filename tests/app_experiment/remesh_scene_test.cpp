#include "recoil/app/study/remesh/remesh_scene.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include "app_experiment/experiment.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/mesh/input/node_values.hpp"

namespace recoil::app::remesh_scene_test {
namespace {

using nlohmann::json;

template <int dim>
using Point = Eigen::Matrix<double, dim, 1>;

/// A bar whose left half is softer, with a value per element, next to a block that stays as it is.
template <int dim>
json scene_of_bar() {
  json bar =
      json::parse(R"({"name": "bar", "generator": {"type": "box", "size": [2, 1, 1], "divisions": [6, 3, 3]},
                             "surface_selection": [{"id": 4, "axis": "x", "position": 0.99}],
                             "point_selection": [{"id": 9, "box": [[0.99, 0.49, -9], [1.01, 0.51, 9]]}]})");
  json block = json::parse(
      R"({"name": "block", "generator": {"type": "box", "size": [1, 1, 1], "divisions": [2, 1, 1]},
                               "transformation": {"translation": [5, 0, 0]}})");
  if (dim == 2)
    for (json* body : {&bar, &block}) {
      (*body)["generator"]["type"] = "rectangle";
      (*body)["generator"]["size"].erase(2);
      (*body)["generator"]["divisions"].erase(2);
      if (body->contains("transformation")) (*body)["transformation"]["translation"].erase(2);
      if (body->contains("point_selection"))
        for (json& corner : (*body)["point_selection"][0]["box"]) corner.erase(2);
    }
  return {{"geometry", {bar, block}},
          {"materials", {{"type", "NeoHookean"}, {"E", 1e5}, {"nu", 0.3}, {"rho", 1000}}},
          {"space", {{"discr_order", 2}}},
          {"time", {{"dt", 0.01}, {"time_steps", 1}}}};
}

/// Something that is linear in the place.
template <int dim>
double linear(const Point<dim>& x, int component) {
  return 1 + component + (2 - component) * x[0] - 3 * x[1] + (dim == 3 ? 0.5 * x[dim - 1] : 0);
}

/// The surface id 4 of the bar.
template <int dim>
bool is_at_end(const Point<dim>& x) {
  return std::abs(x[0] - 1) < 1e-9;
}

template <int dim>
std::vector<double> linear_rows(const fem::FunctionSpace<dim>& space) {
  std::vector<double> rows(space.num_nodes_global() * dim);
  for (LocalIndex node = 0; node < space.num_nodes(); ++node)
    for (int i = 0; i < dim; ++i)
      rows[space.canonical_ids()[node] * dim + i] = linear<dim>(space.node_positions()[node], i);
  return rows;
}

template <int dim>
Point<dim> centroid(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell) {
  Point<dim> centre = Point<dim>::Zero();
  for (const LocalIndex vertex : mesh.cells[cell]) centre += mesh.vertices[vertex] / (dim + 1);
  return centre;
}

double stiffness_at(double x) { return x < 0 ? 1e5 : 3e5; }

/// Rows of the end of the bar, NaN elsewhere.
template <int dim>
std::vector<double> rows_at_end(const fem::FunctionSpace<dim>& space) {
  std::vector<double> rows = linear_rows(space);
  for (LocalIndex node = 0; node < space.num_nodes(); ++node)
    if (!is_at_end<dim>(space.node_positions()[node]))
      std::fill_n(rows.begin() + space.canonical_ids()[node] * dim, dim, std::nan(""));
  return rows;
}

/// Adds data per element and node, and a row of a prescribed vertex.
template <int dim>
void add_data(const StudiedExperiment<dim>& plain, const std::filesystem::path& folder, json& scene) {
  const auto& mesh = plain.geometry().mesh;
  const Variant<dim> variant = plain.at(plain.start());
  std::vector<double> stiffness(mesh.num_cells_global);
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell)
    stiffness[mesh.cell_ids[cell]] = stiffness_at(centroid(mesh, cell)[0]);
  io::Hdf5Writer file(plain.comm(), folder / "data.h5");
  file.write_rows<double>("E", stiffness, 1);
  file.write_rows<double>("v", linear_rows(variant.discrete->space()), dim);
  file.write_rows<double>("end", rows_at_end(variant.discrete->space()), dim);
  file.close();
  scene["materials"]["E"] = {{"file", (folder / "data.h5").string()}, {"dataset", "/E"}};
  scene["initial_conditions"]["velocity"] = {
      {{"body", {"bar", "block"}}, {"value", {{"file", (folder / "data.h5").string()}, {"dataset", "/v"}}}}};
  for (LocalIndex v = 0; v < mesh.num_vertices(); ++v) {
    const bool is_corner = (mesh.vertices[v].template head<2>() - Eigen::Vector2d(-1, -0.5)).norm() < 1e-9;
    if (is_corner && (dim == 2 || mesh.vertices[v][dim - 1] < 0))
      std::ofstream(folder / "rows.txt")
          << mesh.vertex_ids[v] << (dim == 2 ? " 0.5 nan\n" : " 0.5 nan nan\n");
  }
  scene["boundary_conditions"]["dirichlet_boundary"] = {
      (folder / "rows.txt").string(),
      {{"id", 4}, {"value", {{"file", (folder / "data.h5").string()}, {"dataset", "/end"}}}}};
}

template <int dim>
void expect_data_carried() {
  const testing::TemporaryFolder folder;
  const json study = json::parse(R"({"objectives": [{"name": "o", "type": "elastic_energy"}], "parameters":
      [{"name": "q", "quantity": "shape", "body": "bar", "basis": {"extension": "harmonic"}}]})");
  json scene = scene_of_bar<dim>();
  add_data(StudiedExperiment<dim>(MPI_COMM_SELF, scene, study), folder.path(), scene);
  const StudiedExperiment<dim> experiment(MPI_COMM_SELF, scene, study);
  write_scene_with_values<dim>(experiment.resolved(), experiment.scene(), experiment.geometry(),
                               experiment.fields(), experiment.start(), folder.path(), "written");
  const RemeshedScene made =
      remesh_scene(experiment.comm(), folder / "written.json", {"bar"}, mesh::Gmsh{"gmsh"});
  EXPECT_GT(made.min_scaled_jacobian, 0.1);

  LoadedScene loaded = load_scene(experiment.comm(), folder / "written.json", all_solvers());
  const Scene read = loaded.file.scene;
  const json resolved = json::parse(loaded.file.resolved);
  DiscreteScene<dim> discrete(loaded.file.scene, distribute_geometry<dim>(experiment.comm(), loaded));
  discrete.start();
  const auto& space = discrete.space();
  const auto& mesh = discrete.mesh();
  EXPECT_NE(mesh.num_cells_global, experiment.geometry().mesh.num_cells_global);
  const auto& v = discrete.solver().history().newest().v;
  for (LocalIndex node = 0; node < space.num_nodes(); ++node)
    for (int i = 0; i < dim; ++i)
      EXPECT_NEAR(v.local()[node * dim + i], linear<dim>(space.node_positions()[node], i), 1e-11);
  linalg::Vector prescribed(space.layout());
  discrete.solver().problem().dirichlet->set_values(0.01, 1, prescribed);
  for (LocalIndex node = 0; node < space.num_nodes(); ++node) {
    const Point<dim>& X = space.node_positions()[node];
    if (!is_at_end<dim>(X)) continue;
    for (int i = 0; i < dim; ++i) EXPECT_NEAR(prescribed.local()[node * dim + i], linear<dim>(X, i), 1e-11);
  }
  const io::Hdf5Reader arrays(resolved["materials"]["E"]["file"].get<std::string>());
  const auto E = arrays.read_rows<double>(resolved["materials"]["E"]["dataset"], 0, mesh.num_cells_global);
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell)
    // Between the halves the element that has the centroid decides.
    EXPECT_TRUE(std::abs(centroid(mesh, cell)[0]) < 0.2 ||
                E[mesh.cell_ids[cell]] == stiffness_at(centroid(mesh, cell)[0]));
  const auto rows = mesh::read_node_values(read.boundary_conditions.dirichlet.front().node_file, dim,
                                           mesh.num_vertices_global, "test");
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].value[0], 0.5);
  int points = 0;
  for (LocalIndex vertex = 0; vertex < mesh.num_vertices(); ++vertex) {
    const auto& X = mesh.vertices[vertex];
    EXPECT_TRUE(mesh.vertex_ids[vertex] != rows[0].vertex ||
                (X.template head<2>() - Eigen::Vector2d(-1, -0.5)).norm() < 1e-12);
    if (mesh.vertex_point_id[vertex] == 9) {
      ++points;
      EXPECT_NEAR((X.template head<2>() - Eigen::Vector2d(1, 0.5)).norm(), 0, 1e-12);
    }
  }
  EXPECT_EQ(points, dim == 2 ? 1 : 4);
}

TEST(RemeshScene, CarriesDataOver) {
  if (std::system("gmsh --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "Gmsh is not installed";
  // Serial code: one of the ranks is enough.
  if (parallel::Communicator(MPI_COMM_WORLD).rank() != 0) return;
  expect_data_carried<2>();
  expect_data_carried<3>();
}

} // namespace
} // namespace recoil::app::remesh_scene_test
