#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pieces/shapes.hpp"
#include "recoil/base/error.hpp"
#include "recoil/cage/cage.hpp"
#include "recoil/cage/cut_cells.hpp"
#include "recoil/cage/manifold.hpp"

namespace {

using namespace recoil;
using cage::Point;

double volume_in(const cage::FacetMesh<3>& surface) {
  double sum = 0;
  for (const auto& [a, b, c] : surface.facets)
    sum += surface.vertices[a].dot(surface.vertices[b].cross(surface.vertices[c])) / 6;
  return sum;
}

template <int dim>
double total(const cage::CellMesh<dim>& mesh) {
  double sum = 0;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    EXPECT_GT(cage::volume(mesh, c), 0);
    sum += cage::volume(mesh, c);
  }
  return sum;
}

TEST(Winding, TreeAgreesWithTheSumOverFacets) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> in(-1.6, 1.6);
  for (const auto& surface : {shapes::sphere(4), shapes::with_holes(shapes::torus(1, 0.4, 60, 30), 3)}) {
    const cage::WindingTree<3> tree(surface);
    for (int n = 0; n < 300; ++n) {
      const Point<3> q(in(random), in(random), in(random));
      double exact = 0;
      for (const auto& f : surface.facets)
        exact +=
            cage::winding<3>({surface.vertices[f[0]], surface.vertices[f[1]], surface.vertices[f[2]]}, q);
      EXPECT_NEAR(tree.at(q), exact, 0.01);
    }
  }
}

TEST(Cage, ContainsEveryShapeWithAManifoldBoundary) {
  for (const auto& shape : shapes::all()) {
    const auto solid = cage::make_solid<3>(shape.surface, {.repair_cells = 3000}, shape.name);
    for (const int cells : {60, 1500}) {
      SCOPED_TRACE(shape.name + ", " + std::to_string(cells));
      const auto cage = cage::make_cage(solid, {.cells = cells}, shape.name);
      EXPECT_TRUE(cage::contains(cage.mesh, solid.surface));
      EXPECT_TRUE(cage::contains(cage.mesh, solid.input));
      EXPECT_GT(total(cage.mesh), volume_in(solid.surface));
      cage::FacetMesh<3> boundary{cage.mesh.vertices, {}};
      for (const auto& facet :
           cage::interfaces(cage.mesh, std::vector<std::int32_t>(cage.mesh.cells.size(), 0)))
        boundary.facets.push_back(facet.vertices);
      EXPECT_TRUE(cage::is_closed_manifold(boundary));
      EXPECT_NEAR(volume_in(boundary), total(cage.mesh), 1e-11 * total(cage.mesh));
      if (cells >= 1500) {
        EXPECT_NEAR(cage.mesh.cells.size(), cells, 0.25 * cells);
      }
    }
  }
}

TEST(Cage, DoesNotContainWhatPokesOut) {
  const auto solid = cage::make_solid<3>(shapes::box(1, 1, 1), {}, "box");
  const auto cage = cage::make_cage(solid, {.cells = 500}, "box");
  EXPECT_FALSE(cage::contains(cage.mesh, shapes::moved(shapes::box(1, 1, 1), {0.9, 0, 0})));
  EXPECT_FALSE(cage::contains(cage.mesh, shapes::box(1, 1, 3)));
}

TEST(Solid, IsRepairedToTheUnionOfWhatTheSurfaceEncloses) {
  const auto ball = shapes::sphere(4);
  // two unit balls at distance d: 2 - overlap of two caps
  const double d = 1, ideal = 4 * M_PI / 3, cap = M_PI * std::pow(1 - d / 2, 2) * (2 + d / 2) / 3;
  const auto solid = cage::make_solid<3>(shapes::joined(ball, shapes::moved(ball, {d, 0, 0})),
                                         {.repair_cells = 40000}, "balls");
  EXPECT_EQ(solid.repair, "intersects itself");
  EXPECT_TRUE(cage::is_closed_manifold(solid.surface));
  EXPECT_NEAR(volume_in(solid.surface), 2 * (ideal - cap), 0.03 * ideal);
  for (const auto parent : solid.parents)
    EXPECT_LT(parent, 2 * static_cast<std::int32_t>(ball.facets.size()));
}

TEST(Solid, OfATruerSurfaceIsTheInput) {
  const auto two = shapes::cubes(2, 2, 1, [](int x, int y, int) { return x == y; });
  const auto solid = cage::make_solid<3>(two, {}, "cubes");
  EXPECT_EQ(solid.repair, "");
  EXPECT_EQ(solid.surface.facets.size(), two.facets.size());
  EXPECT_EQ(solid.surface.vertices.size(), 16u);
  EXPECT_TRUE(cage::is_closed_manifold(solid.surface));
  const auto inverse = cage::make_solid<3>(shapes::turned(shapes::sphere(2)), {}, "ball");
  EXPECT_GT(volume_in(inverse.surface), 0);
}

TEST(Solid, RefusesWhatEnclosesNothing) {
  const auto message = [](const cage::FacetMesh<3>& surface) -> std::string {
    try {
      cage::make_solid<3>(surface, {.repair_cells = 500}, "bowl.obj");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}}),
              testing::AllOf(testing::HasSubstr("bowl.obj: "), testing::HasSubstr("encloses nothing"),
                             testing::HasSubstr("close it")));
  EXPECT_THAT(message({}), testing::HasSubstr("without triangles"));
  EXPECT_THAT(message({{{0, 0, 0}, {1, 0, NAN}, {0, 1, 0}}, {{0, 1, 2}}}),
              testing::HasSubstr("vertex 1 is not finite"));
  EXPECT_THAT(message({{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0, 1, 2}}}),
              testing::HasSubstr("without triangles"));
  const auto solid = cage::make_solid<3>(shapes::sphere(1), {}, "ball");
  EXPECT_THROW(cage::make_cage(solid, {.cells = 0}, "ball"), InputError);
  EXPECT_THROW(cage::make_cage(solid, {.cells = 1000, .largest_lattice = 100}, "ball"), InputError);
}

TEST(Outline, CageContainsItInTwoDimensions) {
  cage::FacetMesh<2> ring;
  const auto add_circle = [&](double r, int n, bool inwards) {
    const auto first = static_cast<std::int32_t>(ring.vertices.size());
    for (int k = 0; k < n; ++k) {
      ring.vertices.emplace_back(r * std::cos(2 * M_PI * k / n), r * std::sin(2 * M_PI * k / n));
      const auto next = (k + 1) % n;
      ring.facets.push_back({first + (inwards ? next : k), first + (inwards ? k : next)});
    }
  };
  add_circle(1, 60, false);
  add_circle(0.7, 40, true);
  const auto solid = cage::make_solid<2>(ring, {}, "ring");
  EXPECT_EQ(solid.repair, "");
  const auto cage = cage::make_cage(solid, {.cells = 2000}, "ring");
  EXPECT_TRUE(cage::contains(cage.mesh, ring));
  EXPECT_NEAR(cage.mesh.cells.size(), 2000, 200);
  EXPECT_LT(total(cage.mesh), M_PI);
  ring.facets.pop_back(); // a gap
  const auto repaired = cage::make_solid<2>(ring, {.repair_cells = 20000}, "ring");
  EXPECT_NE(repaired.repair, "");
  EXPECT_TRUE(cage::is_closed_manifold(repaired.surface));
  EXPECT_TRUE(cage::contains(cage::make_cage(repaired, {.cells = 500}, "ring").mesh, ring));
}

} // namespace
