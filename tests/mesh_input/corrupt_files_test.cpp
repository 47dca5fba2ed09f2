#include <random>

#include "mesh_input/support.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::mesh {
namespace {

/// Every index within range: what a reader promises whatever it is given.
void expect_sound(const RawMesh& mesh) {
  const auto n = static_cast<std::int32_t>(mesh.vertices.size());
  const auto check = [&](const auto& elements) {
    for (const auto& element : elements)
      for (const auto v : element) ASSERT_TRUE(v >= 0 && v < n);
  };
  check(mesh.tetrahedra);
  check(mesh.triangles);
  check(mesh.edges);
  for (const auto v : mesh.points) ASSERT_TRUE(v >= 0 && v < n);
  for (const auto& p : mesh.vertices) ASSERT_TRUE(p.allFinite());
  EXPECT_EQ(mesh.tetrahedra.size(), mesh.tetrahedron_tags.size());
  EXPECT_EQ(mesh.triangles.size(), mesh.triangle_tags.size());
}

/// Reads damaged copies of `content`: cut at random places, with random bytes changed, doubled and removed.
void damage(const std::string& name, const std::string& content, unsigned seed) {
  const recoil::testing::TemporaryFolder folder;
  std::mt19937 random(seed);
  int refused = 0, accepted = 0;
  const auto try_reading = [&](const std::string& damaged) {
    try {
      const RawMesh mesh = read_mesh(write_file(folder / name, damaged));
      ++accepted;
      expect_sound(mesh);
      // what is sound must pass, or be refused by, all that follows as well
      BodyMesh body = body_mesh(RawMesh(mesh), name);
      orient(body, name);
      refine(body, 1, name);
      find_boundary(body, name);
    } catch (const InputError&) {
      ++refused;
    }
  };
  try_reading(content);
  ASSERT_EQ(accepted, 1) << name << " as it is";
  const auto place = [&] { return static_cast<std::size_t>(random() % content.size()); };
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(name + " variant " + std::to_string(i));
    try_reading(content.substr(0, place()));
    std::string flipped = content;
    for (unsigned k = 0; k <= random() % 4; ++k) flipped[place()] = static_cast<char>(random());
    try_reading(flipped);
    std::string bit = content;
    bit[place()] ^= static_cast<char>(1u << random() % 8);
    try_reading(bit);
    std::string shorter = content;
    shorter.erase(place(), 1 + random() % 9);
    try_reading(shorter);
    std::string longer = content;
    longer.insert(place(), content.substr(place(), 1 + random() % 30));
    try_reading(longer);
  }
  EXPECT_GT(refused, 60) << name;
}

RawMesh sample() {
  Generator generator;
  generator.size = {1, 1, 1};
  generator.divisions = {1, 1, 2};
  return generate(generator, "sample");
}

