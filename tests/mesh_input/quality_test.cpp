#include "mesh_input/support.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"

namespace recoil::mesh {
namespace {

TEST(Quality, ScaledJacobian) {
  const std::array<Eigen::Vector3d, 4> regular{Eigen::Vector3d(1, 1, 1), Eigen::Vector3d(-1, 1, -1),
                                               Eigen::Vector3d(1, -1, -1), Eigen::Vector3d(-1, -1, 1)};
  EXPECT_NEAR(scaled_jacobian(regular, 3), 1, 1e-15);
  EXPECT_NEAR(scaled_jacobian({regular[1], regular[0], regular[2], regular[3]}, 3), -1, 1e-15);
  const std::array<Eigen::Vector3d, 4> corner{Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, 0, 0),
                                              Eigen::Vector3d(0, 1, 0), Eigen::Vector3d(0, 0, 1)};
  // the worst corners are those with edges 1, sqrt 2, sqrt 2
  EXPECT_NEAR(scaled_jacobian(corner, 3), std::sqrt(2.0) / 2, 1e-15);
  EXPECT_NEAR(signed_volume(corner, 3), 1. / 6, 1e-16);
  EXPECT_NEAR(scaled_jacobian({corner[0], corner[1], {0.5, std::sqrt(0.75), 0}, {}}, 2), 1, 1e-15);
  EXPECT_NEAR(scaled_jacobian({corner[0], corner[1], corner[2], {}}, 2), std::sqrt(2.0 / 3), 1e-15);
  EXPECT_NEAR(signed_volume({corner[0], corner[2], corner[1], {}}, 2), -0.5, 1e-16);
  // inverted: the corner with the shortest edges is the worst one
  EXPECT_NEAR(scaled_jacobian({corner[0], corner[2], corner[1], {}}, 2), -2 / std::sqrt(3.0), 1e-15);
}

TEST(Quality, ReportPerBody) {
  std::vector<GeometrySpec> specs(2);
  for (auto& spec : specs) {
    spec.generator.emplace();
    spec.generator->size = {1, 1, 1};
    spec.generator->divisions = {2, 2, 2};
  }
  specs[0].name = "cube";
  specs[1].name = "slab";
  specs[1].transformation.scale = {1, 1, 0.01};
  specs[1].transformation.translation = {0, 0, 3};
  const auto report = body_quality(assemble_geometry(specs, 3).deformable);
  ASSERT_EQ(report.size(), 2u);
  EXPECT_EQ(report[0].name, "cube");
  EXPECT_EQ(report[0].cells, 48);
  EXPECT_NEAR(report[0].volume, 1, 1e-14);
  EXPECT_NEAR(report[0].min_scaled_jacobian, 1 / std::sqrt(3.0), 1e-14);
  EXPECT_NEAR(report[0].mean_scaled_jacobian, 1 / std::sqrt(3.0), 1e-14);
  EXPECT_NEAR(report[0].min_edge, 0.5, 1e-15);
  EXPECT_NEAR(report[0].max_edge, std::sqrt(0.75), 1e-15);
  EXPECT_NEAR(report[0].mean_edge, 0.5 * (3 + 2 * std::sqrt(2.0) + std::sqrt(3.0)) / 6, 1e-14);
  EXPECT_NEAR(report[1].volume, 0.01, 1e-15);
  EXPECT_LT(report[1].min_scaled_jacobian, 0.02);
  EXPECT_GE(report[1].worst_cell, 48);
  EXPECT_NEAR(report[1].box.min().z(), 2.995, 1e-15);
}

} // namespace
} // namespace recoil::mesh
