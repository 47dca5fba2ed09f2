#include "mesh_input/support.hpp"

namespace recoil::mesh {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tet = std::array<std::int32_t, 4>;

const std::string header41 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";

void expect_two_tetrahedra(const RawMesh& mesh, const std::vector<std::int32_t>& tags) {
  ASSERT_EQ(mesh.vertices.size(), 5u);
  EXPECT_EQ(mesh.vertices[3], Eigen::Vector3d(0, 0, 1));
  EXPECT_EQ(mesh.vertices[4], Eigen::Vector3d(1, 1, 1.5));
  EXPECT_THAT(mesh.tetrahedra, ElementsAre(Tet{0, 1, 2, 3}, Tet{1, 2, 3, 4}));
  EXPECT_EQ(mesh.tetrahedron_tags, tags);
  EXPECT_TRUE(mesh.triangles.empty()) << "boundary groups are not part of the volume";
  EXPECT_TRUE(mesh.edges.empty());
  EXPECT_TRUE(mesh.points.empty());
}

TEST(Gmsh41, AsciiWithEntitiesGroupsAndSeveralBlocks) {
  // nodes in two blocks and out of order, one parametric; a boundary triangle, a line and a point besides the
  // volume
  const auto mesh = read_text("a.msh", header41 + R"($PhysicalNames
2
2 13 "top surface"
3 15 "volume"
$EndPhysicalNames
$Entities
1 1 1 2
1 0 0 0 1 99
7 0 0 0 1 0 0 0 2 1 -1
4 0 0 0 1 1 0 1 13 1 7
1 0 0 0 1 1 1 2 15 16 1 4
2 0 0 0 1 1 1 0 0
$EndEntities
$Nodes
3 5 1 5
2 4 1 2
3
1
0 1 0 0.25 0.75
0 0 0 0.5 0.5
3 1 0 2
2
5
1 0 0
1 1 1.5
3 2 0 1
4
0 0 1
$EndNodes
$Elements
5 5 1 5
0 1 15 1
1 1
1 7 1 1
2 1 2
2 4 2 1
3 1 2 3
3 1 4 1
4 1 2 3 4
3 2 4 1
5 2 3 4 5
$EndElements
)");
  expect_two_tetrahedra(mesh, {15, 0});
}

TEST(Gmsh41, AsciiWithoutEntities) {
  const auto mesh = read_text("a.msh", header41 + R"($Nodes
1 5 1 5
3 0 0 5
1
2
3
4
5
0 0 0
1 0 0
0 1 0
0 0 1
1 1 1.5
$EndNodes
$Elements
1 2 1 2
3 0 4 2
1 1 2 3 4
2 2 3 4 5
$EndElements
)");
  expect_two_tetrahedra(mesh, {0, 0});
}

/// The mesh of the ASCII tests as 4.1 binary.
template <class Size>
std::string binary41(bool swapped) {
  Bytes b(swapped);
  b.text("$MeshFormat\n4.1 1 " + std::to_string(sizeof(Size)) + "\n").add(1).text("\n$EndMeshFormat\n");
  b.text("$PhysicalNames\n1\n3 15 \"volume\"\n$EndPhysicalNames\n$Entities\n");
  b.all(Size{1}, Size{0}, Size{1}, Size{1});
  b.all(1, 0., 0., 0., Size{0});
  b.all(4, 0., 0., 0., 1., 1., 0., Size{1}, 13, Size{0});
  b.all(1, 0., 0., 0., 1., 1., 1., Size{2}, 15, 16, Size{1}, 4);
  b.text("\n$EndEntities\n$Nodes\n").all(Size{2}, Size{5}, Size{1}, Size{5});
  b.all(2, 4, 1, Size{2}, Size{3}, Size{1});
  b.all(0., 1., 0., 0.25, 0.75, 0., 0., 0., 0.5, 0.5);
  b.all(3, 1, 0, Size{3}, Size{2}, Size{5}, Size{4});
  b.all(1., 0., 0., 1., 1., 1.5, 0., 0., 1.);
  b.text("\n$EndNodes\n$Elements\n").all(Size{2}, Size{3}, Size{1}, Size{3});
  b.all(2, 4, 2, Size{1}, Size{1}, Size{1}, Size{2}, Size{3});
  b.all(3, 1, 4, Size{2}, Size{2}, Size{1}, Size{2}, Size{3}, Size{4}, Size{3}, Size{2}, Size{3}, Size{4},
        Size{5});
  b.text("\n$EndElements\n");
  return b.content();
}

TEST(Gmsh41, Binary) {
  expect_two_tetrahedra(read_text("a.msh", binary41<std::uint64_t>(false)), {15, 15});
  expect_two_tetrahedra(read_text("a.msh", binary41<std::uint64_t>(true)), {15, 15});
  expect_two_tetrahedra(read_text("a.msh", binary41<std::uint32_t>(false)), {15, 15});
}

const std::string ascii22 = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$Comments
anything $at all
$EndComments
$Nodes
5
1 0 0 0
2 1e0 +0 -0
4 0 0 1
3 0 1 0
5 1 1 1.5
$EndNodes
$Elements
4
1 15 2 9 1 1
2 2 2 9 1 1 2 3
3 4 3 15 7 1 1 2 3 4
4 4 0 2 3 4 5
$EndElements
)";

