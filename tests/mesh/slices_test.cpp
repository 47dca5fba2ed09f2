#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "mesh/slice_checks.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/assemble_slices.hpp"
#include "recoil/mesh/input/quality.hpp"
#include "recoil/mesh/sliced_mesh.hpp"
#include "recoil/parallel/exchange.hpp"
#include "support/box_mesh.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::mesh {
namespace {

GeometrySpec entry(GeneratorShape shape, std::vector<double> size, std::vector<int> divisions) {
  GeometrySpec spec;
  spec.name = "body";
  spec.where = "/geometry/0";
  Generator generator;
  generator.shape = shape;
  generator.size = std::move(size);
  generator.radius = 0.7;
  generator.height = 2;
  generator.divisions = std::move(divisions);
  spec.generator = generator;
  return spec;
}

GeometrySpec box(int nx, int ny, int nz) { return entry(GeneratorShape::box, {1, 2, 3}, {nx, ny, nz}); }

Selection select(int id, SelectionShape shape, bool relative = false, bool boundary_only = true) {
  return {id, relative, boundary_only, std::move(shape), "/geometry/0/selection/" + std::to_string(id)};
}

TEST(Slices, HaveTheNumbersOfAllShapes) {
  expect_same({box(4, 5, 6)}, 3);
  expect_same({entry(GeneratorShape::ball, {}, {3})}, 3);
  expect_same({entry(GeneratorShape::cylinder, {}, {3, 4})}, 3);
  expect_same({entry(GeneratorShape::rectangle, {2, 1}, {9, 11})}, 2);
  expect_same({entry(GeneratorShape::disk, {}, {6})}, 2);
}

// Fewer cells than ranks can share before they are refined, and so many that they can.
TEST(Slices, AreRefinedAsTheWhole) {
  for (const int n : {1, 3, 4}) {
    GeometrySpec spec = box(n, n, n);
    spec.n_refs = 2;
    expect_same({spec}, 3);
    spec = entry(GeneratorShape::rectangle, {2, 1}, {4 * n, 3 * n});
    spec.n_refs = 3;
    expect_same({spec}, 2);
  }
}

TEST(Slices, AreTransformedAndCopiedAsTheWhole) {
  GeometrySpec spec = box(5, 4, 5);
  spec.normalize_mesh = true;
  spec.transformation.dimensions = Eigen::Vector3d(2, -1, 0.3);
  spec.transformation.rotation = {10, 20, 30};
  spec.transformation.translation = Eigen::Vector3d(1, 2, 3);
  spec.array = ArrayCopies{{2, 1, 3}, 1.5, true};
  GeometrySpec other = box(4, 4, 4);
  other.name = "other";
  other.n_refs = 1;
  expect_same({spec, other, spec}, 3);
}

TEST(Slices, AreSelectedFromAsTheWhole) {
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero(), one = Eigen::Vector3d::Ones();
  const std::vector<SelectionShape> shapes{BoxSelection{zero, one},
                                           SphereSelection{zero, 0.9},
                                           CylinderSelection{zero, one, 0.4},
                                           AxisSelection{-1, -0.5},
                                           AxisSelection{3, 1.5},
                                           PlaneSelection{zero, one},
                                           BoxSelection{4 * one, 5 * one},
                                           ThresholdSelection{-1, 20},
                                           EverythingSelection{},
                                           IdOffsetSelection{7}};
  for (const bool relative : {false, true})
    for (const bool boundary_only : {false, true}) {
      GeometrySpec spec = box(4, 4, 5);
      spec.n_refs = relative ? 1 : 0;
      int id = 1;
      for (const SelectionShape& shape : shapes) {
        spec.surface_selection.push_back(select(id, shape, relative, boundary_only));
        spec.point_selection.push_back(select(id, shape, relative, boundary_only));
        spec.volume_selection.push_back(select(id++, shape, relative, boundary_only));
        expect_same({spec, spec}, 3);
      }
    }
}

/// A file with one line for each of `count` numbers.
void write_lines(const std::filesystem::path& path, std::int64_t count, const auto& line) {
  std::ofstream out(path);
  for (std::int64_t k = 0; k < count; ++k) out << line(k) << '\n';
}

TEST(Slices, ReadFilesOfSelectionsAsTheWhole) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::TemporaryFolder folder(comm);
  GeometrySpec spec = box(3, 4, 4);
  spec.n_refs = 1;
  const BodyMesh mesh = [&] {
    BodyMesh body = body_mesh(generate(*spec.generator, ""), "");
    refine(body, 1, "");
    return body;
  }();
  const auto facets = find_boundary(mesh, "").num_all_facets;
  const auto file = [&](const char* name) { return folder.path() / name; };
  if (comm.rank() == 0) {
    const auto number = [](std::int64_t k) { return k % 5; };
    write_lines(file("facets"), facets, number);
    write_lines(file("cells"), std::ssize(mesh.cells), number);
    write_lines(file("vertices"), std::ssize(mesh.vertices), number);
    write_lines(file("rows"), 40, [&](std::int64_t k) {
      const auto& cell = mesh.cells[static_cast<std::size_t>(17 * k)];
      std::string row = std::to_string(50 + k);
      for (const std::int32_t v : cell) row += " " + std::to_string(v);
      return row;
    });
    write_lines(file("points"), 40,
                [](std::int64_t k) { return std::to_string(3 + k) + " " + std::to_string(5 * k); });
  }
  comm.barrier();
  spec.surface_selection = {select(1, FileSelection{file("facets")})};
  spec.volume_selection = {select(1, FileSelection{file("cells")})};
  spec.point_selection = {select(1, FileSelection{file("vertices")}, false, false)};
  expect_same({spec}, 3);
  spec.volume_selection = {select(1, FileSelection{file("rows")})};
  spec.point_selection = {select(1, FileSelection{file("points")}), select(2, EverythingSelection{})};
  expect_same({spec}, 3);
  comm.barrier();
}

