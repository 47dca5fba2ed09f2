#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "app/fracture/shape_body.hpp"
#include "app_fracture/shape_text.hpp"
#include "recoil/app/fracture/fracture.hpp"

namespace recoil::app {
namespace {

Shape read_changed_shape(const std::string& merge_patch) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  return load_shape(comm, folder.write("shape.json", changed_shape(merge_patch))).shape;
}

TEST(FractureDocumentation, CommittedFileIsWhatTheTableSays) {
  std::ifstream file(RECOIL_TEST_DATA "/../../docs/fracture_modes.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == fracture_markdown())
      << "write docs/fracture_modes.md anew with `recoil schema fracture --markdown`";
}

TEST(FractureDocumentation, EveryKeyIsExplained) {
  for (const auto& section : fracture_keys().sections)
    for (const auto& key : section.keys) {
      EXPECT_FALSE(describe_types(key).empty()) << key.pattern;
      EXPECT_TRUE(key.types & (object | boolean) || *key.doc) << key.pattern;
    }
  const auto schema = nlohmann::json::parse(fracture_json_schema());
  EXPECT_EQ(schema["properties"]["modes"]["properties"]["count"]["default"], 10);
}

TEST(Shape, Defaults) {
  const Shape shape = read_changed_shape(R"({"modes": {"count": null}, "output": null})");
  EXPECT_EQ(shape.modes.count, 10);
  EXPECT_EQ(shape.modes.cut_starts, solvers::fracture_modes::ModeOptions().cut_starts);
  EXPECT_EQ(shape.modes.eigenvector_starts, solvers::fracture_modes::ModeOptions().eigenvector_starts);
  EXPECT_EQ(shape.modes.random_starts, solvers::fracture_modes::ModeOptions().random_starts);
  EXPECT_EQ(shape.modes.replicated_elements, solvers::fracture_modes::ModeOptions().replicated_elements);
  EXPECT_EQ(shape.modes.seed, solvers::fracture_modes::ModeOptions().seed);
  EXPECT_EQ(shape.modes.least_piece, solvers::fracture_modes::ModeOptions().least_piece);
  EXPECT_EQ(shape.type, ModeType::scalar);
  EXPECT_EQ(shape.weight, solvers::fracture_modes::FaceWeight::tv);
  EXPECT_EQ(shape.piece_threshold, solvers::fracture_modes::ImpactOptions().piece_threshold);
  EXPECT_EQ(shape.smallest_piece, 0.01);
  EXPECT_FALSE(shape.blur_length || shape.smoothing_length || shape.cage);
  EXPECT_EQ(shape.save_interval, 10);
}

TEST(Shape, Values) {
  const Shape shape = read_changed_shape(
      R"({"modes": {"type": "vector", "least_piece": 0.1, "weight": "paper", "cut_starts": 4, "eigenvector_starts": 5, "random_starts": 6,
                    "seed": 7, "whole_elements": 8},
          "materials": [{"density": 2}, {"id": 0, "toughness": 3, "cleavage": [1, 2, 3]},
                        {"id": [0], "unbreakable": true, "jump_tensor": [[2, 1, 0], [1, 3, 0], [0, 0, 4]]},
                        {"id": 0, "jump_tensor": [1, 2, 3]}],
          "impacts": {"blur_length": {"value": 0.5, "unit": "m"}, "piece_threshold": 0.25, "least_piece": 0.125,
                      "smoothing_length": 0}})");
  EXPECT_EQ(shape.weight, solvers::fracture_modes::FaceWeight::paper);
  EXPECT_EQ(shape.modes.cut_starts, 4);
  EXPECT_EQ(shape.modes.eigenvector_starts, 5);
  EXPECT_EQ(shape.modes.random_starts, 6);
  EXPECT_EQ(shape.modes.seed, 7u);
  EXPECT_EQ(shape.modes.replicated_elements, 8);
  EXPECT_EQ(shape.type, ModeType::vector);
  EXPECT_EQ(shape.modes.least_piece, 0.1);
  ASSERT_EQ(shape.materials.size(), 4u);
  EXPECT_EQ(shape.materials[2].jump_tensor, (std::vector<double>{2, 1, 0, 1, 3, 0, 0, 0, 4}));
  EXPECT_EQ(shape.materials[3].jump_tensor, (std::vector<double>{1, 0, 0, 0, 2, 0, 0, 0, 3}));
  EXPECT_TRUE(shape.materials[0].ids.empty());
  EXPECT_EQ(shape.materials[0].density, 2);
  EXPECT_EQ(shape.materials[1].ids, std::vector<int>{0});
  EXPECT_EQ(shape.materials[1].toughness, 3);
  EXPECT_EQ(shape.materials[1].cleavage, (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(shape.materials[2].unbreakable);
  EXPECT_EQ(shape.blur_length, 0.5);
  EXPECT_EQ(shape.smoothing_length, 0);
  EXPECT_EQ(shape.piece_threshold, 0.25);
  EXPECT_EQ(shape.smallest_piece, 0.125);
}

TEST(Shape, ValuesOfFullModes) {
  const Shape shape = read_changed_shape(
      R"({"modes": {"type": "full", "relative_omega": 2, "strain": "gradient"},
          "materials": {"youngs_modulus": {"value": 5, "unit": "Pa"}, "poisson_ratio": 0.25}})");
  EXPECT_EQ(shape.type, ModeType::full);
  EXPECT_EQ(shape.relative_omega, 2);
  EXPECT_EQ(shape.strain, solvers::fracture_modes::StrainEnergy::gradient);
  EXPECT_EQ(shape.materials.at(0).youngs_modulus, 5);
  EXPECT_EQ(shape.materials.at(0).poisson_ratio, 0.25);
}

TEST(ShapeBody, LaterMaterialsHoldOverEarlierOnes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Shape shape = read_changed_shape(
      R"({"geometry": [{"name": "bar", "generator": {"type": "box", "size": [2, 1, 1], "divisions": [4, 2, 2]},
                        "volume_selection": [{"id": 1, "axis": "x", "position": 0}]}],
          "materials": [{"density": 2}, {"id": 1, "density": 3, "cleavage": [1, 2, 2]}]})");
  const ShapeBody body = load_body(comm, shape);
  const auto mesh = mesh::distribute<3>(comm, body.mesh);
  const auto material = material_of<3>(shape, mesh);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const bool right = mesh.cell_volume_id[cell] == 1;
    EXPECT_EQ(material.density(cell), right ? 3 : 2);
    EXPECT_EQ(material.toughness(cell), 1);
    EXPECT_FALSE(material.unbreakable(cell));
    EXPECT_EQ(material.fault_factor(cell, Eigen::Vector3d::UnitX()), 1);
    EXPECT_EQ(material.fault_factor(cell, Eigen::Vector3d::UnitY()), right ? 2 : 1);
  }
}

