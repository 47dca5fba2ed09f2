#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "mesh/input/body_slices.hpp"
#include "mesh/slice_checks.hpp"
#include "mesh_input/support.hpp"
#include "recoil/mesh/input/group_names.hpp"

namespace recoil::mesh {
namespace {

/// How the Gmsh file of a mesh is written.
struct Writing {
  bool version4 = false, binary = false;
  bool second_order = false;   ///< with some edges that are curved
  bool alone = false;          ///< each element in a block of its own, as Gmsh writes 2.2
  std::int64_t stride = 1;     ///< of tags: 1 leaves no gaps
  bool several_groups = false; ///< some cells are in two groups
  bool swapped = false;
};

struct Element {
  int type, dim, entity;
  std::vector<int> groups;
  std::vector<std::int64_t> nodes;
};

struct Mesh {
  std::vector<std::pair<std::int64_t, Eigen::Vector3d>> nodes;
  std::vector<Element> elements;
};

/// Nodes in the middle of edges, numbered behind the others.
void add_middles(Mesh& mesh, std::int64_t stride) {
  constexpr std::array<std::array<std::size_t, 2>, 6> edges{{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {2, 3}, {1, 3}}};
  std::map<std::int64_t, Eigen::Vector3d> place(mesh.nodes.begin(), mesh.nodes.end());
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> middles;
  std::int64_t last = place.rbegin()->first;
  for (Element& element : mesh.elements) {
    element.type = element.dim == 1 ? 8 : element.dim == 2 ? 9 : 11;
    const std::size_t count = element.dim == 1 ? 1 : element.dim == 2 ? 3 : 6;
    for (std::size_t e = 0; e < count; ++e) {
      const auto [a, b] = std::minmax(element.nodes[edges[e][0]], element.nodes[edges[e][1]]);
      auto& middle = middles[{a, b}];
      if (middle == 0) {
        middle = last += stride;
        Eigen::Vector3d at = 0.5 * (place.at(a) + place.at(b));
        if (middles.size() % 7 == 0) at.x() += 0.01 * double(middles.size() % 5);
        mesh.nodes.emplace_back(middle, at);
      }
      element.nodes.push_back(middle);
    }
  }
}

/// A box or rectangle with groups 11 and 12 on its sides and a vertex of no cell among the others.
Mesh make_mesh(const Generator& generator, const Writing& writing) {
  const BodyMesh body = body_mesh(generate(generator, ""), "");
  const auto at = [](auto index) { return static_cast<std::size_t>(index); };
  Mesh mesh;
  const auto tag = [&](std::int64_t v) { return writing.stride * (v + (v < 6 ? 1 : 2)); };
  for (std::int64_t v = 0; v < std::ssize(body.vertices); ++v) {
    if (v == 6) mesh.nodes.emplace_back(writing.stride * 7, Eigen::Vector3d(3, 3, 0));
    mesh.nodes.emplace_back(tag(v), body.vertices[at(v)]);
  }
  // Out of order, across ranks.
  std::swap(mesh.nodes.front(), mesh.nodes.back());
  std::swap(mesh.nodes[3], mesh.nodes[mesh.nodes.size() / 2]);
  const auto add = [&](int dim, int entity, std::vector<int> groups, const auto& vertices) {
    Element element{dim == 1 ? 1 : dim == 2 ? 2 : 4, dim, entity, std::move(groups), {}};
    for (int i = 0; i <= dim; ++i) element.nodes.push_back(tag(vertices[at(i)]));
    mesh.elements.push_back(std::move(element));
  };
  for (const BoundaryFacet& facet : find_boundary(body, "").facets) {
    const auto v = facet_vertices(body, facet);
    const bool low = body.vertices[at(v[0])].x() < 0;
    add(body.dim - 1, low ? 1 : 2, {low ? 11 : 12}, v);
  }
  for (std::size_t c = 0; c < body.cells.size(); ++c) {
    if (c == body.cells.size() / 2) add(1, 7, {}, body.cells[c]);
    const bool several = writing.several_groups && c % 3 == 0;
    add(body.dim, several ? 4 : 3, several ? std::vector{8, 5} : std::vector{5}, body.cells[c]);
  }
  if (writing.second_order) add_middles(mesh, writing.stride);
  return mesh;
}

/// Numbers as text or in binary.
class Numbers {
public:
  Numbers(bool binary, bool swapped) : binary_(binary), bytes_(swapped) {}
  template <class T>
  Numbers& add(T value) {
    if (binary_) {
      bytes_.add(value);
    } else {
      std::ostringstream text;
      text.precision(17);
      text << value << ' ';
      bytes_.text(text.str());
    }
    return *this;
  }
  Numbers& size(std::size_t value) { return add(std::uint64_t{value}); }
  Numbers& text(const std::string& text) {
    bytes_.text(text);
    return *this;
  }
  Numbers& end_line() { return binary_ ? *this : text("\n"); }
  const std::string& content() const { return bytes_.content(); }

private:
  bool binary_;
  Bytes bytes_;
};

void add_mesh2(Numbers& out, const Mesh& mesh, const Writing& writing) {
  out.text("$Nodes\n" + std::to_string(mesh.nodes.size()) + "\n");
  for (const auto& [tag, p] : mesh.nodes)
    out.add(static_cast<int>(tag)).add(p.x()).add(p.y()).add(p.z()).end_line();
  std::size_t count = 0;
  for (const Element& element : mesh.elements) count += std::max<std::size_t>(1, element.groups.size());
  out.text("\n$EndNodes\n$Elements\n" + std::to_string(count) + "\n");
  int number = 0;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const Element& element = mesh.elements[e];
    // Every repeat in a block of its own; one block for three elements of one group that follow each other.
    const auto same = [&](std::size_t k) {
      return k < mesh.elements.size() && mesh.elements[k].type == element.type &&
             mesh.elements[k].groups.size() == 1;
    };
    const bool joined = writing.binary && !writing.alone && same(e) && same(e + 1) && same(e + 2);
    const std::vector<int> none{0};
    for (const int group : element.groups.empty() ? none : element.groups) {
      if (writing.binary) out.add(element.type).add(joined ? 3 : 1).add(2);
      for (std::size_t k = e; k < e + (joined ? 3 : 1); ++k) {
        const Element& own = mesh.elements[k];
        out.add(++number);
        if (!writing.binary) out.add(own.type).add(2);
        out.add(joined ? own.groups[0] : group).add(own.entity);
        for (const std::int64_t node : own.nodes) out.add(static_cast<int>(node));
        out.end_line();
      }
    }
    if (joined) e += 2;
  }
  out.text("\n$EndElements\n");
}

void add_mesh4(Numbers& out, const Mesh& mesh) {
  std::map<std::pair<int, int>, std::vector<int>> entities;
  for (const Element& element : mesh.elements) entities[{element.dim, element.entity}] = element.groups;
  out.text("$Entities\n");
  for (int dim = 0; dim <= 3; ++dim)
    out.size(static_cast<std::size_t>(
        std::ranges::count_if(entities, [&](const auto& e) { return e.first.first == dim; })));
  out.end_line();
  for (const auto& [entity, groups] : entities) {
    out.add(entity.second);
    for (int k = 0; k < 6; ++k) out.add(0.5);
    out.size(groups.size());
    for (const int group : groups) out.add(group);
    out.size(0).end_line();
  }
  out.text("\n$EndEntities\n$Nodes\n");
  const std::size_t first = mesh.nodes.size() / 3;
  out.size(2).size(mesh.nodes.size()).size(1).size(1).end_line();
  for (const auto& [begin, end] : {std::pair(std::size_t(0), first), std::pair(first, mesh.nodes.size())}) {
    const bool parametric = begin > 0;
    out.add(2).add(1).add(parametric ? 1 : 0).size(end - begin).end_line();
    for (std::size_t k = begin; k < end; ++k)
      out.size(static_cast<std::size_t>(mesh.nodes[k].first)).end_line();
    for (std::size_t k = begin; k < end; ++k) {
      const Eigen::Vector3d& p = mesh.nodes[k].second;
      out.add(p.x()).add(p.y()).add(p.z());
      if (parametric) out.add(0.25).add(0.75);
      out.end_line();
    }
  }
  out.text("\n$EndNodes\n$Elements\n");
  std::vector<std::size_t> begins{0};
  for (std::size_t e = 1; e <= mesh.elements.size(); ++e)
    if (e == mesh.elements.size() || mesh.elements[e].entity != mesh.elements[e - 1].entity ||
        mesh.elements[e].dim != mesh.elements[e - 1].dim)
      begins.push_back(e);
  out.size(begins.size() - 1).size(mesh.elements.size()).size(1).size(1).end_line();
  for (std::size_t b = 0; b + 1 < begins.size(); ++b) {
    const Element& first_of_block = mesh.elements[begins[b]];
    out.add(first_of_block.dim).add(first_of_block.entity).add(first_of_block.type);
    out.size(begins[b + 1] - begins[b]).end_line();
    for (std::size_t e = begins[b]; e < begins[b + 1]; ++e) {
      out.size(e + 1);
      for (const std::int64_t node : mesh.elements[e].nodes) out.size(static_cast<std::size_t>(node));
      out.end_line();
    }
  }
  out.text("\n$EndElements\n");
}

std::string gmsh_file(const Mesh& mesh, const Writing& writing) {
  Numbers out(writing.binary, writing.swapped);
  out.text(std::string("$MeshFormat\n") + (writing.version4 ? "4.1 " : "2.2 ") +
           (writing.binary ? "1" : "0") + " 8\n");
  if (writing.binary) out.add(1).text("\n");
  out.text("$EndMeshFormat\n$PhysicalNames\n1\n3 5 \"all\"\n$EndPhysicalNames\n");
  writing.version4 ? add_mesh4(out, mesh) : add_mesh2(out, mesh, writing);
  out.text("$Comments\nanything\n$EndComments\n");
  return out.content();
}

Generator box(int n) {
  Generator generator;
  generator.size = {1, 2, 3};
  generator.divisions = {n, n, n + 1};
  return generator;
}

Generator rectangle(int n) {
  Generator generator;
  generator.shape = GeneratorShape::rectangle;
  generator.size = {2, 1};
  generator.divisions = {n, n + 1};
  return generator;
}

Selection select(int id, SelectionShape shape) { return {id, false, true, std::move(shape), "/selection"}; }

/// A file that ranks share, and entries that name it.
class FileSlicesTest : public ::testing::Test {
protected:
  const std::filesystem::path& write(const std::string& content) {
    comm_.barrier();
    if (comm_.rank() == 0) write_file(path_, content);
    comm_.barrier();
    return path_;
  }

