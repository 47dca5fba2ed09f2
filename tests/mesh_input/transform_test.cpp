#include "mesh_input/support.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {
namespace {

using Eigen::Vector3d;
using ::testing::AllOf;
using ::testing::HasSubstr;

Vector3d rotated(const std::string& mode, std::vector<double> rotation, const Vector3d& p, int dim = 3) {
  Transformation t;
  t.rotation_mode = mode;
  t.rotation = std::move(rotation);
  return rotation_matrix(t, dim, "/here") * p;
}

void expect_near(const Vector3d& a, const Vector3d& b) { EXPECT_LT((a - b).norm(), 1e-14) << a.transpose(); }

TEST(Rotation, LettersAreFixedAxesInTheOrderWritten) {
  // xyz: first about x (y to z), then about y, then about z
  expect_near(rotated("xyz", {90, 90, 0}, Vector3d::UnitY()), Vector3d::UnitX());
  // zyx: the y rotation leaves y alone, then x takes y to z
  expect_near(rotated("zyx", {90, 90, 0}, Vector3d::UnitY()), Vector3d::UnitZ());
  expect_near(rotated("XYZ", {0, 0, 90}, Vector3d::UnitX()), Vector3d::UnitY());
  expect_near(rotated("xyz", {0, 90, 0}, Vector3d::UnitZ()), Vector3d::UnitX());
}

TEST(Rotation, AnglesAreLookedUpByLetter) {
  expect_near(rotated("z", {10, 20, 90}, Vector3d::UnitX()), Vector3d::UnitY());
  expect_near(rotated("z", {90}, Vector3d::UnitX()), Vector3d::UnitY());
  expect_near(rotated("zz", {0, 0, 45}, Vector3d::UnitX()), Vector3d::UnitY());
}

TEST(Rotation, OtherModes) {
  expect_near(rotated("axis_angle", {120, 5, 5, 5}, Vector3d::UnitX()), Vector3d::UnitY());
  expect_near(rotated("Rotation_Vector", {0, 0, 90}, Vector3d::UnitX()), Vector3d::UnitY());
  expect_near(rotated("rotation_vector", {0, 0, 0}, Vector3d::UnitX()), Vector3d::UnitX());
  // scalar last: a quarter turn about z
  expect_near(rotated("quaternion", {0, 0, 3, 3}, Vector3d::UnitX()), Vector3d::UnitY());
  expect_near(rotated("quaternion", {}, Vector3d::UnitX()), Vector3d::UnitX());
}

TEST(Rotation, InThePlane) {
  expect_near(rotated("xyz", {90}, Vector3d::UnitX(), 2), Vector3d::UnitY());
  EXPECT_THAT(message_of([] { rotated("xyz", {0, 0, 90}, Vector3d::UnitX(), 2); }), HasSubstr("one angle"));
}

TEST(Rotation, Errors) {
  const auto error = [](const std::string& mode, std::vector<double> rotation) {
    return message_of([&] { rotated(mode, rotation, Vector3d::UnitX()); });
  };
  EXPECT_THAT(error("euler", {1, 2, 3}), HasSubstr("'euler' is unknown"));
  EXPECT_THAT(error("xyz", {90}), HasSubstr("one letter"));
  EXPECT_THAT(error("axis_angle", {1, 2, 3}), HasSubstr("needs 4"));
  EXPECT_THAT(error("axis_angle", {1, 0, 0, 0}), HasSubstr("length zero"));
  EXPECT_THAT(error("quaternion", {0, 0, 0, 0}), HasSubstr("[0, 0, 0, 1]"));
  EXPECT_THAT(error("quaternion", {0, 0, 0, 0}), HasSubstr("/here"));
}

TEST(AffineMap, ScalesThenRotatesThenTranslates) {
  Transformation t;
  t.scale = {2, 3, 4};
  t.rotation = {0, 0, 90};
  t.translation = {10, 20, 30};
  std::vector<Vector3d> p{{1, 1, 1}};
  transform_vertices(affine_map(t, bounding_box(p), 3, ""), p);
  expect_near(p[0], {7, 22, 34});
}

TEST(AffineMap, DimensionsReplaceScale) {
  Transformation t;
  t.scale = {100, 100, 100};
  t.dimensions = {5, 7, 5};
  // z has no extent, which counts as 1
  std::vector<Vector3d> p{{1, 1, 3}, {3, 5, 3}};
  transform_vertices(affine_map(t, bounding_box(p), 3, ""), p);
  expect_near(p[1] - p[0], {5, 7, 0});
  expect_near(p[0], {2.5, 1.75, 15});
}

TEST(AffineMap, ThePlaneKeepsItsZ) {
  Transformation t;
  t.scale = {2, 2, 0};
  t.translation = {1, 1, 9};
  std::vector<Vector3d> p{{1, 1, 0}};
  transform_vertices(affine_map(t, bounding_box(p), 2, ""), p);
  expect_near(p[0], {3, 3, 0});
}

TEST(Normalize, FillsTheUnitCubeKeepingProportions) {
  std::vector<Vector3d> p{{-1, 2, 3}, {3, 4, 3}};
  normalize(p, "");
  expect_near(p[0], {0, 0, 0});
  expect_near(p[1], {1, 0.5, 0});
  std::vector<Vector3d> same(3, Vector3d::Ones());
  EXPECT_THAT(message_of([&] { normalize(same, "/here"); }), HasSubstr("/here"));
}

TEST(CopyOffsets, FirstIndexOutermost) {
  const Eigen::AlignedBox3d box(Vector3d(0, 0, 0), Vector3d(1, 2, 4));
  const auto offsets = copy_offsets({{2, 1, 2}, 1.5, false}, box, 3, "");
  ASSERT_EQ(offsets.size(), 4u);
  expect_near(offsets[1], {0, 0, 1.5});
  expect_near(offsets[2], {1.5, 0, 0});
  expect_near(copy_offsets({{2, 2}, 1.5, true}, box, 2, "")[3], {1.5, 3, 0});
  EXPECT_THAT(message_of([&] {
                copy_offsets({{2, 0, 1}, 1, false}, box, 3, "/a");
              }),
              HasSubstr("at least 1"));
  EXPECT_THAT(message_of([&] { copy_offsets({{2}, 1, false}, box, 3, "/a"); }), HasSubstr("one per axis"));
  EXPECT_THAT(message_of([&] { copy_offsets({{2, 2, 2}, 1, false}, box, 2, "/a"); }), HasSubstr("along z"));
  EXPECT_THAT(
      message_of([&] {
        copy_offsets({{30000, 1, 30000}, 1, false}, box, 3, "/a", 6, 8);
      }),
      AllOf(
          HasSubstr("/a: an array of sizes [30000, 1, 30000] makes about 5.4e+09 cells and 7.2e+09 vertices"),
          HasSubstr("of memory"), HasSubstr("take fewer copies")));
}

} // namespace
} // namespace recoil::mesh