TEST(ShapeBody, CageOfATransformedSurface) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  const auto file = folder.write(
      "shape.json", changed_shape(R"({"geometry": [{"mesh": "cube.obj", "cage": {"elements": 500},
                        "transformation": {"scale": [2, 1, 1], "translation": [5, 0, 0]},
                        "volume_selection": [{"id": 3, "axis": "x", "position": 6}]}],
                        "materials": {"id": 3, "unbreakable": true}})"));
  const ShapeBody body = load_body(comm, load_shape(comm, file).shape);
  EXPECT_EQ(body.dim, 3);
  if (comm.rank() != 0) return;
  EXPECT_EQ(body.surface.mesh.facets.size(), 12u);
  EXPECT_EQ(body.surface.mesh.vertices[6], Eigen::Vector3d(7, 1, 1));
  EXPECT_NEAR(double(body.mesh.cells.size()), 500, 150);
  EXPECT_EQ(body.notes.size(), 1u) << "the surface is sound";
}

TEST(ShapeBody, CageOfAnOutline) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  const auto file = folder.write("shape.json", changed_shape(R"({"geometry": [{"mesh": "square.obj",
                                      "cage": {"elements": 200}}]})"));
  const ShapeBody body = load_body(comm, load_shape(comm, file).shape);
  EXPECT_EQ(body.dim, 2);
  if (comm.rank() != 0) return;
  EXPECT_EQ(body.outline.facets.size(), 4u);
  EXPECT_NEAR(double(body.mesh.cells.size()), 200, 60);
}

} // namespace
} // namespace recoil::app