TEST(Gmsh22, Ascii) {
  expect_two_tetrahedra(read_text("a.msh", ascii22), {15, 0});
  std::string dos;
  for (const char c : ascii22) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_two_tetrahedra(read_text("a.MSH", dos), {15, 0});
}

std::string binary22(bool swapped) {
  Bytes b(swapped);
  b.text("$MeshFormat\n2.2 1 8\n").add(1).text("\n$EndMeshFormat\n$Nodes\n5\n");
  b.all(1, 0., 0., 0.).all(2, 1., 0., 0.).all(4, 0., 0., 1.).all(3, 0., 1., 0.).all(5, 1., 1., 1.5);
  b.text("\n$EndNodes\n$Elements\n3\n");
  b.all(2, 1, 2, 1, 9, 1, 1, 2, 3);
  b.all(4, 1, 2, 2, 15, 1, 1, 2, 3, 4).all(4, 1, 0, 3, 2, 3, 4, 5);
  b.text("\n$EndElements\n$NodeData\n").add(5).text("\n$EndNodeData\n");
  return b.content();
}

TEST(Gmsh22, Binary) {
  expect_two_tetrahedra(read_text("a.msh", binary22(false)), {15, 0});
  expect_two_tetrahedra(read_text("a.msh", binary22(true)), {15, 0});
}

TEST(Gmsh, TagsWithGapsNumberByAppearance) {
  for (const std::string far : {"77", "7000000000"}) {
    const auto mesh = read_text("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n" + far +
                                             " 0 0 0\n5 1 0 0\n9 0 1 0\n$EndNodes\n$Elements\n1\n1 2 0 5 9 " +
                                             far + "\n$EndElements\n");
    EXPECT_THAT(mesh.triangles, ElementsAre(std::array<std::int32_t, 3>{1, 2, 0}));
    EXPECT_EQ(mesh.vertices[1], Eigen::Vector3d(1, 0, 0));
  }
}

