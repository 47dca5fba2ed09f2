#include <fstream>

#include "objectives/surfaces.hpp"
#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::objectives {
namespace {

/// Points of a face, at all barycentric coordinates of a fine lattice.
template <int dim, class Act>
void for_each_point(const std::array<Eigen::Matrix<double, dim, 1>, dim>& face, Act act) {
  constexpr int n = dim == 2 ? 2000 : 60;
  for (int i = 0; i <= n; ++i) {
    const double a = static_cast<double>(i) / n;
    if constexpr (dim == 2)
      act(a * face[0] + (1 - a) * face[1]);
    else
      for (int j = 0; j <= n - i; ++j) {
        const double b = static_cast<double>(j) / n;
        act(a * face[0] + b * face[1] + (1 - a - b) * face[2]);
      }
  }
}

template <int dim>
void check_closest_point() {
  using Point = Eigen::Matrix<double, dim, 1>;
  for (const int count : {1, 2, 3, 40}) {
    const auto faces = rough_faces<dim>(count);
    const Polygon<dim> polygon(faces);
    for (int number = 0; number < 60; ++number) {
      Point x;
      for (int i = 0; i < dim; ++i) x[i] = 2 * direction(number, i);
      double least = std::numeric_limits<double>::infinity();
      for (const auto& face : faces)
        for_each_point<dim>(face, [&](const Point& c) { least = std::min(least, (x - c).norm()); });
      const auto sample = polygon.at(x);
      EXPECT_LE(sample.value.norm(), least + 1e-12);
      EXPECT_GT(sample.value.norm(), least - (dim == 2 ? 1e-3 : 0.05)) << "not on a face";
      // The derivative of |x - c|^2 is 2 (x - c).
      EXPECT_LT((sample.gradient.transpose() * sample.value - sample.value).norm(), 1e-12);
      const double h = 1e-6;
      for (int i = 0; i < dim; ++i) {
        const Point change =
            polygon.at(x + h * Point::Unit(i)).value - polygon.at(x - h * Point::Unit(i)).value;
        EXPECT_LT((change / (2 * h) - sample.gradient.col(i)).norm(), 1e-7) << number;
      }
    }
  }
}
TEST(PolygonTarget, FindsTheClosestPoint2D) { check_closest_point<2>(); }
TEST(PolygonTarget, FindsTheClosestPoint3D) { check_closest_point<3>(); }

/// The plane y = 0.6, far enough to either side.
template <int dim>
PolygonFaces<dim> plane() {
  if constexpr (dim == 2)
    return {{{Eigen::Vector2d(-9, 0.6), Eigen::Vector2d(9, 0.6)}}};
  else
    return {{{Eigen::Vector3d(-9, 0.6, -9), Eigen::Vector3d(9, 0.6, -9), Eigen::Vector3d(9, 0.6, 9)}},
            {{Eigen::Vector3d(-9, 0.6, -9), Eigen::Vector3d(9, 0.6, 9), Eigen::Vector3d(-9, 0.6, 9)}}};
}

template <int dim>
void check_value_of_polygon() {
  using Point = Eigen::Matrix<double, dim, 1>;
  Scene<dim> scene(MPI_COMM_WORLD);
  // y is sheared along x.
  Eigen::Matrix<double, dim, dim> B = Eigen::Matrix<double, dim, dim>::Zero();
  B(1, 0) = 0.4;
  scene.u = scene.linear_field(0.1 * Point::Ones(), B);
  const auto polygon = std::make_shared<const Polygon<dim>>(plane<dim>());
  for (const int body : {0, 1}) {
    const auto target = make_polygon_target<dim>(scene.region({body}), polygon, {false, {3}});
    // int (0.1 + 0.4 X + Y - 0.6)^2 over the side +x of a unit box.
    const double mean = 0.1 + 0.4 * (1.5 * body + 0.5) - 0.6;
    EXPECT_NEAR(target->value(scene.state()), mean * mean + 1 / 12.0, 1e-13);
  }
  EXPECT_THROW(make_polygon_target<dim>(scene.region(), polygon, {false, {99}}), InputError);
}
TEST(PolygonTarget, OfAPlane2D) { check_value_of_polygon<2>(); }
TEST(PolygonTarget, OfAPlane3D) { check_value_of_polygon<3>(); }

class PolygonFile : public ::testing::Test {
protected:
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    if (comm_.rank() == 0) std::ofstream(folder_ / name) << content;
    comm_.barrier();
    return folder_ / name;
  }
  template <int dim>
  std::string message(const std::string& name, const std::string& content) const {
    const auto path = write(name, content);
    try {
      static_cast<void>(read_polygon<dim>(comm_, path));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  parallel::Communicator comm_{MPI_COMM_WORLD};
  testing::TemporaryFolder folder_{comm_};
};

TEST_F(PolygonFile, OfVerticesInOrder) {
  const auto open = read_polygon<2>(comm_, write("open.csv", "y [mm],x [mm]\n0,0\n0,1000\n1000,1000\n"));
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[1][0], Eigen::Vector2d(1, 0));
  EXPECT_EQ(open[1][1], Eigen::Vector2d(1, 1));
  EXPECT_EQ(Polygon<2>(open).at({0, 0.4}).value.norm(), 0.4);
  const auto closed = read_polygon<2>(comm_, write("closed.csv", "x,y\n0,0\n1,0\n1,1\n0,0\n"));
  ASSERT_EQ(closed.size(), 3U);
  EXPECT_NEAR(Polygon<2>(closed).at({0, 0.4}).value.norm(), 0.4 * std::sqrt(0.5), 1e-15);
}

TEST_F(PolygonFile, OfTriangles) {
  const std::string facet =
      "facet normal 0 0 1\nouter loop\nvertex 0 0 2\nvertex 1 0 2\nvertex 0 1 2\nendloop\nendfacet\n";
  for (const auto& path : {write("a.obj", "v 0 0 2\nv 1 0 2\nv 0 1 2\nf 1 2 3\n"),
                           write("a.stl", "solid a\n" + facet + "endsolid a\n")}) {
    const auto triangles = read_polygon<3>(comm_, path);
    ASSERT_EQ(triangles.size(), 1U);
    EXPECT_EQ(triangles[0][2], Eigen::Vector3d(0, 1, 2));
  }
}

TEST_F(PolygonFile, IsRefusedWhereItIsNone) {
  using ::testing::HasSubstr;
  EXPECT_THAT(message<2>("one.csv", "x,y\n0,0\n"), HasSubstr("at least two vertices"));
  EXPECT_THAT(message<2>("twice.csv", "x,y\n0,0\n1,0\n1,0\n"),
              HasSubstr("twice.csv:4: the vertex is the one"));
  EXPECT_THAT(message<2>("gap.csv", "x,y\n0,0\n1,\n"), HasSubstr("gap.csv:3"));
  EXPECT_THAT(message<2>("z.csv", "x,y,z\n0,0,0\n1,0,0\n"), HasSubstr("z.csv:1"));
  EXPECT_THAT(message<3>("lines.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n"), HasSubstr("there are no triangles"));
  EXPECT_THAT(message<3>("goal.csv", "x,y,z\n0,0,0\n"), HasSubstr("known are .msh"));
}

} // namespace
} // namespace recoil::objectives
