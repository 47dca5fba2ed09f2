#include "mesh_input/support.hpp"

namespace recoil::mesh {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Triangle = std::array<std::int32_t, 3>;
using Edge = std::array<std::int32_t, 2>;

TEST(Obj, FacesPolylinesAndFreeVertices) {
  const auto mesh = read_text("a.obj", R"(# comment
mtllib x.mtl
o thing
v 0 0 0
v 1 0 0 1.0
v 0 1 0 0.5 0.5 0.5
vt 0 0
vn 0 0 1
s off
f 1/1/1 2//1 3/1
f -1 -2 -3
v 5 5
v 6 6 0
v 7 7 0
l 4 5 -1
v 9 9 9
)");
  ASSERT_EQ(mesh.vertices.size(), 7u);
  EXPECT_EQ(mesh.vertices[3], Eigen::Vector3d(5, 5, 0));
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{2, 1, 0}));
  EXPECT_THAT(mesh.edges, ElementsAre(Edge{3, 4}, Edge{4, 5}));
  EXPECT_THAT(mesh.points, ElementsAre(6));
  EXPECT_THAT(mesh.triangle_tags, ElementsAre(0, 0));
}

TEST(Obj, FacesMayPrecedeTheirVertices) {
  EXPECT_EQ(read_text("a.obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0").triangles.size(), 1u);
}

TEST(Obj, Errors) {
  const std::string three = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n";
  const auto error = [&](const std::string& line) {
    return message_of([&] { read_text("a.obj", three + line); });
  };
  EXPECT_THAT(error("f 1 2 4 3\n"),
              AllOf(HasSubstr("a.obj:5"), HasSubstr("4 corners"), HasSubstr("triangulate")));
  EXPECT_THAT(error("f 1 2\n"), HasSubstr("2 corners"));
  EXPECT_THAT(error("f 1 2 9\n# end\n"), AllOf(HasSubstr("a.obj:5"), HasSubstr("vertex 9 does not exist")));
  EXPECT_THAT(error("f 1 2 -9\n"), HasSubstr("vertex -9 does not exist"));
  EXPECT_THAT(error("f 0 1 2\n"), HasSubstr("found '0'"));
  EXPECT_THAT(error("f 1 2 2\n"), HasSubstr("vertex 2 twice"));
  EXPECT_THAT(error("f 1 2 x\n"), HasSubstr("found 'x'"));
  EXPECT_THAT(error("l 1\n"), HasSubstr("at least two"));
  EXPECT_THAT(error("v 1\n"), HasSubstr("two or three coordinates"));
  EXPECT_THAT(error("v 1 z 1\n"), AllOf(HasSubstr("a.obj:5"), HasSubstr("'z'")));
  EXPECT_THAT(message_of([&] { read_text("a.obj", "# nothing\n"); }), HasSubstr("no vertices"));
}

const std::string ascii_stl = R"(solid a b c
facet normal 0 0 nan
 outer loop
  vertex 0 0 0
  vertex 1 0 0
  vertex 0 1 0
 endloop
endfacet
facet normal 0 0 1
 outer loop
  vertex 1 0 0
  vertex 1 1 0
  vertex -0 1 0
 endloop
endfacet
facet normal 0 0 1
 outer loop
  vertex 1 0 0
  vertex 1 0 0
  vertex 0 1 0
 endloop
endfacet
endsolid a b c
)";

void expect_square(const RawMesh& mesh) {
  EXPECT_EQ(mesh.vertices.size(), 4u) << "identical corners are one vertex";
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{1, 3, 2}))
      << "collapsed facets are left out";
  EXPECT_EQ(mesh.vertices[3], Eigen::Vector3d(1, 1, 0));
}

std::string binary_stl(const std::string& header) {
  Bytes b;
  b.text(header + std::string(80 - header.size(), ' ')).add(std::uint32_t{2});
  b.all(0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, std::uint16_t{0});
  b.all(0.f, 0.f, 1.f, 1.f, 0.f, 0.f, 1.f, 1.f, 0.f, -0.f, 1.f, 0.f, std::uint16_t{7});
  return b.content();
}

TEST(Stl, AsciiAndBinary) {
  expect_square(read_text("a.stl", ascii_stl));
  expect_square(read_text("a.STL", binary_stl("made by hand")));
  expect_square(read_text("a.stl", binary_stl("solid but binary")));
}

TEST(Stl, Errors) {
  const auto error = [](const std::string& text) { return message_of([&] { read_text("a.stl", text); }); };
  EXPECT_THAT(error(binary_stl("x").substr(0, 150)), AllOf(HasSubstr("184 bytes"), HasSubstr("cut short")));
  EXPECT_THAT(error(ascii_stl.substr(0, 60)), HasSubstr("a.stl:"));
  EXPECT_THAT(error("rubbish"), HasSubstr("neither ASCII STL"));
  EXPECT_THAT(error("solid\nendsolid\n"), HasSubstr("no facets"));
  auto infinite = binary_stl("x");
  const float value = std::numeric_limits<float>::infinity();
  std::memcpy(infinite.data() + 100, &value, sizeof value);
  EXPECT_THAT(error(infinite), HasSubstr("not finite"));
}

} // namespace
} // namespace recoil::mesh
