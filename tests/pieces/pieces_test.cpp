#include <algorithm>
#include <cmath>
#include <map>
#include <random>

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
    }
  }
  EXPECT_GE(cuts, 500);
}

} // namespace
