#include "recoil/mesh/input/remesh.hpp"

#include <algorithm>
#include <map>

#include "mesh_input/support.hpp"

namespace recoil::mesh {
namespace {

bool has_gmsh() { return std::system("gmsh --version > /dev/null 2>&1") == 0; }

/// A square or cube with a hole, of two tags; a quarter of the vertices inside badly placed.
BodyMesh holed(int dim) {
  Generator generator;
  generator.shape = dim == 2 ? GeneratorShape::rectangle : GeneratorShape::box;
  generator.size.assign(dim, 1.0);
  generator.divisions.assign(dim, 7);
  BodyMesh body = body_mesh(generate(generator, "test"), "test");
  orient(body, "test");
  BodyMesh result;
  result.dim = dim;
  result.vertices = body.vertices;
  for (const auto& cell : body.cells) {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    for (int i = 0; i <= dim; ++i) centre += body.vertices[cell[i]] / (dim + 1);
    if (centre.head(dim).cwiseAbs().maxCoeff() < 0.5 / 7) continue; // the hole
    result.cells.push_back(cell);
    result.tags.push_back(centre.x() < -0.5 / 7 ? 3 : 8);
    result.cell_source.push_back(0);
  }
  return result;
}

double measure(const BodyMesh& body, std::int32_t tag) {
  double sum = 0;
  for (std::size_t cell = 0; cell < body.cells.size(); ++cell) {
    std::array<Eigen::Vector3d, 4> corners;
    for (int i = 0; i <= body.dim; ++i) corners[i] = body.vertices[body.cells[cell][i]];
    const double volume = signed_volume(corners, body.dim);
    EXPECT_GT(volume, 0);
    if (body.tags[cell] == tag) sum += volume;
  }
  return sum;
}

std::map<std::array<double, 6>, int> boundary_of(const BodyMesh& body) {
  std::map<std::array<double, 6>, int> facets;
  for (const BoundaryFacet& facet : find_boundary(body, "test").facets) {
    const auto vertices = facet_vertices(body, facet);
    Eigen::Vector3d centre = Eigen::Vector3d::Zero(), squares = centre;
    for (int i = 0; i < body.dim; ++i) {
      centre += body.vertices[vertices[i]];
      squares += body.vertices[vertices[i]].cwiseAbs2();
    }
    // Rounded: sums in another order.
    std::array<double, 6> key;
    for (int i = 0; i < 3; ++i) {
      key[i] = std::round(1e9 * centre[i]);
      key[3 + i] = std::round(1e9 * squares[i]);
    }
    ++facets[key];
  }
  return facets;
}

class Remesh : public ::testing::TestWithParam<int> {};

TEST_P(Remesh, KeepsBoundaryHolesAndInterfaces) {
  if (!has_gmsh()) GTEST_SKIP() << "Gmsh is not installed";
  const BodyMesh old = holed(GetParam());
  const testing::TemporaryFolder folder;
  const RemeshedBody made = remesh_interior(old, {"gmsh"}, folder.path(), "test");
  EXPECT_EQ(boundary_of(made.mesh), boundary_of(old));
  for (const std::int32_t tag : {3, 8}) EXPECT_NEAR(measure(made.mesh, tag), measure(old, tag), 1e-12);
  EXPECT_TRUE(std::ranges::is_sorted(made.kept));
  for (std::size_t i = 0; i < made.kept.size(); ++i)
    EXPECT_EQ(made.mesh.vertices[i], old.vertices[made.kept[i]]);
  EXPECT_GT(made.mesh.vertices.size(), made.kept.size());
  const RemeshedBody again = remesh_interior(old, {"gmsh"}, folder.path(), "test");
  EXPECT_EQ(again.mesh.cells, made.mesh.cells);
  EXPECT_EQ(again.mesh.vertices, made.mesh.vertices);
}

TEST_P(Remesh, SaysWhatFails) {
  const BodyMesh old = holed(GetParam());
  const testing::TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { remesh_interior(old, {"no-such-gmsh"}, folder.path(), "test"); }),
              ::testing::HasSubstr("'no-such-gmsh' cannot be run: No such file"));
  const auto message = [&](const char* program) {
    try {
      remesh_interior(old, {program}, folder.path(), "test");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::no_solution);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("false"), ::testing::HasSubstr("body 'test': 'false' ends with status 1;"));
  EXPECT_THAT(message("true"), ::testing::HasSubstr("'true' ends with status 0 and leaves no mesh"));
}

INSTANTIATE_TEST_SUITE_P(In, Remesh, ::testing::Values(2, 3));

} // namespace
} // namespace recoil::mesh
