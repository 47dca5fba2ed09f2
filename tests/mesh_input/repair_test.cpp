#include <cmath>

#include <gtest/gtest.h>

#include "mesh/input/repair.hpp"

namespace recoil::mesh {
namespace repair_test {

/// A cube around a centre, facing outwards, with corners of its own.
void add_cube(RawMesh& mesh, double size, double x) {
  const auto first = std::int32_t(mesh.vertices.size());
  for (int v = 0; v < 8; ++v)
    mesh.vertices.push_back(size * Eigen::Vector3d(v % 2 - 0.5, v / 2 % 2 - 0.5, v / 4 - 0.5) +
                            Eigen::Vector3d(x, 0, 0));
  constexpr std::array<std::array<std::int32_t, 3>, 12> triangles{{{0, 2, 1},
                                                                   {1, 2, 3},
                                                                   {4, 5, 6},
                                                                   {5, 7, 6},
                                                                   {0, 1, 4},
                                                                   {1, 5, 4},
                                                                   {2, 6, 3},
                                                                   {3, 6, 7},
                                                                   {0, 4, 2},
                                                                   {2, 4, 6},
                                                                   {1, 3, 5},
                                                                   {3, 7, 5}}};
  for (const auto& t : triangles) mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
}

double volume_of(const RawMesh& mesh) {
  double volume = 0;
  for (const auto& t : mesh.triangles)
    volume += mesh.vertices[t[0]].dot(mesh.vertices[t[1]].cross(mesh.vertices[t[2]])) / 6;
  return volume;
}

TEST(Repair, LeavesSoundSurfaces) {
  RawMesh mesh;
  add_cube(mesh, 1, 0);
  ASSERT_NEAR(volume_of(mesh), 1, 1e-14);
  EXPECT_EQ(describe(repair_surface(mesh, 1e-6)), "nothing to repair; the surface is closed");
  EXPECT_NEAR(volume_of(mesh), 1, 1e-14);
}

TEST(Repair, MergesRemovesAndTurns) {
  RawMesh mesh;
  add_cube(mesh, 1, 0);
  for (const std::size_t t : {0, 5, 6, 8, 9, 10, 11}) std::swap(mesh.triangles[t][0], mesh.triangles[t][1]);
  mesh.triangles.push_back(mesh.triangles[3]);
  mesh.vertices.push_back(mesh.vertices[7] + Eigen::Vector3d(1e-9, 0, -1e-9));
  for (auto& v : mesh.triangles[7]) v = v == 7 ? 8 : v;
  mesh.triangles.push_back({3, 7, 8});
  const Repair done = repair_surface(mesh, 1e-6);
  EXPECT_EQ(done.merged, 1u);
  EXPECT_EQ(done.flat, 1u);
  EXPECT_EQ(done.repeated, 1u);
  EXPECT_EQ(done.turned, 7u);
  EXPECT_EQ(done.open_edges + done.branches + done.one_sided, 0u);
  EXPECT_EQ(mesh.triangles.size(), 12u);
  EXPECT_EQ(mesh.triangle_tags.size(), 12u);
  EXPECT_NEAR(volume_of(mesh), 1, 1e-8);
}

/// A part in no other faces outwards; a cavity faces as most of it does.
TEST(Repair, KeepsCavities) {
  RawMesh mesh;
  add_cube(mesh, 1, 0);
  add_cube(mesh, 0.5, 0);
  add_cube(mesh, 1, 3);
  for (std::size_t t = 12; t < 36; ++t) std::swap(mesh.triangles[t][0], mesh.triangles[t][1]);
  std::swap(mesh.triangles[20][0], mesh.triangles[20][1]);
  EXPECT_EQ(repair_surface(mesh, 1e-9).turned, 13u);
  EXPECT_NEAR(volume_of(mesh), 1 - 0.125 + 1, 1e-12);
}

TEST(Repair, TellsWhatIsLeft) {
  RawMesh mesh;
  add_cube(mesh, 1, 0);
  mesh.triangles.pop_back();
  EXPECT_EQ(describe(repair_surface(mesh, 1e-6)), "nothing to repair; 3 edges are open");
  mesh.vertices.push_back({9, 9, 9});
  mesh.triangles.push_back({0, 1, 8});
  EXPECT_EQ(repair_surface(mesh, 1e-6).branches, 1u);
  // A strip of Moebius: five triangles around.
  RawMesh strip;
  for (int v = 0; v < 5; ++v)
    strip.vertices.emplace_back(std::cos(1.2566 * v), std::sin(1.2566 * v), 0.1 * v * v);
  for (std::int32_t v = 0; v < 5; ++v) strip.triangles.push_back({v, (v + 1) % 5, (v + 2) % 5});
  EXPECT_EQ(repair_surface(strip, 1e-6).one_sided, 1u);
}

} // namespace repair_test
} // namespace recoil::mesh