/// A box of tetrahedra with physical groups on its sides z < 0 and a vertex of no cell among the others.
void write_gmsh(const std::filesystem::path& path) {
  const BodyMesh mesh = body_mesh(generate(*box(4, 4, 4).generator, ""), "");
  constexpr int lone = 7;
  const auto number = [](std::int32_t v) { return v + 1 + (v + 1 >= lone ? 1 : 0); };
  std::ofstream out(path);
  out << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" << mesh.vertices.size() + 1 << "\n";
  for (std::int32_t v = 0; v < std::ssize(mesh.vertices); ++v) {
    if (v + 1 == lone) out << lone << " 3 3 3\n";
    out << number(v) << " " << mesh.vertices[static_cast<std::size_t>(v)].transpose() << "\n";
  }
  const auto boundary = find_boundary(mesh, "");
  out << "$EndNodes\n$Elements\n" << mesh.cells.size() + boundary.facets.size() << "\n";
  int element = 0;
  for (const BoundaryFacet& facet : boundary.facets) {
    const auto v = facet_vertices(mesh, facet);
    const int group = mesh.vertices[static_cast<std::size_t>(v[0])].z() < 0 ? 11 : 12;
    out << ++element << " 2 2 " << group << " 1";
    for (const std::int32_t corner : v) out << " " << number(corner);
    out << "\n";
  }
  for (const auto& cell : mesh.cells) {
    out << ++element << " 4 2 5 2";
    for (const std::int32_t corner : cell) out << " " << number(corner);
    out << "\n";
  }
  out << "$EndElements\n";
}

TEST(Slices, ComeFromFiles) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::TemporaryFolder folder(comm);
  if (comm.rank() == 0) write_gmsh(folder.path() / "box.msh");
  comm.barrier();
  GeometrySpec spec;
  spec.name = "file";
  spec.mesh = folder.path() / "box.msh";
  spec.file_scale = 1e-3;
  spec.point_selection = {select(4, BoxSelection{{-1, -1, -1}, {0, 0, 0}})};
  expect_same({spec}, 3);
  spec.surface_selection = {select(1, GroupSelection{11}), select(2, IdOffsetSelection{100})};
  spec.n_refs = 2;
  expect_same({spec, box(4, 4, 4), spec}, 3);
  comm.barrier();
}

std::string message_of(const auto& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Slices, RefuseOnEveryRankWhatTheWholeRefuses) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  std::vector<GeometrySpec> wrong(5, box(4, 5, 6));
  wrong[0].transformation.scale = Eigen::Vector3d(1, 1, 0);
  wrong[1].n_refs = -1;
  wrong[2].array = ArrayCopies{{2, 0, 3}, 1.5, true};
  wrong[3].point_selection = {select(1, FileSelection{"no-such-file"})};
  wrong[4].generator->size = {1, 2};
  for (const GeometrySpec& spec : wrong) {
    const std::vector<GeometrySpec> specs{spec};
    const std::string whole = message_of([&] { assemble_geometry(specs, 3); });
    std::vector<EmptySelection> empty;
    MeshFiles files;
    EXPECT_EQ(message_of([&] { assemble_slices(comm, specs, 3, files, empty); }), whole);
    EXPECT_NE(whole, "no error");
  }
}

