#include "recoil/app/study/remesh/shape_path.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "experiment.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::app::shape_path_test {
namespace {

using nlohmann::json;

/// Two unit squares, a gap of 0.5 between them; the left one has a shape of values (width, height, place).
template <int dim>
class ShapePath : public ::testing::Test {
protected:
  ShapePath() : experiment_(MPI_COMM_WORLD, scene(), study()) {}

  static json scene() {
    const json box{{"type", dim == 2 ? "rectangle" : "box"},
                   {"size", std::vector<double>(dim, 1.0)},
                   {"divisions", std::vector<int>(dim, 2)}};
    std::vector<double> place(dim, 0.0);
    place[0] = 1.5;
    return {{"geometry",
             {{{"name", "left"}, {"generator", box}},
              {{"name", "right"}, {"generator", box}, {"transformation", {{"translation", place}}}}}},
            {"materials", {{"type", "NeoHookean"}, {"E", 1e4}, {"nu", 0.3}, {"rho", 100}}},
            {"contact", {{"enabled", true}, {"dhat", 0.01}}},
            {"solver", {{"contact", {{"barrier_stiffness", 1e4}}}}},
            {"time", {{"dt", 0.01}, {"time_steps", 1}}}};
  }
  static json study() {
    return {{"parameters", {{"name", "shape"}, {"quantity", "shape"}, {"body", "left"}, {"basis", "affine"}}},
            {"objectives",
             {{"name", "smooth"}, {"type", "boundary_smoothing"}, {"p", 2}, {"experiment", "run"}}}};
  }

  /// What is in the way where the left square moves by `places` and widens by `wider` [m].
  std::string on_way_to(double places, double wider) const {
    ParameterValues values = experiment_.start();
    values[0][0] = wider;
    values[0][dim * dim] = places;
    DistributedGeometry<dim> end = experiment_.geometry();
    Scene scene = experiment_.scene();
    CellOverrides overrides;
    apply_parameters<dim>(experiment_.fields(), values, {scene, end, overrides});
    return follow_shape_path(*experiment_.at(experiment_.start()).discrete, end.mesh).obstruction;
  }

  StudiedExperiment<dim> experiment_;
};

template <class Dimension>
class PathOfAShape : public ShapePath<Dimension::value> {};
using Dimensions = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(PathOfAShape, Dimensions);

TYPED_TEST(PathOfAShape, IsFreeWhereNothingMeets) {
  EXPECT_EQ(this->on_way_to(0, 0), "");
  EXPECT_EQ(this->on_way_to(-3, 0.5), "");
  EXPECT_EQ(this->on_way_to(0.499, 0), "") << "closer than dhat";
}

TYPED_TEST(PathOfAShape, DoesNotLeadThroughAnotherBody) {
  EXPECT_EQ(this->on_way_to(4, 0), "surfaces meet") << "beyond it, where nothing touches";
  EXPECT_EQ(this->on_way_to(0, 1.1), "surfaces meet");
}

TYPED_TEST(PathOfAShape, DoesNotLeadThroughInvertedElements) {
  EXPECT_EQ(this->on_way_to(-3, -2), "an element inverts") << "at the end, too";
  EXPECT_EQ(this->on_way_to(-3, -0.9), "");
}

/// Squares (column, row) of a 3 x 3 grid without those at (1, 1) and (2, 1): a C, whose upper arm bends down
/// onto the lower one. No contact.
TEST(PathOfARestShape, DoesNotEndInItself) {
  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::int32_t, 4>> cells;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) vertices.emplace_back(i, j, 0);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) {
      if (j == 1 && i > 0) continue;
      const std::int32_t v = 4 * j + i;
      cells.push_back({v, v + 1, v + 5, -1});
      cells.push_back({v, v + 5, v + 4, -1});
    }
  const std::vector<std::int32_t> tags(cells.size(), 0);
  const StudiedExperiment<2> experiment(
      MPI_COMM_WORLD,
      {{"geometry", {{{"name", "c"}, {"mesh", "c.msh"}}}},
       {"materials", {{"type", "NeoHookean"}, {"E", 1}, {"nu", 0.3}}}},
      {{"parameters", {{"name", "shape"}, {"quantity", "shape"}, {"basis", "vertices"}}},
       {"objectives", {{"name", "smooth"}, {"type", "boundary_smoothing"}, {"p", 2}}}},
      {{"c.msh", mesh::gmsh_text(vertices, cells, tags)}});
  const auto bent = [&](double slope) {
    auto mesh = experiment.geometry().mesh;
    for (auto& X : mesh.vertices)
      if (X.y() > 1.5 && X.x() > 1) X.y() -= slope * (X.x() - 1);
    return follow_shape_path(*experiment.at(experiment.start()).discrete, mesh);
  };
  EXPECT_EQ(bent(0.49).obstruction, "");
  EXPECT_EQ(bent(0.49).rest_intersections, 0);
  EXPECT_EQ(bent(0.51).obstruction, "rest surfaces intersect");
  EXPECT_GT(bent(0.51).rest_intersections, 0);
}

} // namespace
} // namespace recoil::app::shape_path_test
