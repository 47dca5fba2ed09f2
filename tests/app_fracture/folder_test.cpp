#include <cmath>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "app_fracture/shape_text.hpp"
#include "recoil/app/fracture/fracture.hpp"
#include "recoil/app/fracture/modes_file.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {
namespace {

/// Runs the command on a shape in a folder, and reads what it has found.
ModesFile modes_of(const parallel::Communicator& comm, const ShapeFolder& folder, const std::string& patch) {
  FractureOptions options;
  options.shape = folder.write("shape.json", changed_shape(patch));
  options.output = folder / "modes";
  options.console.quiet = true;
  EXPECT_EQ(fracture(comm, options), ExitCode::done);
  return read_modes(options.output);
}

double volume_of(const ModesFile& modes, std::size_t cell) {
  Eigen::Matrix3d edges = Eigen::Matrix3d::Identity();
  for (int i = 0; i < modes.dim; ++i)
    edges.col(i) = modes.vertices[modes.cells[cell][i + 1]] - modes.vertices[modes.cells[cell][0]];
  return edges.determinant() / (modes.dim == 2 ? 2 : 6);
}

void expect_whole(const ModesFile& modes) {
  const auto& model = modes.model;
  ASSERT_EQ(modes.piece_of_cell.size(), modes.cells.size());
  std::vector<double> volumes(model.num_pieces, 0.0);
  for (std::size_t cell = 0; cell < modes.cells.size(); ++cell) {
    EXPECT_GT(volume_of(modes, cell), 0);
    volumes[modes.piece_of_cell[cell]] += volume_of(modes, cell);
  }
  for (int p = 0; p < model.num_pieces; ++p) EXPECT_NEAR(volumes[p], model.volumes[p], 1e-12);
  EXPECT_EQ(model.responses.size(), model.vertices.size() * model.num_pieces);
  EXPECT_EQ(model.num_modes, std::ssize(modes.energies));
  EXPECT_EQ(model.modes.size(), std::size_t(model.num_pieces) * (model.num_modes + 1));
}

TEST(FractureFolder, BarBreaksInTheMiddle) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  const ModesFile modes = modes_of(comm, folder, "{}");
  ASSERT_EQ(modes.energies.size(), 2u);
  EXPECT_NEAR(modes.energies[0], 2 / std::sqrt(2.0), 1e-10);
  EXPECT_EQ(modes.vertices.size(), 45u);
  EXPECT_FALSE(modes.has_surface());
  expect_whole(modes);
  solvers::fracture_modes::ImpactSolver solver(modes.model);
  solver.apply({{0, 0, 0, 0}, {1, 0, 0, 0}}, 1e6, 1);
  EXPECT_GT(solver.num_fragments(), 1);
}

TEST(FractureFolder, RectangleInThePlane) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  const ModesFile modes = modes_of(
      comm, folder,
      R"({"geometry": [{"generator": {"type": "rectangle", "size": [2, 1], "divisions": [8, 4]}}]})");
  EXPECT_EQ(modes.dim, 2);
  EXPECT_NEAR(modes.energies[0], 2 / std::sqrt(2.0), 1e-10);
  EXPECT_EQ(modes.cells[0][3], -1);
  expect_whole(modes);
}

TEST(FractureFolder, CageKeepsItsSurface) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  folder.write("painted.obj",
               "v 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 0 1 0 1 0 0\nv 0 0 1 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
               "f 1/1 3/2 2/3\nf 1/1 2/2 4/3\nf 2/1 3/2 4/3\nf 1/1 4/2 3/3\n");
  const ModesFile modes =
      modes_of(comm, folder, R"({"geometry": [{"mesh": "painted.obj", "cage": {"elements": 300}}]})");
  EXPECT_TRUE(modes.has_surface());
  ASSERT_EQ(modes.surface.mesh.facets.size(), 4u);
  EXPECT_EQ(modes.surface.mesh.vertices[3], Eigen::Vector3d(0, 0, 1));
  ASSERT_EQ(modes.surface.attributes.colors.size(), 4u);
  EXPECT_EQ(modes.surface.attributes.colors[3], Eigen::Vector3d(0, 0, 1));
  ASSERT_EQ(modes.surface.attributes.texture.size(), 4u);
  EXPECT_EQ(modes.surface.attributes.texture[0][1], Eigen::Vector2d(1, 0));
  EXPECT_GT(modes.smoothing_length, 0);
  expect_whole(modes);
}

