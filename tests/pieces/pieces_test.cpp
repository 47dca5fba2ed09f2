#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "pieces/shapes.hpp"
#include "recoil/base/error.hpp"
#include "recoil/cage/manifold.hpp"
#include "recoil/pieces/pieces.hpp"

namespace {

using namespace recoil;
using cage::Point;

double total(const cage::CellMesh<3>& mesh) {
  double sum = 0;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) sum += cage::volume(mesh, c);
  return sum;
}

/// Cells by the nearest of `count` random points, or by the signs of random planes.
template <int dim>
std::vector<std::int32_t> random_labels(const cage::CellMesh<dim>& mesh, int count, std::mt19937& random) {
  std::vector<Point<dim>> seeds;
  for (int k = 0; k < count; ++k) seeds.push_back(mesh.vertices[random() % mesh.vertices.size()]);
  const bool by_planes = random() % 2 == 0;
  std::vector<std::int32_t> labels;
  for (const auto& cell : mesh.cells) {
    Point<dim> centre = Point<dim>::Zero();
    for (const auto v : cell) centre += mesh.vertices[v] / (dim + 1);
    std::int32_t label = 0;
    if (by_planes) {
      for (int k = 0; 2 * k + 1 < count && k < 3; ++k)
        label |= ((centre - seeds[2 * k]).dot(seeds[2 * k + 1] - seeds[2 * k]) > 0) << k;
    } else {
      for (int k = 1; k < count; ++k)
        if ((centre - seeds[k]).squaredNorm() < (centre - seeds[label]).squaredNorm()) label = k;
    }
    labels.push_back(label);
  }
  return labels;
}

template <int dim>
void expect_sound(const std::vector<pieces::Piece<dim>>& pieces, double volume, double tolerance) {
  std::map<std::int64_t, Point<dim>> points;
  std::map<std::pair<std::int32_t, std::int32_t>, double> areas; // of faults, as seen from each side
  double sum = 0;
  for (const auto& piece : pieces) {
    ASSERT_TRUE(cage::is_closed_manifold(piece.mesh)) << "piece " << piece.label;
    ASSERT_EQ(piece.mesh.facets.size(), piece.parents.size());
    ASSERT_EQ(piece.mesh.vertices.size(), piece.ids.size());
    for (std::size_t f = 0; f < piece.parents.size(); ++f) {
      EXPECT_NE(piece.neighbours[f], piece.label);
      if (piece.neighbours[f] < 0) continue;
      Eigen::Matrix<double, dim, dim> corners;
      for (int k = 0; k < dim; ++k) corners.col(k) = piece.mesh.vertices[piece.mesh.facets[f][k]];
      const Point<dim> edge = corners.col(1) - corners.col(0);
      double area = edge.norm();
      if constexpr (dim == 3) area = edge.cross(Point<3>(corners.col(2) - corners.col(0))).norm();
      areas[{piece.label, piece.neighbours[f]}] += area;
    }
    for (std::size_t v = 0; v < piece.ids.size(); ++v) {
      const auto [entry, is_new] = points.try_emplace(piece.ids[v], piece.mesh.vertices[v]);
      if (!is_new && piece.ids[v] >= 0) {
        EXPECT_EQ(entry->second, piece.mesh.vertices[v]);
      }
    }
    sum += pieces::moments(piece.mesh).volume;
  }
  EXPECT_NEAR(sum, volume, tolerance * volume);
  for (const auto& [sides, area] : areas)
    EXPECT_NEAR(area, (areas[{sides.second, sides.first}]), 1e-12 * area);
}

TEST(Pieces, OfEveryShapeAreClosedAndAddUp) {
  std::mt19937 random(7);
  int cuts = 0;
  std::size_t count = 0;
  for (const auto& shape : shapes::all()) {
    SCOPED_TRACE(shape.name);
    const auto solid = cage::make_solid<3>(shape.surface, {.repair_cells = 4000}, shape.name);
    EXPECT_EQ(!solid.repair.empty(), shape.is_repaired) << solid.repair;
    ASSERT_TRUE(cage::is_closed_manifold(solid.surface));
    const auto cage = cage::make_cage(solid, {.cells = 1500}, shape.name);
    EXPECT_TRUE(cage::contains(cage.mesh, solid.surface));
    const double volume = pieces::moments(solid.surface).volume;
    for (int n = 0; n < 25; ++n, ++cuts) {
      const auto labels = random_labels(cage.mesh, 2 + static_cast<int>(random() % 12), random);
      const double length = n % 3 == 0 ? 0 : cage.edge * (n % 3);
      const auto cut =
          pieces::cut_along_envelope(cage.mesh, pieces::smooth_labels(cage.mesh, labels, length));
      expect_sound(pieces::pieces_of_cells(cut), total(cage.mesh), 1e-12);
      const auto pieces = pieces::cut_solid(solid, cut);
      ASSERT_TRUE(pieces.has_value()) << "cut " << n;
      expect_sound(*pieces, volume, 1e-9);
      count += pieces->size();
    }
  }
  EXPECT_GE(cuts, 500);
  EXPECT_GE(count, 4u * cuts);
}