TEST(Gmsh, LinesAloneAreKept) {
  const auto mesh =
      read_text("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n"
                         "$Elements\n2\n1 15 0 1\n2 1 0 1 2\n$EndElements\n");
  EXPECT_EQ(mesh.edges.size(), 1u);
  EXPECT_TRUE(mesh.points.empty());
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

std::string error22(const std::string& from, const std::string& to) {
  return message_of([&] { read_text("a.msh", with(ascii22, from, to)); });
}

/// What reading a mesh warns of.
std::string warning_of(const std::string& content, const std::vector<std::int32_t>& tags) {
  ::testing::internal::CaptureStderr();
  expect_two_tetrahedra(read_text("a.msh", content), tags);
  return ::testing::internal::GetCapturedStderr();
}

const auto names_both_groups =
    AllOf(HasSubstr("a.msh"), HasSubstr(R"(1 to 2 "soft" and 15 "all")"), HasSubstr("lowest number"));

TEST(Gmsh22, ElementInTwoGroupsCountsOnce) {
  const std::string names = "$PhysicalNames\n2\n3 15 \"all\"\n3 2 \"soft\"\n$EndPhysicalNames\n$Nodes";
  std::string text = with(with(ascii22, "$Nodes", names), "$Elements\n4", "$Elements\n6");
  text = with(text, "4 4 0 2 3 4 5", "4 4 2 3 8 2 3 4 5\n5 4 2 2 7 4 2 3 1\n6 2 2 4 1 1 2 3");
  EXPECT_THAT(warning_of(text, {2, 3}), names_both_groups);
  // Twins of one group, or of two entities, are no element of two groups.
  EXPECT_EQ(read_text("a.msh", with(text, "5 4 2 2 7", "5 4 2 15 7")).tetrahedra.size(), 3u);
  EXPECT_EQ(read_text("a.msh", with(text, "5 4 2 2 7", "5 4 2 2 8")).tetrahedra.size(), 3u);

  Bytes b(false);
  b.text("$MeshFormat\n2.2 1 8\n").add(1).text("\n$EndMeshFormat\n" + names + "\n5\n");
  b.all(1, 0., 0., 0.).all(2, 1., 0., 0.).all(3, 0., 1., 0.).all(4, 0., 0., 1.).all(5, 1., 1., 1.5);
  b.text("\n$EndNodes\n$Elements\n3\n").all(4, 3, 2);
  b.all(1, 15, 7, 1, 2, 3, 4).all(2, 3, 8, 2, 3, 4, 5).all(3, 2, 7, 4, 2, 3, 1);
  b.text("\n$EndElements\n");
  EXPECT_THAT(warning_of(b.content(), {2, 3}), names_both_groups);
}

TEST(Gmsh41, ElementInTwoGroupsTakesTheLowest) {
  const std::string names = "$PhysicalNames\n2\n3 15 \"all\"\n3 2 \"soft\"\n$EndPhysicalNames\n";
  const std::string text = header41 + names + R"($Entities
0 0 0 2
1 0 0 0 1 1 1 2 15 2 0
2 0 0 0 1 1 1 1 3 0
$EndEntities
$Nodes
1 5 1 5
3 1 0 5
1
2
3
4
5
0 0 0
1 0 0
0 1 0
0 0 1
1 1 1.5
$EndNodes
$Elements
2 2 1 2
3 1 4 1
1 1 2 3 4
3 2 4 1
2 2 3 4 5
$EndElements
)";
  EXPECT_THAT(warning_of(text, {2, 3}), names_both_groups);
  EXPECT_THAT(warning_of(binary41<std::uint64_t>(false), {15, 15}), HasSubstr("2 to 15 \"volume\" and 16"));
}

/// Triangles of second order with a curved edge, in two groups, and lines in a third and a fourth.
TEST(Gmsh22, SecondOrderAndFacetsOfGroups) {
  const std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                           R"($PhysicalNames
3
2 6 "left half"
1 3 "rim"
1 2 "base"
$EndPhysicalNames
$Nodes
9
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 0.5 0.1 0
6 1 0.5 0
7 0.5 0.5 0
8 0.5 1 0
9 0 0.5 0
$EndNodes
$Elements
5
1 8 2 2 1 1 2 5
2 1 2 3 2 3 4
3 1 2 2 2 3 4
4 9 2 6 1 1 2 3 5 6 7
5 9 2 5 1 1 3 4 7 8 9
$EndElements
)";
  ::testing::internal::CaptureStderr();
  const FileMesh mesh = read_text("a.msh", text);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("1 edges of elements of second order"), HasSubstr("by up to 10")));
  EXPECT_THAT(mesh.triangles, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(0, 2, 3)));
  EXPECT_THAT(mesh.triangle_tags, ElementsAre(6, 5));
  EXPECT_EQ(mesh.vertices.size(), 9u);
  EXPECT_EQ(mesh.vertices[4], Eigen::Vector3d(0.5, 0, 0));
  EXPECT_THAT(mesh.facets, ElementsAre(ElementsAre(0, 1, -1), ElementsAre(2, 3, -1), ElementsAre(2, 3, -1)));
  EXPECT_THAT(mesh.facet_tags, ElementsAre(2, 2, 3));
  EXPECT_EQ(mesh.group_names.at({2, 6}), "left half");
  EXPECT_EQ(mesh.group_names.at({1, 3}), "rim");
  EXPECT_TRUE(mesh.edges.empty());
}

