#include <map>
#include <numbers>
#include <numeric>
#include <random>

#include "mesh/input/overlaps.hpp"
#include "mesh_input/support.hpp"
#include "recoil/base/log.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"

namespace recoil::mesh {
namespace {

using Eigen::Vector3d;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Edge = std::array<std::int32_t, 2>;
using Triangle = std::array<std::int32_t, 3>;

GeometrySpec entry(const std::string& name, bool is_obstacle = true) {
  GeometrySpec spec;
  spec.name = name;
  spec.where = "/geometry/" + name;
  spec.is_obstacle = is_obstacle;
  return spec;
}

RawMesh sheet(std::vector<Vector3d> vertices, std::vector<Triangle> triangles) {
  RawMesh raw;
  raw.vertices = std::move(vertices);
  raw.triangles = std::move(triangles);
  return raw;
}

/// What is warned of.
template <class Act>
std::string warnings_of(const Act& act) {
  initialize_log({}); // forgets what it has warned of
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

std::string warnings_of(const RawMesh& raw, int dim = 3) {
  return warnings_of([&] { obstacle_surface(raw, entry("floor"), dim); });
}

/// How many triangles each edge has, by the positions of its ends.
std::map<int, int> degrees_of_edges(const SurfaceMesh& surface) {
  std::map<Edge, int> faces;
  for (const auto& t : surface.triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(t[i], t[(i + 1) % 3]);
      ++faces[{low, high}];
    }
  std::map<int, int> count;
  for (const auto& [edge, n] : faces) ++count[n];
  return count;
}

double area(const SurfaceMesh& surface) {
  double sum = 0;
  for (const auto& t : surface.triangles) {
    const auto at = [&](std::size_t i) { return surface.vertices[static_cast<std::size_t>(t[i])]; };
    sum += 0.5 * (at(1) - at(0)).cross(at(2) - at(0)).norm();
  }
  return sum;
}

const std::vector<Vector3d> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};

TEST(HangingVertices, SplitTheTriangleWhoseSideTheyLieOn) {
  auto raw = sheet(square, {{0, 1, 2}, {0, 4, 3}, {4, 2, 3}});
  raw.vertices.push_back({0.25, 0.25, 0});
  SurfaceMesh surface;
  const std::string text = warnings_of([&] { surface = obstacle_surface(raw, entry("floor"), 3); });
  EXPECT_THAT(text, AllOf(HasSubstr("/geometry/floor: a vertex lies inside of the side of triangle 0 "),
                          HasSubstr("at (0.25, 0.25, 0): the triangle is split there")));
  EXPECT_THAT(degrees_of_edges(surface), UnorderedElementsAre(std::pair(1, 4), std::pair(2, 4)));
  EXPECT_NEAR(area(surface), 1, 1e-15);
  EXPECT_EQ(obstacle_surface(raw, entry("floor"), 2).edges.size(), 4u) << "the inside is no boundary";
}

/// Halves on one side of the seam, thirds on the other, in a plane that is turned and rounded to floats.
TEST(HangingVertices, SplitBothSidesOfASeam) {
  const auto fan = [](double tip, int pieces, RawMesh& raw) {
    const auto add = [&](double x, double y) {
      const Vector3d p =
          Vector3d(0.3, -0.7, 0.2) + x * Vector3d(0.36, 0.48, 0.8) + y * Vector3d(0.8, -0.6, 0);
      raw.vertices.emplace_back(float(p.x()), float(p.y()), float(p.z()));
    };
    const std::int32_t first = raw.vertices.size();
    add(0.5, tip);
    for (int k = 0; k <= pieces; ++k) add(double(k) / pieces, 0);
    for (int k = 0; k < pieces; ++k) raw.triangles.push_back({first, first + 1 + k, first + 2 + k});
  };
  RawMesh raw;
  fan(1, 2, raw);
  fan(-1, 3, raw);
  SurfaceMesh surface;
  const std::string text = warnings_of([&] { surface = obstacle_surface(raw, entry("floor"), 3); });
  EXPECT_THAT(text, HasSubstr(", one of 3 such: the triangle is split there"));
  EXPECT_THAT(degrees_of_edges(surface), UnorderedElementsAre(std::pair(1, 4), std::pair(2, 10)));
  EXPECT_NEAR(area(surface), 1, 1e-6);
}

/// Where two sheets only touch, or a wall stands on a floor, nothing is split.
TEST(HangingVertices, AreThoseOfSidesOnOneLine) {
  auto raw =
      sheet({{0, 0, 0}, {2, 0, 0}, {1, 2, 0}, {1, 0, 0}, {1, 0, 1}, {1, -1, 1}}, {{0, 1, 2}, {3, 4, 5}});
  EXPECT_EQ(warnings_of(raw), "");
}

TEST(SharedEdges, PushAlongFlatParts) {
  auto raw = sheet(square, {{0, 1, 2}, {0, 2, 3}, {0, 2, 5}, {0, 5, 4}});
  raw.vertices.push_back({0, 0, -1});
  raw.vertices.push_back({1, 1, -1});
  EXPECT_THAT(
      warnings_of(raw),
      AllOf(HasSubstr("/geometry/floor: an edge inside of a flat part is shared by more than two "
                      "triangles (triangles 0, 1, 2, counted from 0) between (0, 0, 0) and (1, 1, 0)"),
            HasSubstr("<dhat>")));
  RawMesh star;
  star.vertices = {{0, 0, 0}, {0, 0, 1}};
  for (int k = 0; k < 3; ++k) {
    star.vertices.emplace_back(std::cos(2 * k * std::numbers::pi / 3), std::sin(2 * k * std::numbers::pi / 3),
                               0);
    star.triangles.push_back({0, 1, 2 + k});
  }
  EXPECT_EQ(warnings_of(star), "") << "sheets that meet at an angle have a crease there anyway";
}

TEST(SharedEdges, AreMissedByWallsThatStandOnTriangles) {
  auto raw = sheet(square, {{0, 1, 2}, {0, 2, 3}, {4, 5, 6}});
  for (const Vector3d& p : {Vector3d(0.6, 0.1, 0), Vector3d(0.8, 0.5, 0), Vector3d(0.8, 0.5, 1)})
    raw.vertices.push_back(p);
  EXPECT_THAT(warnings_of(raw),
              HasSubstr("a side of triangle 2 lies on triangle 0 (counted from 0) around (0.7, "
                        "0.3, 0): contact pushes"));
}

TEST(SharedEdges, OfTrianglesThatOverlapAreRefused) {
  auto raw = sheet(square, {{0, 1, 2}, {0, 2, 3}, {0, 4, 2}});
  raw.vertices.push_back({0.9, 0.1, 0});
  EXPECT_THAT(message_of([&] { obstacle_surface(raw, entry("floor"), 3); }),
              AllOf(HasSubstr("/geometry/floor: an edge is shared by more than two triangles of which some "
                              "overlap (triangles 0, 1, 2, counted from 0)"),
                    HasSubstr("remove the overlapping triangles")));
}

TEST(Slivers, AreRefusedUpToAShareOfTheirLength) {
  for (const double size : {1e-6, 1.0, 1e6})
    for (const auto& [height, text] :
         {std::pair(2e-8, "triangle 1 (counted from 0) is a sliver"), {1e-6, ""}}) {
      auto raw = sheet(square, {{0, 1, 2}, {0, 4, 1}});
      raw.vertices.push_back({0.4, -height, 0});
      for (auto& p : raw.vertices) p *= size;
      if (*text)
        EXPECT_THAT(message_of([&] { obstacle_surface(raw, entry("floor"), 3); }),
                    AllOf(HasSubstr(text), HasSubstr("its height is 2e-08 of its longest edge")));
      else
        EXPECT_EQ(warnings_of(raw), "");
    }
  auto spec = entry("floor");
  spec.transformation.scale = {1, 0, 1};
  EXPECT_THAT(message_of([&] { obstacle_surface(two_triangles(), spec, 3); }),
              HasSubstr("triangle 0 (counted from 0) has no area after its transformation"));
}

TEST(Overlaps, OfOneSurface) {
  auto raw = sheet(square, {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2, 3}});
  EXPECT_THAT(warnings_of(raw),
              AllOf(HasSubstr("triangles 0 and 2 (counted from 0) lie on each other around ("),
                    HasSubstr("one of 4 such: contact counts both; remove one of them")));
  auto boxes = entry("boxes");
  boxes.array = ArrayCopies{{2, 1, 1}, 1, true};
  EXPECT_EQ(warnings_of([&] { obstacle_surface(five_tetrahedra(), boxes, 3); }), "")
      << "what lies back to back in closed bodies is hidden";
  EXPECT_THAT(warnings_of([&] { obstacle_surface(two_triangles(), boxes, 3); }),
              AllOf(HasSubstr("lie on each other around (1, 0.5, 0), but their vertices do not coincide"),
                    HasSubstr("merge the vertices")));
  boxes.array->offset = 0;
  EXPECT_THAT(warnings_of([&] { obstacle_surface(two_triangles(), boxes, 3); }),
              HasSubstr("triangles 0 and 0 (counted from 0) lie on each other"));
}

/// Obstacles of several files.
/// More triangles than one tree is made of, numbered at random.
TEST(Overlaps, AreFoundInBlocks) {
  constexpr int n = 130; // 33800 triangles
  std::vector<Vector3d> vertices;
  std::vector<Triangle> triangles;
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) vertices.emplace_back(i, j, std::sin(0.3 * i) * std::cos(0.2 * j));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const std::int32_t a = i * (n + 1) + j, b = a + n + 1;
      triangles.push_back({a, b, b + 1});
      triangles.push_back({a, b + 1, a + 1});
    }
  std::ranges::shuffle(triangles, std::mt19937(4));
  const std::vector<Triangle> grid = triangles;
  std::vector<std::array<std::int32_t, 2>> expected;
  std::vector<Edge> edges;
  for (const std::int32_t t : {17, 9000, 21234, 33799}) {
    expected.push_back({t, std::int32_t(triangles.size())});
    const Triangle& corners = grid[std::size_t(t)];
    const std::int32_t first = std::int32_t(vertices.size());
    Vector3d middle = Vector3d::Zero();
    for (const std::int32_t v : corners) middle += vertices[std::size_t(v)] / 3;
    for (const std::int32_t v : corners) vertices.push_back(0.3 * middle + 0.7 * vertices[std::size_t(v)]);
    triangles.push_back({first, first + 1, first + 2});
    edges.push_back({first, first + 2});
  }
  const auto numbers = [](const std::vector<Overlap>& overlaps) {
    std::vector<std::array<std::int32_t, 2>> found;
    for (const Overlap& overlap : overlaps) found.push_back({overlap.first, overlap.second});
    return found;
  };
  const auto found = overlapping_triangles(TriangleSpan{vertices, triangles});
  EXPECT_EQ(numbers(found), expected);
  for (const Overlap& overlap : found) EXPECT_TRUE(overlap.same_side);

  const std::vector<Vector3d> others = vertices;
  const std::vector<Triangle> copies(triangles.begin() + std::ssize(grid), triangles.end());
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] = {expected[k][0], std::int32_t(k)};
  EXPECT_EQ(numbers(overlapping_triangles(TriangleSpan{vertices, grid}, TriangleSpan{others, copies})),
            expected);
  for (auto& [first, second] : expected) std::swap(first, second);
  EXPECT_EQ(numbers(edges_in_triangles(EdgeSpan{others, edges}, TriangleSpan{vertices, grid})), expected);
}

