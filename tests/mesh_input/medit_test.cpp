#include "mesh_input/support.hpp"

namespace recoil::mesh {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tet = std::array<std::int32_t, 4>;

const std::string ascii = R"(MeshVersionFormatted 2
# a comment
Dimension 3
Vertices
5
0 0 0 0
1 0 0 0
0 1 0 0
0 0 1 0
1 1 1.5 0
Corners 2
1 2
RequiredVertices
1
1
Triangles 1
1 2 3 8
Tetrahedra
2
1 2 3 4 15
2 3 4 5 16
End
)";

void expect_two_tetrahedra(const RawMesh& mesh) {
  EXPECT_THAT(mesh.tetrahedra, ElementsAre(Tet{0, 1, 2, 3}, Tet{1, 2, 3, 4}));
  EXPECT_THAT(mesh.tetrahedron_tags, ElementsAre(15, 16));
  EXPECT_TRUE(mesh.triangles.empty());
  ASSERT_EQ(mesh.vertices.size(), 5u);
  EXPECT_EQ(mesh.vertices[4], Eigen::Vector3d(1, 1, 1.5));
}

TEST(Medit, Ascii) { expect_two_tetrahedra(read_text("a.mesh", ascii)); }

TEST(Medit, AsciiInThePlane) {
  const auto mesh =
      read_text("a.mesh", "MeshVersionFormatted 1\nDimension\n2\nVertices 3\n0 0 0\n1 0 0\n0 1 0\n"
                          "Edges 1\n1 2 5\nTriangles 1\n1 2 3 4\nEnd");
  EXPECT_EQ(mesh.triangles.size(), 1u);
  EXPECT_THAT(mesh.triangle_tags, ElementsAre(4));
  EXPECT_TRUE(mesh.edges.empty());
}

template <class Real, class Position, class Int>
std::string binary(int version, bool swapped) {
  Bytes b(swapped);
  std::string content;
  b.all(1, version);
  const auto begin = [&](int code, std::size_t bytes) {
    b.add(code).add(static_cast<Position>(b.content().size() + sizeof(Position) + bytes));
  };
  begin(3, 4);
  b.add(3);
  begin(4, sizeof(Int) + 5 * (3 * sizeof(Real) + sizeof(Int)));
  b.add(Int{5});
  const double points[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1.5}};
  for (const auto& p : points)
    b.all(static_cast<Real>(p[0]), static_cast<Real>(p[1]), static_cast<Real>(p[2]), Int{0});
  begin(13, 2 * sizeof(Int));
  b.all(Int{1}, Int{1});
  begin(8, sizeof(Int) * 11);
  b.all(Int{2}, Int{1}, Int{2}, Int{3}, Int{4}, Int{15}, Int{2}, Int{3}, Int{4}, Int{5}, Int{16});
  b.add(54).add(Position{0});
  return b.content();
}

TEST(Medit, Binary) {
  expect_two_tetrahedra(read_text("a.meshb", binary<float, std::int32_t, std::int32_t>(1, false)));
  expect_two_tetrahedra(read_text("a.meshb", binary<double, std::int32_t, std::int32_t>(2, false)));
  expect_two_tetrahedra(read_text("a.meshb", binary<double, std::int64_t, std::int32_t>(3, true)));
  expect_two_tetrahedra(read_text("a.meshb", binary<double, std::int64_t, std::int64_t>(4, false)));
}

TEST(Medit, Errors) {
  const auto error = [](std::string from, const std::string& to) {
    auto text = ascii;
    return message_of([&] { read_text("a.mesh", text.replace(text.find(from), from.size(), to)); });
  };
  EXPECT_THAT(error("2 3 4 5 16", "2 3 4 6 16"),
              AllOf(HasSubstr("a.mesh:21"), HasSubstr("vertex 6 does not exist")));
  EXPECT_THAT(error("Dimension 3", "Dimension 4"),
              AllOf(HasSubstr("a.mesh:3"), HasSubstr("neither 2 nor 3")));
  EXPECT_THAT(error("MeshVersionFormatted 2", "Mesh 2"), HasSubstr("no MEDIT file"));
  EXPECT_THAT(error("Corners 2", "Hexahedra 2"), HasSubstr("Hexahedra"));
  EXPECT_THAT(error("5\n0", "50000\n0"), HasSubstr("50000 vertices"));
  EXPECT_THAT(error("5\n0", "4\n0"), HasSubstr("longer than announced"));
  EXPECT_THAT(message_of([] { read_text("a.meshb", "rubbish!"); }), HasSubstr("byte order mark"));
  auto back = binary<double, std::int32_t, std::int32_t>(2, false);
  back[12] = 4;
  EXPECT_THAT(message_of([&] { read_text("a.meshb", back); }), HasSubstr("before this one"));
}

} // namespace
} // namespace recoil::mesh