  GeometrySpec entry() const {
    GeometrySpec spec;
    spec.name = "body";
    spec.where = "/geometry/0";
    spec.mesh = path_;
    spec.file_scale = 1e-3;
    return spec;
  }

  bool is_read_in_slices() {
    MeshFiles files(0);
    return files.load_slices(comm_, path_) != nullptr;
  }

  const parallel::Communicator comm_{MPI_COMM_WORLD};
  const testing::TemporaryFolder folder_{comm_};
  const std::filesystem::path path_ = folder_.path() / "mesh.msh";
};

TEST(LocalNumbers, AscendInNarrowAndInWideRanges) {
  using Cells = std::vector<std::array<std::int32_t, 4>>;
  for (const std::int32_t spread : {1, 500'000'000}) {
    Cells cells{{3 * spread, 0, 4 * spread, spread}, {spread, 4 * spread, 2 * spread, 0}};
    EXPECT_EQ(number_locally(cells, 3),
              (std::vector<std::int32_t>{0, spread, 2 * spread, 3 * spread, 4 * spread}));
    EXPECT_EQ(cells, (Cells{{3, 0, 4, 1}, {1, 4, 2, 0}}));
  }
}

TEST_F(FileSlicesTest, AreWhatOneRankReads) {
  for (const bool version4 : {false, true})
    for (const bool binary : {false, true})
      for (const int variant : {0, 1, 2, 3, 4}) {
        // On more ranks than most machines for tests have cores, a third of them.
        if (comm_.size() > 2 && (variant + 2 * version4 + binary) % 3 != 0) continue;
        Writing writing{version4, binary};
        writing.second_order = variant == 1;
        writing.stride = variant == 2 ? 3 : variant == 3 ? 100'000 : 1;
        writing.several_groups = variant == 3 || variant == 4;
        writing.alone = variant == 2;
        writing.swapped = variant == 4;
        SCOPED_TRACE("version " + std::to_string(version4) + ", binary " + std::to_string(binary) +
                     ", variant " + std::to_string(variant));
        GeometrySpec spec = entry();
        spec.point_selection = {select(4, BoxSelection{{-1, -1, -1}, {0, 0, 0}})};
        write(gmsh_file(make_mesh(box(3), writing), writing));
        ASSERT_TRUE(is_read_in_slices());
        EXPECT_EQ(read_group_names(path_).names, read_mesh(path_).group_names);
        EXPECT_EQ(read_group_names(path_).dim, 3);
        expect_same({spec}, 3, MeshFiles(0));
        if (variant == 0) {
          spec.surface_selection = {select(1, GroupSelection{11}), select(2, IdOffsetSelection{100})};
          spec.normalize_mesh = true;
          spec.transformation.rotation = {10, 20, 30};
          spec.n_refs = 1;
          expect_same({spec, spec}, 3, MeshFiles(0));
        }
        if (version4 != binary && variant != 1) continue;
        write(gmsh_file(make_mesh(rectangle(9), writing), writing));
        ASSERT_TRUE(is_read_in_slices());
        EXPECT_EQ(read_group_names(path_).dim, 2);
        expect_same({entry()}, 2, MeshFiles(0));
      }
}

TEST_F(FileSlicesTest, MayBeSmallerThanRanks) {
  const Writing writing;
  write(gmsh_file(make_mesh(rectangle(1), writing), writing));
  ASSERT_TRUE(is_read_in_slices());
  expect_same({entry()}, 2, MeshFiles(0));
}

/// What is said of the file, by all ranks together or by one.
std::string said(const parallel::Communicator& comm, const GeometrySpec& spec, bool in_slices) {
  const std::vector<GeometrySpec> specs{spec};
  try {
    if (in_slices) {
      MeshFiles files(0);
      std::vector<EmptySelection> empty;
      count_deformable_cells(comm, specs, files);
      assemble_slices(comm, specs, 3, files, empty);
    } else {
      assemble_geometry(specs, 3);
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

/// The same Gmsh file with a line replaced, counted from the last one with `section`.
std::string with_line(const std::string& text, const std::string& section, int line, const std::string& by) {
  std::size_t begin = text.find(section);
  for (int k = 0; k < line; ++k) begin = text.find('\n', begin) + 1;
  return text.substr(0, begin) + by + text.substr(text.find('\n', begin));
}

TEST_F(FileSlicesTest, RefuseWhatOneRankRefusesInTheSameWords) {
  const std::string text = gmsh_file(make_mesh(box(3), {}), {});
  Writing four{true};
  const std::string text4 = gmsh_file(make_mesh(box(3), four), four);
  four.binary = true;
  const std::string binary = gmsh_file(make_mesh(box(3), four), four);
  const std::vector<std::string> wrong{
      text.substr(0, text.size() / 3),
      text.substr(0, 2 * text.size() / 3),
      with_line(text, "$Nodes", 9, "8 0 nan 0"),
      with_line(text, "$Nodes", 12, "9 0 1 0"),
      with_line(text, "$Nodes", 12, "-4 0 1 0"),
      with_line(text, "$Elements", 90, "1 4 2 5 3 1 2 3 4000"),
      with_line(text, "$Elements", 200, "1 4 2 5 3 1 2 3"),
      with_line(text, "$Elements", 200, "1 5 2 5 3 1 2 3 4 5 8 9 10"),
      with_line(text, "$Elements", 201, "1 4 2 5 3 1 2 3 3"),
      with_line(text, "$Elements", 1, "100"),
      with(text, "$EndNodes", "$EndNode"),
      with(text, "2.2 0 8", "4.0 0 8"),
      with(text, "$Elements", "$Element"),
      "something else",
      with_line(text4, "$Elements", 90, "-90 1 2 3 4"),
      with_line(text4, "$Nodes", 9, "-8"),
      with_line(text4, "$Nodes", 2, "2 1 2 1000"),
      binary.substr(0, binary.size() / 2),
      binary.substr(0, binary.size() - 60),
  };
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    SCOPED_TRACE("file " + std::to_string(k));
    write(wrong[k]);
    const std::string whole = said(comm_, entry(), false);
    EXPECT_NE(whole, "no error");
    EXPECT_EQ(said(comm_, entry(), true), whole);
  }
}

// Some are sound still: then both read the same.
TEST_F(FileSlicesTest, AreRefusedInTheSameWordsHoweverDamaged) {
  std::mt19937 random(7);
  for (const bool version4 : {false, true})
    for (const bool binary : {false, true}) {
      const Writing writing{version4, binary};
      const std::string text = gmsh_file(make_mesh(box(3), writing), writing);
      for (int k = 0; k < 8; ++k) {
        SCOPED_TRACE("version " + std::to_string(version4) + ", binary " + std::to_string(binary) +
                     ", variant " + std::to_string(k));
        std::string damaged = text;
        const std::size_t place = random() % text.size();
        if (k % 3 == 0) damaged[place] = static_cast<char>(random());
        if (k % 3 == 1) damaged.erase(place, 1 + random() % 9);
        if (k % 3 == 2) damaged.insert(place, damaged.substr(random() % text.size(), 1 + random() % 9));
        write(damaged);
        const std::string whole = said(comm_, entry(), false);
        EXPECT_EQ(said(comm_, entry(), true), whole);
        if (whole == "no error") expect_same({entry()}, 3, MeshFiles(0));
      }
    }
}

TEST_F(FileSlicesTest, RefuseUnsoundMeshesInTheSameWords) {
  Mesh mesh = make_mesh(box(3), {});
  const auto refuse = [&](const Mesh& wrong) {
    write(gmsh_file(wrong, {}));
    const std::string whole = said(comm_, entry(), false);
    EXPECT_NE(whole, "no error");
    EXPECT_EQ(said(comm_, entry(), true), whole);
  };
  const std::size_t last = mesh.elements.size() - 1;
  Mesh wrong = mesh;
  wrong.elements.push_back(mesh.elements[last - 150]);
  refuse(wrong); // twice the same cell, far from each other
  wrong = mesh;
  wrong.elements.push_back(mesh.elements[last - 150]);
  wrong.elements.back().nodes[3] = 7; // a third cell at a facet, or one that overlaps
  refuse(wrong);
  wrong = mesh;
  for (auto& [tag, place] : wrong.nodes)
    if (tag == mesh.elements[last].nodes[0]) place = Eigen::Vector3d(0, 0, 0); // turned inside out
  refuse(wrong);
  // Overlapping cells without common vertices.
  wrong = mesh;
  const std::int64_t next = std::ssize(mesh.nodes);
  Element cell = mesh.elements[last];
  for (std::size_t k = 0; k < 4; ++k) {
    for (const auto& [tag, place] : mesh.nodes)
      if (tag == cell.nodes[k]) wrong.nodes.emplace_back(next + 1 + std::int64_t(k), place);
    cell.nodes[k] = next + 1 + std::int64_t(k);
  }
  wrong.elements.push_back(cell);
  refuse(wrong);
  GeometrySpec flat = entry();
  flat.transformation.scale = Eigen::Vector3d(1, 1, 0);
  write(gmsh_file(mesh, {}));
  EXPECT_EQ(said(comm_, flat, true), said(comm_, flat, false));
}

/// Two boxes that touch without common vertices: a crack, of which is told in the same words.
TEST_F(FileSlicesTest, TellOfCracksInTheSameWords) {
  Mesh mesh = make_mesh(box(3), {});
  const std::int64_t shift = std::ssize(mesh.nodes);
  for (std::int64_t k = 0; k < shift; ++k) {
    const auto [tag, place] = mesh.nodes[static_cast<std::size_t>(k)];
    mesh.nodes.emplace_back(tag + shift, place + Eigen::Vector3d(1, 0, 0));
  }
  const std::size_t elements = mesh.elements.size();
  for (std::size_t e = 0; e < elements; ++e) {
    mesh.elements.push_back(mesh.elements[e]);
    for (std::int64_t& node : mesh.elements.back().nodes) node += shift;
  }
  write(gmsh_file(mesh, {}));
  ASSERT_TRUE(is_read_in_slices());
  const auto warnings = [&](bool in_slices) {
    GeometrySpec spec = entry();
    // A warning of one place is given once.
    spec.where += in_slices ? "/slices" : "/whole";
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(said(comm_, spec, in_slices), "no error");
    std::string text = ::testing::internal::GetCapturedStderr();
    if (const auto place = text.find("/slices"); place != std::string::npos) text.replace(place, 7, "/whole");
    return text;
  };
  const std::string slices = warnings(true), whole = warnings(false);
  if (comm_.rank() == 0) {
    EXPECT_EQ(slices, whole);
    EXPECT_THAT(slices, ::testing::HasSubstr("without common vertices"));
  }
}

} // namespace
} // namespace recoil::mesh