std::string gmsh(bool version4, bool binary) {
  const RawMesh mesh = sample();
  const auto nodes = mesh.vertices.size(), cells = mesh.tetrahedra.size();
  Bytes b;
  const auto number = [&](auto value, auto binary_value, const char* end = " ") {
    binary ? void(b.add(binary_value)) : void(b.text(std::to_string(value) + end));
  };
  const auto size = [&](std::size_t value, const char* end = " ") {
    number(value, std::uint64_t{value}, end);
  };
  const auto small = [&](int value, const char* end = " ") { number(value, value, end); };
  const auto real = [&](double value, const char* end = " ") { number(value, value, end); };
  b.text(std::string("$MeshFormat\n") + (version4 ? "4.1 " : "2.2 ") + (binary ? "1" : "0") + " 8\n");
  if (binary) b.add(1).text("\n");
  b.text("$EndMeshFormat\n");
  if (version4) {
    b.text("$Entities\n");
    size(0), size(0), size(0), size(1, "\n");
    small(1);
    for (int k = 0; k < 6; ++k) real(0);
    size(1), small(7), size(0, "\n");
    b.text("\n$EndEntities\n$Nodes\n");
    size(1), size(nodes), size(1), size(nodes, "\n");
    small(3), small(1), small(0), size(nodes, "\n");
    for (std::size_t v = 1; v <= nodes; ++v) size(v, "\n");
  } else {
    b.text("$Nodes\n" + std::to_string(nodes) + "\n");
  }
  for (std::size_t v = 0; v < nodes; ++v) {
    if (!version4) small(static_cast<int>(v + 1));
    for (int k = 0; k < 3; ++k) real(mesh.vertices[v][k], k == 2 ? "\n" : " ");
  }
  b.text("\n$EndNodes\n$Elements\n");
  if (version4) {
    size(1), size(cells), size(1), size(cells, "\n");
    small(3), small(1), small(4), size(cells, "\n");
  } else {
    b.text(std::to_string(cells) + "\n");
    if (binary) b.all(4, static_cast<int>(cells), 1);
  }
  for (std::size_t c = 0; c < cells; ++c) {
    if (version4) {
      size(c + 1);
      for (const auto v : mesh.tetrahedra[c]) size(static_cast<std::size_t>(v) + 1);
    } else {
      small(static_cast<int>(c + 1));
      if (!binary) b.text("4 1 ");
      small(7);
      for (const auto v : mesh.tetrahedra[c]) small(v + 1);
    }
    if (!binary) b.text("\n");
  }
  b.text("\n$EndElements\n");
  return b.content();
}

TEST(CorruptFiles, Gmsh) {
  damage("a.msh", gmsh(false, false), 1);
  damage("a.msh", gmsh(false, true), 2);
  damage("a.msh", gmsh(true, false), 3);
  damage("a.msh", gmsh(true, true), 4);
}

TEST(CorruptFiles, Obj) {
  damage("a.obj", "v 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2/1/1 4//1 -2\nl 1 2 3\nv 5 5 0\n", 5);
}

TEST(CorruptFiles, Stl) {
  std::string ascii = "solid a\n";
  Bytes binary;
  binary.text(std::string(80, 'x')).add(std::uint32_t{2});
  for (float shift : {0.f, 1.f}) {
    const auto s = std::to_string(shift);
    ascii += "facet normal 0 0 1\nouter loop\nvertex " + s + " 0 0\nvertex 2 " + s +
             " 0\nvertex 0 3 0\nendloop\nendfacet\n";
    binary.all(0.f, 0.f, 1.f, shift, 0.f, 0.f, 2.f, shift, 0.f, 0.f, 3.f, 0.f, std::uint16_t{0});
  }
  damage("a.stl", ascii + "endsolid\n", 6);
  damage("a.stl", binary.content(), 7);
}

TEST(CorruptFiles, Medit) {
  const RawMesh mesh = sample();
  std::string ascii =
      "MeshVersionFormatted 2\nDimension 3\nVertices\n" + std::to_string(mesh.vertices.size()) + "\n";
  Bytes b;
  b.all(1, 2, 3, 20, 3)
      .all(4, 32 + 28 * static_cast<int>(mesh.vertices.size()), static_cast<int>(mesh.vertices.size()));
  for (const auto& p : mesh.vertices) {
    for (int k = 0; k < 3; ++k) ascii += std::to_string(p[k]) + " ";
    ascii += "0\n";
    b.all(p.x(), p.y(), p.z(), 0);
  }
  const auto cells = static_cast<int>(mesh.tetrahedra.size());
  ascii += "Corners 1\n1\nTetrahedra " + std::to_string(cells) + "\n";
  b.add(8).add(static_cast<int>(b.content().size()) + 8 + 20 * cells).add(cells);
  for (const auto& cell : mesh.tetrahedra) {
    for (const auto v : cell) {
      ascii += std::to_string(v + 1) + " ";
      b.add(v + 1);
    }
    ascii += "3\n";
    b.add(3);
  }
  b.all(54, 0);
  damage("a.mesh", ascii + "End\n", 8);
  damage("a.meshb", b.content(), 9);
}

} // namespace
} // namespace recoil::mesh