TEST(Overlaps, OfSeveralObstacles) {
  const recoil::testing::TemporaryFolder folder;
  const std::string left = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";
  const std::string other_way = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 4\nf 2 3 4\n";
  const std::string right = "v 1 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nf 1 2 3\nf 1 3 4\n";
  const auto warned = [&](const std::string& second) {
    auto a = entry("a"), b = entry("b");
    a.mesh = write_file(folder / "a.obj", left);
    b.mesh = write_file(folder / "b.obj", second);
    return warnings_of([&] { assemble_geometry(std::vector{a, b}, 3); });
  };
  EXPECT_THAT(warned(other_way), AllOf(HasSubstr("/geometry/a ("), HasSubstr("a.obj) and /geometry/b ("),
                                       HasSubstr("b.obj): the obstacles lie on each other around ("),
                                       HasSubstr("take one of them out")));
  EXPECT_THAT(warned(right),
              AllOf(HasSubstr("b.obj): the obstacles continue each other in one plane along a "
                              "seam around (1, 0.5, 0): contact pushes bodies along the plane"),
                    HasSubstr("into one file")));
  EXPECT_EQ(warned("v 1 0 0\nv 2 0 1\nv 2 1 1\nv 1 1 0\nf 1 2 3\nf 1 3 4\n"), "") << "an edge, no seam";
  EXPECT_THAT(warned("v 0.2 0.3 0\nv 0.7 0.4 0\nv 0.7 0.4 1\nf 1 2 3\n"),
              AllOf(HasSubstr("/geometry/b ("),
                    HasSubstr("b.obj): the obstacle ends on a flat part of /geometry/a"),
                    HasSubstr("around (0.5125, 0.3625, 0), one of 2 such"), HasSubstr("<dhat> before")));
  EXPECT_EQ(warned("v 0 0 0\nv 1 0 0\nv 1 0 1\nf 1 2 3\n"), "") << "a wall on the rim makes a corner";
  EXPECT_EQ(warned("v 0 0 0.1\nv 1 0 0.1\nv 1 1 0.1\nf 1 2 3\n"), "");
}

