#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pieces/shapes.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/cage/manifold.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/pieces/files.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace recoil;

/// The box as a file whose texture coordinates and colours are functions of the place.
std::string textured_box() {
  const auto box = shapes::box(1, 0.5, 0.25);
  std::string text;
  for (const auto& x : box.vertices) {
    text += "v " + std::to_string(x.x()) + ' ' + std::to_string(x.y()) + ' ' + std::to_string(x.z()) + ' ' +
            std::to_string(x.x()) + " 0 " + std::to_string(x.z()) + '\n';
  }
  for (const auto& x : box.vertices)
    text += "vt " + std::to_string(x.x() + x.z()) + ' ' + std::to_string(x.y() - 2 * x.z()) + '\n';
  for (const auto& facet : box.facets) {
    text += 'f';
    for (const auto v : facet) text += ' ' + std::to_string(v + 1) + '/' + std::to_string(v + 1);
    text += '\n';
  }
  return text;
}

TEST(PieceFiles, KeepShapeGroupsAndAttributes) {
  const recoil::testing::TemporaryFolder folder;
  write_file_atomically(folder / "box.obj", textured_box());
  const auto input = pieces::read_surface(folder / "box.obj");
  ASSERT_EQ(input.attributes.texture.size(), 12u);
  ASSERT_EQ(input.attributes.colors.size(), 8u);
  const auto solid = cage::make_solid<3>(input.mesh, {}, "box.obj");
  const auto cage = cage::make_cage(solid, {.cells = 500}, "box.obj");
  std::vector<std::int32_t> labels;
  for (const auto& cell : cage.mesh.cells) labels.push_back(cage.mesh.vertices[cell[0]].x() > 0.5 ? 7 : 2);
  const auto pieces = *pieces::cut_solid(
      solid, pieces::cut_along_envelope(cage.mesh, pieces::smooth_labels(cage.mesh, labels, 0)));
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_THAT(pieces::numbers_by_label(pieces), ::testing::ElementsAre(-1, -1, 0, -1, -1, -1, -1, 1));
  pieces::write_pieces(folder / "fractured_0", pieces, input, pieces::PieceFormat::obj);
  pieces::write_pieces(folder / "fractured_0", pieces, input, pieces::PieceFormat::ply);
  for (int n = 0; n < 2; ++n) {
    const auto name = "piece_" + std::to_string(n);
    const auto read = pieces::read_surface(folder.path() / "fractured_0" / (name + ".obj"));
    EXPECT_TRUE(cage::is_closed_manifold(read.mesh));
    EXPECT_NEAR(pieces::moments(read.mesh).volume, pieces::moments(pieces[n].mesh).volume, 1e-15);
    EXPECT_TRUE(read.mesh.vertices == pieces[n].mesh.vertices);
    ASSERT_EQ(read.attributes.texture.size(), read.mesh.facets.size());
    ASSERT_EQ(read.attributes.colors.size(), read.mesh.vertices.size());
    // the facets of the surface come first
    const auto outer = std::count(pieces[n].neighbours.begin(), pieces[n].neighbours.end(), -1);
    for (std::ptrdiff_t f = 0; f < outer; ++f)
      for (int k = 0; k < 3; ++k) {
        const auto v = read.mesh.facets[f][k];
        const auto& x = read.mesh.vertices[v];
        EXPECT_NEAR(read.attributes.texture[f][k].x(), x.x() + x.z(), 1e-8);
        EXPECT_NEAR(read.attributes.texture[f][k].y(), x.y() - 2 * x.z(), 1e-8);
        EXPECT_NEAR(read.attributes.colors[v][0], x.x(), 1e-5);
        EXPECT_NEAR(read.attributes.colors[v][2], x.z(), 1e-5);
      }
    EXPECT_THAT(read_file(folder.path() / "fractured_0" / (name + ".obj")),
                ::testing::HasSubstr("g fault_" + std::to_string(1 - n)));
    const auto ply = read_file(folder.path() / "fractured_0" / (name + ".ply"));
    const auto header = ply.find("end_header\n") + 11;
    EXPECT_EQ(ply.size() - header,
              pieces[n].mesh.vertices.size() * 27 + pieces[n].mesh.facets.size() * (1 + 12 + 8 + 1 + 24));
  }
}

TEST(PieceFiles, OfInputWithoutAttributes) {
  const recoil::testing::TemporaryFolder folder;
  write_file_atomically(folder / "a.obj", "v 0 0 0 1 1\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/9 3/1\n");
  const auto input = pieces::read_surface(folder / "a.obj");
  EXPECT_TRUE(input.attributes.texture.empty());
  EXPECT_TRUE(input.attributes.colors.empty());
  write_file_atomically(folder / "b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2 3 1\n");
  EXPECT_EQ(pieces::read_outline(folder / "b.obj").facets.size(), 3u);
  EXPECT_THROW(pieces::read_surface(folder / "b.obj"), InputError);
  EXPECT_THROW(pieces::read_outline(folder / "a.obj"), InputError);
  EXPECT_THROW(pieces::write_pieces(folder / "a.obj", std::vector<pieces::Piece<3>>{}, input,
                                    pieces::PieceFormat::obj),
               FileError);
}

} // namespace