TEST(Gmsh, ErrorsNamePlaceAndRemedy) {
  EXPECT_THAT(error22("4 4 0 2 3 4 5", "4 4 0 2 3 4 6"),
              AllOf(HasSubstr("a.msh:20"), HasSubstr("node 6"), HasSubstr("does not define")));
  EXPECT_THAT(error22("4 4 0 2 3 4 5", "4 29 0 2 3 4 5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
              AllOf(HasSubstr("a.msh:20"), HasSubstr("20-node tetrahedron"), HasSubstr("ElementOrder = 1")));
  EXPECT_THAT(error22("4 4 0 2 3 4 5", "4 7 0 1 2 3 4 5"),
              AllOf(HasSubstr("5-node pyramid"), HasSubstr("simplices")));
  EXPECT_THAT(error22("4 4 0 2 3 4 5", "4 777 0 2 3 4 5"), HasSubstr("unknown element type 777"));
  EXPECT_THAT(error22("2.2 0 8", "4.0 0 8"), AllOf(HasSubstr("a.msh:2"), HasSubstr("4.1 or 2.2")));
  EXPECT_THAT(error22("5\n1 0 0 0", "500000000\n1 0 0 0"),
              AllOf(HasSubstr("a.msh:8"), HasSubstr("500000000 nodes")));
  EXPECT_THAT(error22("3 0 1 0", "3 0 nan 0"), AllOf(HasSubstr("a.msh:12"), HasSubstr("'nan'")));
  EXPECT_THAT(error22("3 0 1 0", "3 0 1e999 0"), HasSubstr("1e999"));
  EXPECT_THAT(error22("3 0 1 0", "4 0 1 0"), HasSubstr("two nodes have the tag 4"));
  EXPECT_THAT(error22("$EndNodes", "$EndNode"), HasSubstr("expected $EndNodes, found '$EndNode'"));
  EXPECT_THAT(error22("$EndComments", ""), HasSubstr("$EndComments"));
  EXPECT_THAT(error22("$MeshFormat", "MeshFormat"), HasSubstr("no Gmsh file"));
  EXPECT_THAT(message_of([&] { read_text("a.msh", ascii22.substr(0, ascii22.find("$Elements"))); }),
              HasSubstr("no section $Elements"));
  EXPECT_THAT(message_of([&] { read_text("a.msh", binary41<std::uint64_t>(false).substr(0, 500)); }),
              HasSubstr("a.msh, byte"));
}

TEST(Gmsh, PartitionedFilesAreRefused) {
  EXPECT_THAT(message_of([&] {
                read_text("a.msh", header41 + "$PartitionedEntities\n0\n$EndPartitionedEntities\n");
              }),
              HasSubstr("unpartitioned"));
}

TEST(ReadMesh, FilesThatAreNone) {
  const recoil::testing::TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { read_mesh(folder / "absent.msh"); }),
              AllOf(HasSubstr("absent.msh"), HasSubstr("no such file")));
  EXPECT_THAT(message_of([&] { read_mesh(write_file(folder / "a.vtk", "x")); }), HasSubstr("'.vtk'"));
  EXPECT_THAT(message_of([&] { read_mesh(write_file(folder / "a.msh", "")); }), HasSubstr("is empty"));
  std::filesystem::create_directory(folder / "b.msh");
  EXPECT_THAT(message_of([&] { read_mesh(folder / "b.msh"); }), HasSubstr("is a folder"));
}

} // namespace
} // namespace recoil::mesh