/// Cubes of six tetrahedra each around the diagonal (Kuhn), with the corner (-1, -1, -1).
cage::CellMesh<3> kuhn_cubes(int n) {
  cage::CellMesh<3> mesh;
  const auto vertex = [n](int x, int y, int z) { return (z * (n + 1) + y) * (n + 1) + x; };
  for (int z = 0; z <= n; ++z)
    for (int y = 0; y <= n; ++y)
      for (int x = 0; x <= n; ++x) mesh.vertices.emplace_back(x - 1, y - 1, z - 1);
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        std::array<int, 3> axes{0, 1, 2};
        do {
          std::array<int, 3> at{x, y, z};
          auto& cell = mesh.cells.emplace_back();
          cell[0] = vertex(x, y, z);
          for (int k = 0; k < 3; ++k) {
            ++at[axes[k]];
            cell[k + 1] = vertex(at[0], at[1], at[2]);
          }
          if (cage::volume(mesh, mesh.cells.size() - 1) < 0) std::swap(cell[0], cell[1]);
        } while (std::next_permutation(axes.begin(), axes.end()));
      }
  return mesh;
}

TEST(Pieces, OfBodiesInThePlanesOfTheirCage) {
  const auto mesh = kuhn_cubes(6);
  const auto solid =
      cage::make_solid<3>(shapes::cubes(4, 4, 4, [](int x, int y, int z) { return x + y + z < 7; }), {}, "");
  const double volume = pieces::moments(solid.surface).volume;
  std::vector<std::int32_t> labels; // a fault through the middles of cells, parallel to the sides of the body
  for (const auto& cell : mesh.cells) {
    Point<3> centre = Point<3>::Zero();
    for (const auto v : cell) centre += mesh.vertices[v] / 4;
    labels.push_back(centre.x() > 2 ? 0 : centre.y() > 2 ? 1 : 2);
  }
  const auto cut = pieces::cut_along_envelope(mesh, pieces::smooth_labels(mesh, labels, 0));
  const auto pieces = pieces::cut_solid(solid, cut);
  ASSERT_TRUE(pieces.has_value());
  ASSERT_EQ(pieces->size(), 3u);
  expect_sound(*pieces, volume, 1e-9);
}

TEST(Pieces, AreRefusedWhereTheCageIsTooSmall) {
  const auto solid = cage::make_solid<3>(shapes::moved(shapes::box(9, 9, 2), {0.1, 0.2, 0.3}), {}, "");
  const auto mesh = kuhn_cubes(4);
  std::vector<std::int32_t> labels; // their fault ends inside of the body
  for (const auto& cell : mesh.cells) labels.push_back(mesh.vertices[cell[0]].x() > 1);
  const auto cut = pieces::cut_along_envelope(mesh, pieces::smooth_labels(mesh, labels, 0));
  EXPECT_FALSE(pieces::cut_solid(solid, cut).has_value());
  EXPECT_THROW(pieces::cut_body<3>(solid, cut, {.repair_cells = 2000}, "box"), InputError);
}