TEST(EdgesIn2D, ThatLieOnEachOtherCountOnce) {
  RawMesh line;
  line.vertices = {{0, 0, 0}, {3, 0, 0}, {1, 0, 0}, {4, 0, 0}, {2, 1, 0}, {2, 0, 0}};
  line.edges = {{0, 1}, {3, 2}, {4, 5}};
  SurfaceMesh surface;
  const std::string text = warnings_of([&] { surface = obstacle_surface(line, entry("floor"), 2); });
  EXPECT_THAT(text, AllOf(HasSubstr("edges of the obstacle lie on each other at (1, 0, 0), one of 2 such"),
                          HasSubstr("0 have no length in the plane and 1 are there twice")));
  EXPECT_THAT(surface.edges, ElementsAre(Edge{0, 2}, Edge{2, 1}, Edge{3, 1}, Edge{4, 5}))
      << "an edge that only ends on another one is a corner like others";
}

/// The cut lays edges of two heights on each other, and makes points of those that stand upright.
TEST(EdgesIn2D, ThatTheCutLaysOnEachOtherCountOnce) {
  RawMesh lines;
  lines.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 0, 2}, {0, 0, 2}};
  lines.edges = {{0, 1}, {1, 2}, {3, 2}};
  SurfaceMesh surface;
  const std::string text = warnings_of([&] { surface = obstacle_surface(lines, entry("floor"), 2); });
  EXPECT_THAT(text, HasSubstr("1 have no length in the plane and 1 are there twice; they are left out (2 "
                              "vertices lie on another one)"));
  EXPECT_THAT(surface.edges, ElementsAre(Edge{0, 1}));
  EXPECT_EQ(surface.vertices.size(), 2u);
}