TEST(Slices, HaveTheQualityOfTheWhole) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const std::vector<GeometrySpec> specs{box(4, 5, 6), entry(GeneratorShape::ball, {}, {3})};
  std::vector<EmptySelection> empty;
  MeshFiles files;
  const auto whole = body_quality(assemble_geometry(specs, 3).deformable);
  const auto found = body_quality(comm, assemble_slices(comm, specs, 3, files, empty));
  ASSERT_EQ(found.size(), whole.size());
  for (std::size_t b = 0; b < whole.size(); ++b) {
    EXPECT_EQ(found[b].cells, whole[b].cells);
    EXPECT_EQ(found[b].worst_cell, whole[b].worst_cell);
    EXPECT_EQ(found[b].min_scaled_jacobian, whole[b].min_scaled_jacobian);
    EXPECT_EQ(found[b].max_edge, whole[b].max_edge);
    EXPECT_NEAR(found[b].volume, whole[b].volume, 1e-13 * whole[b].volume);
    EXPECT_NEAR(found[b].mean_scaled_jacobian, whole[b].mean_scaled_jacobian, 1e-13);
    EXPECT_EQ(found[b].box.min(), whole[b].box.min());
  }
}

SlicedMesh slices_of(const parallel::Communicator& comm, const std::vector<GeometrySpec>& specs, int dim) {
  std::vector<EmptySelection> empty;
  MeshFiles files;
  return assemble_slices(comm, specs, dim, files, empty);
}

/// The rank that owns each cell of `mesh`, on every rank.
template <int dim>
std::vector<int> owners_of_cells(const DistributedMesh<dim>& mesh) {
  const parallel::Communicator& comm = *mesh.comm;
  std::vector<GlobalIndex> own;
  for (std::size_t c = 0; c < static_cast<std::size_t>(mesh.num_owned_cells); ++c) {
    own.push_back(mesh.cell_ids[c]);
    own.push_back(comm.rank());
  }
  std::vector<int> owners(static_cast<std::size_t>(mesh.num_cells_global), -1);
  const auto all = comm.all_gather_parts(own);
  for (std::size_t k = 0; k + 1 < all.size(); k += 2)
    owners[static_cast<std::size_t>(all[k])] = static_cast<int>(all[k + 1]);
  return owners;
}

// With the parts that the whole mesh is cut into, slices become the same bits.
template <int dim>
void expect_same_distribution(const std::vector<GeometrySpec>& specs) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  SimplexMesh whole;
  whole.dim = dim;
  if (comm.rank() == 0) whole = assemble_geometry(specs, dim).deformable;
  const DistributedMesh<dim> expected = distribute<dim>(comm, whole);
  const std::vector<int> owners = owners_of_cells(expected);
  SlicedMesh slices = slices_of(comm, specs, dim);
  std::vector<int> parts;
  for (const std::int32_t id : slices.cell_ids) parts.push_back(owners[static_cast<std::size_t>(id)]);
  const DistributedMesh<dim> mesh = distribute_slices<dim>(comm, std::move(slices), parts);
  EXPECT_EQ(mesh.num_vertices_global, expected.num_vertices_global);
  EXPECT_EQ(mesh.num_cells_global, expected.num_cells_global);
  EXPECT_EQ(mesh.num_owned_vertices, expected.num_owned_vertices);
  EXPECT_EQ(mesh.num_owned_cells, expected.num_owned_cells);
  EXPECT_EQ(mesh.vertices, expected.vertices);
  EXPECT_EQ(mesh.vertex_ids, expected.vertex_ids);
  EXPECT_EQ(mesh.vertex_owner, expected.vertex_owner);
  EXPECT_EQ(mesh.vertex_point_id, expected.vertex_point_id);
  EXPECT_EQ(mesh.cells, expected.cells);
  EXPECT_EQ(mesh.cell_ids, expected.cell_ids);
  EXPECT_EQ(mesh.cell_body, expected.cell_body);
  EXPECT_EQ(mesh.cell_volume_id, expected.cell_volume_id);
  EXPECT_EQ(mesh.cell_source, expected.cell_source);
  EXPECT_EQ(mesh.facet_ids, expected.facet_ids);
  EXPECT_EQ(mesh.body_names, expected.body_names);
  EXPECT_EQ(mesh.min_corner, expected.min_corner);
  EXPECT_EQ(mesh.max_corner, expected.max_corner);
}