TEST(Smoothing, SharesSumToOneAndFaultsOfAPlaneAreThePlane) {
  const auto solid = cage::make_solid<3>(shapes::box(2, 1, 1), {}, "");
  const auto cage = cage::make_cage(solid, {.cells = 3000}, "");
  std::vector<std::int32_t> labels;
  for (const auto& cell : cage.mesh.cells) {
    double x = 0;
    for (const auto v : cell) x += cage.mesh.vertices[v].x() / 4;
    labels.push_back(x > 1 ? 4 : 1);
  }
  double rough = 0, smooth = 0; // areas of the fault
  for (auto* area : {&rough, &smooth}) {
    const auto shares = pieces::smooth_labels(cage.mesh, labels, area == &rough ? 0 : 2 * cage.edge);
    for (std::size_t v = 0; v < cage.mesh.vertices.size(); ++v) {
      double sum = 0;
      for (auto k = shares.offsets[v]; k < shares.offsets[v + 1]; ++k) sum += shares.shares[k];
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    const auto pieces = pieces::cut_solid(solid, pieces::cut_along_envelope(cage.mesh, shares));
    ASSERT_TRUE(pieces.has_value());
    ASSERT_EQ(pieces->size(), 2u);
    const auto& [mesh, neighbours] = std::tie((*pieces)[0].mesh, (*pieces)[0].neighbours);
    for (std::size_t f = 0; f < mesh.facets.size(); ++f)
      if (neighbours[f] == 4) {
        const auto& [a, b, c] = mesh.facets[f];
        *area +=
            0.5 * (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]).norm();
      }
  }
  EXPECT_GE(smooth, 1);
  EXPECT_LT(smooth, 1.03);
  EXPECT_LE(smooth, rough);
}

TEST(Moments, OfABoxAndOfARectangle) {
  const auto box = pieces::moments(shapes::moved(shapes::box(1, 2, 3), {5, 6, 7}));
  EXPECT_NEAR(box.volume, 6, 1e-13);
  EXPECT_TRUE(box.centre.isApprox(Point<3>(5.5, 7, 8.5), 1e-14));
  const Eigen::Matrix3d inertia = Point<3>(6 * 13 / 12.0, 6 * 10 / 12.0, 6 * 5 / 12.0).asDiagonal();
  EXPECT_TRUE(box.inertia().isApprox(inertia, 1e-12));
  const auto rectangle =
      pieces::moments<2>({{{1, 1}, {4, 1}, {4, 3}, {1, 3}}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}});
  EXPECT_NEAR(rectangle.volume, 6, 1e-13);
  EXPECT_TRUE(rectangle.centre.isApprox(Point<2>(2.5, 2), 1e-14));
  EXPECT_NEAR(rectangle.second.trace(), 6 * 13 / 12.0, 1e-12);
}

TEST(Pieces, InTwoDimensionsAreClosedAndAddUp) {
  std::mt19937 random(11);
  const auto circle = [](cage::FacetMesh<2>& to, double r, Point<2> centre, int n, bool inwards,
                         double wave) {
    const auto first = static_cast<std::int32_t>(to.vertices.size());
    for (int k = 0; k < n; ++k) {
      const double angle = 2 * M_PI * k / n, radius = r * (1 + wave * std::cos(5 * angle));
      to.vertices.emplace_back(centre.x() + radius * std::cos(angle), centre.y() + radius * std::sin(angle));
      const auto next = (k + 1) % n;
      to.facets.push_back({first + (inwards ? next : k), first + (inwards ? k : next)});
    }
  };
  std::vector<cage::FacetMesh<2>> outlines(5);
  circle(outlines[0], 1, {0, 0}, 50, false, 0.4);                                                  // a star
  circle(outlines[1], 1, {0, 0}, 80, false, 0), circle(outlines[1], 0.9, {0, 0}, 30, true, 0);     // a ring
  circle(outlines[2], 1, {0, 0}, 12, false, 0), circle(outlines[2], 0.5, {1.8, 0.1}, 9, false, 0); // two
  circle(outlines[3], 1, {0, 0}, 60, false, 0),
      circle(outlines[3], 1, {0.7, 0}, 60, false, 0); // that overlap
  outlines[4] = {{{0, 0}, {2, 0}, {2, 1}, {0, 1}}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
  for (const auto& outline : outlines) {
    const auto solid = cage::make_solid<2>(outline, {.repair_cells = 3000}, "outline");
    const auto cage = cage::make_cage(solid, {.cells = 600}, "outline");
    double area = 0;
    for (std::size_t c = 0; c < cage.mesh.cells.size(); ++c) area += cage::volume(cage.mesh, c);
    for (int n = 0; n < 20; ++n) {
      const auto labels = random_labels(cage.mesh, 2 + static_cast<int>(random() % 12), random);
      const auto cut = pieces::cut_along_envelope(
          cage.mesh, pieces::smooth_labels(cage.mesh, labels, cage.edge * (n % 3)));
      expect_sound(pieces::pieces_of_cells(cut), area, 1e-12);
      const auto pieces = pieces::cut_solid(solid, cut);
      ASSERT_TRUE(pieces.has_value());
      expect_sound(*pieces, pieces::moments(solid.surface).volume, 1e-9);
    }
  }
}

} // namespace