/// The bodies whose vertices are there twice: half of a cut one, and all of it.
TEST(Cells, ThatAreNotConnectedAreToldOf) {
  const recoil::testing::TemporaryFolder folder;
  const std::string points = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
  const auto assemble = [&](const std::string& faces) {
    auto spec = entry("body", false);
    spec.mesh = write_file(folder / "body.obj", points + points + faces);
    assemble_geometry(std::vector{spec}, 2);
  };
  EXPECT_EQ(warnings_of([&] { assemble("f 1 2 3\nf 1 3 4\n"); }), "");
  EXPECT_THAT(
      warnings_of([&] { assemble("f 1 2 3\nf 5 7 8\n"); }),
      AllOf(HasSubstr("facets of cells lie on each other without common vertices (cells 0, 1, counted "
                      "from 0) around (0.5, 0.5)"),
            HasSubstr("merge the vertices in the mesh, unless this is a crack")));
  EXPECT_THAT(message_of([&] { assemble("f 1 2 3\nf 1 3 4\nf 5 6 7\nf 5 7 8\n"); }),
              AllOf(HasSubstr("cells overlap (cells 0, 2, counted from 0)"), HasSubstr("remove the")));
}

TEST(Cells, OfTetrahedraThatAreNotConnectedAreToldOf) {
  const recoil::testing::TemporaryFolder folder;
  const auto assemble = [&](const RawMesh& raw) {
    std::vector<std::array<std::int32_t, 4>> cells(raw.tetrahedra);
    auto spec = entry("body", false);
    spec.mesh = write_file(folder / "body.msh",
                           gmsh_text(raw.vertices, cells, std::vector<std::int32_t>(cells.size(), 1)));
    assemble_geometry(std::vector{spec}, 3);
  };
  auto raw = five_tetrahedra();
  EXPECT_EQ(warnings_of([&] { assemble(raw); }), "");
  for (std::int32_t& v : raw.tetrahedra[0]) {
    raw.vertices.push_back(Vector3d(raw.vertices[static_cast<std::size_t>(v)]));
    v = static_cast<std::int32_t>(raw.vertices.size()) - 1;
  }
  EXPECT_THAT(warnings_of([&] { assemble(raw); }),
              HasSubstr("without common vertices (cells 0, 4, counted from 0) around (0.333333333, "));
  raw.tetrahedra.push_back({0, 1, 2, 4});
  EXPECT_THAT(message_of([&] { assemble(raw); }), HasSubstr("cells overlap (cells 0, 5, counted from 0)"));
}

