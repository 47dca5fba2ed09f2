#include "app/study/shape_path.hpp"

#include <gtest/gtest.h>

#include "experiment.hpp"

namespace recoil::app {
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
    return find_obstruction(*experiment_.at(experiment_.start()).discrete, end.mesh);
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

} // namespace
} // namespace recoil::app