TEST(FractureFolder, PaintedCellsStayTogether) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  const ModesFile modes =
      modes_of(comm, folder,
               R"({"geometry": [{"generator": {"type": "box", "size": [2, 1, 1], "divisions": [4, 2, 2]},
                        "volume_selection": [{"id": 1, "box": [[-0.6, -1, -1], [0.6, 1, 1]]}]}],
          "materials": {"id": 1, "unbreakable": true}})");
  int piece = -1;
  for (std::size_t cell = 0; cell < modes.cells.size(); ++cell) {
    if (modes.volume_ids[cell] != 1) continue;
    if (piece < 0) piece = modes.piece_of_cell[cell];
    EXPECT_EQ(modes.piece_of_cell[cell], piece);
  }
  EXPECT_GT(modes.energies[0], 2 / std::sqrt(2.0) + 0.1);
}

TEST(FractureFolder, VectorModesOpenWhereItIsCheap) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  const ModesFile modes =
      modes_of(comm, folder,
               R"({"geometry": [{"generator": {"type": "rectangle", "size": [2, 1], "divisions": [8, 4]}}],
          "modes": {"type": "vector", "count": 2}, "materials": {"jump_tensor": [10, 1]}})");
  ASSERT_EQ(modes.energies.size(), 2u);
  EXPECT_NEAR(modes.energies[0], 2 / std::sqrt(2.0), 1e-5) << "in the middle, along y";
  EXPECT_EQ(modes.model.num_pieces, 3);
  expect_whole(modes);
  const io::Hdf5Reader file(folder / "modes" / "modes.h5");
  const std::vector<double> motion = file.read_rows<double>("modes/u_1", 0, std::ssize(modes.cells));
  for (std::size_t cell = 0; cell < modes.cells.size(); ++cell) {
    EXPECT_NEAR(motion[3 * cell], 0, 1e-5);
    EXPECT_NEAR(std::abs(motion[3 * cell + 1]), 1 / std::sqrt(2.0), 1e-5);
    EXPECT_EQ(motion[3 * cell + 2], 0);
  }
}

/// A rectangle of 24 triangles breaks in two where omega is small and bends where it is large.
TEST(FractureFolder, FullModesBreakOrBend) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [omega, pieces] : {std::pair{0.01, 2}, std::pair{5.0, 1}}) {
    const ShapeFolder folder(comm);
    const ModesFile modes =
        modes_of(comm, folder,
                 R"({"geometry": [{"generator": {"type": "rectangle", "size": [2, 1], "divisions": [6, 2]}}],
            "modes": {"type": "full", "strain": "gradient", "count": 1, "relative_omega": )" +
                     std::to_string(omega) + "}}");
    ASSERT_EQ(modes.energies.size(), 1u);
    EXPECT_EQ(modes.model.num_pieces, pieces);
    expect_whole(modes);
    const io::Hdf5Reader file(folder / "modes" / "modes.h5");
    const std::vector<double> corners = file.read_rows<double>("modes/corners_1", 0, std::ssize(modes.cells)),
                              means = file.read_rows<double>("modes/u_1", 0, std::ssize(modes.cells));
    ASSERT_EQ(corners.size(), modes.cells.size() * 9);
    // Corners are in the order of the vertices of the file: where nothing jumps they agree.
    std::map<int, double> at_vertex;
    double jump = 0;
    for (std::size_t i = 0; i < modes.cells.size() * 3; ++i) {
      const auto [entry, is_new] = at_vertex.try_emplace(modes.cells[i / 3][i % 3], corners[3 * i]);
      jump = std::max(jump, std::abs(entry->second - corners[3 * i]));
    }
    const double strain = file.read_rows<double>("modes/strain_energies", 0, 1)[0];
    if (pieces == 1) {
      EXPECT_LT(jump, 1e-8);
      EXPECT_NEAR(strain, modes.energies[0], 1e-8 * strain);
    } else {
      EXPECT_GT(jump, 0.1);
      EXPECT_LT(strain, 0.01 * modes.energies[0]);
    }
    EXPECT_NEAR(means[0], (corners[0] + corners[3] + corners[6]) / 3, 1e-12);
  }
}

TEST(FractureFolder, WhatIsNoFinishedFolderIsRefused) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  EXPECT_THROW(read_modes(folder.path()), InputError);
  const ModesFile modes = modes_of(comm, folder, R"({"modes": {"count": 1}})");
  comm.barrier();
  const auto file = folder / "modes" / "modes.h5";
  if (comm.rank() == 0) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(5000);
    stream.put('x');
    stream.put('y');
  }
  comm.barrier();
  EXPECT_THROW(read_modes(folder / "modes"), FileError);
  EXPECT_FALSE(describe_fracture(comm, folder / "modes").sound);
}

} // namespace
} // namespace recoil::app