TEST(Slices, AreDistributedAsTheWhole) {
  GeometrySpec spec = box(5, 4, 5);
  spec.surface_selection = {select(3, AxisSelection{-1, -0.5})};
  spec.volume_selection = {select(2, SphereSelection{Eigen::Vector3d::Zero(), 0.9})};
  spec.point_selection = {select(4, AxisSelection{2, 1})};
  spec.n_refs = 1;
  GeometrySpec other = box(4, 4, 4);
  other.name = "other";
  other.transformation.translation = Eigen::Vector3d(1.1, 0, 0);
  expect_same_distribution<3>({spec, other});
  expect_same_distribution<2>({entry(GeneratorShape::rectangle, {2, 1}, {19, 21})});
  // two triangles: some ranks own nothing
  expect_same_distribution<2>({entry(GeneratorShape::rectangle, {1, 1}, {1, 1})});
}

TEST(Slices, RefuseAnEmptyMeshOnEveryRank) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  EXPECT_THROW(distribute_slices<3>(comm, SlicedMesh(), {}), InputError);
}

/// Cells of the heaviest part over the mean.
double imbalance(const parallel::Communicator& comm, const SlicedMesh& slices, const std::vector<int>& parts,
                 const std::vector<int>& weights) {
  std::vector<double> work(static_cast<std::size_t>(comm.size()), 0);
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const auto body = static_cast<std::size_t>(slices.share.cell_body[c]);
    work[static_cast<std::size_t>(parts[c])] += weights[body];
  }
  comm.sum(std::span(work));
  double sum = 0;
  for (const double own : work) sum += own;
  return *std::ranges::max_element(work) * comm.size() / sum;
}

TEST(PartitionOfSlices, BalancesWorkAndCutsLittle) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const std::vector<GeometrySpec> specs{entry(GeneratorShape::box, {1, 1, 1}, {18, 18, 18})};
  SlicedMesh slices = slices_of(comm, specs, 3);
  const auto parts = partition_slices(comm, slices);
  EXPECT_EQ(parts, partition_slices(comm, slices)) << "same input, same parts";
  EXPECT_LT(imbalance(comm, slices, parts, {1}), 1.05);
  const auto mesh = distribute_slices<3>(comm, std::move(slices), parts);
  SimplexMesh whole;
  if (comm.rank() == 0) whole = assemble_geometry(specs, 3).deformable;
  const auto by_metis = distribute<3>(comm, whole);
  const auto ghosts = [&](const auto& of) {
    return comm.sum(GlobalIndex{of.num_vertices() - of.num_owned_vertices});
  };
  EXPECT_LE(double(ghosts(mesh)), 1.25 * double(ghosts(by_metis)));
}

TEST(PartitionOfSlices, WeighsBodies) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  GeometrySpec other = box(10, 10, 10);
  other.transformation.translation = Eigen::Vector3d(1, 0, 0);
  const SlicedMesh slices = slices_of(comm, {box(10, 10, 10), other}, 3);
  EXPECT_LT(imbalance(comm, slices, partition_slices(comm, slices, {{1, 8}}), {1, 8}), 1.1);
}

// As many bodies as whole numbers of them on up to four ranks.
TEST(PartitionOfSlices, KeepsBodiesTogether) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  std::vector<GeometrySpec> specs;
  for (int body = 0; body < 24; ++body) {
    specs.push_back(entry(GeneratorShape::box, {1, 1, 1}, {2, 2, 2}));
    specs.back().transformation.translation = Eigen::Vector3d(1.5 * (body * 7 % 24), 0, 0);
  }
  const SlicedMesh slices = slices_of(comm, specs, 3);
  const auto parts = partition_slices(comm, slices);
  std::set<std::pair<GlobalIndex, GlobalIndex>> pieces;
  for (std::size_t c = 0; c < parts.size(); ++c) pieces.emplace(slices.share.cell_body[c], parts[c]);
  std::vector<GlobalIndex> own;
  for (const auto& [body, part] : pieces) own.push_back(body * comm.size() + part);
  const auto all = comm.all_gather_parts(own);
  EXPECT_EQ(std::ssize(std::set(all.begin(), all.end())), 24) << "no body is cut";
}

TEST(PartitionOfSlices, TakesFewerCellsThanRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const SlicedMesh slices = slices_of(comm, {entry(GeneratorShape::rectangle, {1, 1}, {1, 1})}, 2);
  for (const int part : partition_slices(comm, slices)) {
    EXPECT_GE(part, 0);
    EXPECT_LT(part, comm.size());
  }
}

} // namespace
} // namespace recoil::mesh