/// A large surface of many sizes of triangles: every hanging vertex is found, and nothing else.
TEST(HangingVertices, OfManyStrips) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> pieces(1, 40);
  RawMesh raw;
  const int rows = 60;
  std::size_t expected = 0;
  std::vector<int> counts;
  for (int row = 0; row <= rows; ++row) counts.push_back(pieces(random));
  // Row k has its own pieces below and those of the next line in common with none of its neighbours.
  const auto vertex = [&](double x, double y) -> std::int32_t {
    raw.vertices.push_back({x, y, 0});
    return static_cast<std::int32_t>(raw.vertices.size()) - 1;
  };
  for (int row = 0; row < rows; ++row) {
    const int n = counts[static_cast<std::size_t>(row)];
    for (int k = 0; k < n; ++k) {
      const double x = double(k) / n, next = double(k + 1) / n, y = row, above = row + 1;
      const auto a = vertex(x, y), b = vertex(next, y), c = vertex(next, above), d = vertex(x, above);
      raw.triangles.push_back({a, b, c});
      raw.triangles.push_back({a, c, d});
    }
    if (row == 0) continue;
    const int before = counts[static_cast<std::size_t>(row) - 1];
    expected += static_cast<std::size_t>(n + before - 2 * std::gcd(n, before));
  }
  SurfaceMesh surface;
  const std::string text = warnings_of([&] { surface = obstacle_surface(raw, entry("floor"), 3); });
  EXPECT_THAT(text, HasSubstr("one of " + std::to_string(expected) + " such"));
  EXPECT_NEAR(area(surface), rows, 1e-12 * rows);
  const auto count = degrees_of_edges(surface);
  EXPECT_EQ(count.size(), 2u);
  EXPECT_EQ(count.at(1), 2 * rows + counts.front() + counts[rows - 1]);
}

} // namespace
} // namespace recoil::mesh
