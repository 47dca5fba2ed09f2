#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "fracture_modes/bars.hpp"
#include "fracture_modes/simplex.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/solvers/fracture_modes/piece_graph.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

using test::Broken;

constexpr double inf = std::numeric_limits<double>::infinity();

/// The fields of all modes, constants first.
std::vector<const linalg::Vector*> all_fields(const FractureModes& modes) {
  std::vector<const linalg::Vector*> fields;
  for (const auto& constant : modes.constants) fields.push_back(&constant);
  for (const FractureMode& mode : modes.modes) fields.push_back(&mode.field);
  return fields;
}

template <int dim>
void expect_orthonormal(const Broken<dim>& broken) {
  const auto fields = all_fields(broken.modes);
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      EXPECT_NEAR(mass_product(broken.graph, fields[i]->local(), fields[j]->local()), i == j ? 1 : 0, 1e-10);
  for (const FractureMode& mode : broken.modes.modes)
    EXPECT_NEAR(discontinuity_energy(broken.graph, mode.field.local()), mode.energy, 1e-10 * mode.energy);
}

/// E_D of the level sets of `field`, made orthogonal to the first `before` modes; the least of up to 40.
template <int dim>
double best_sweep_cut(const Broken<dim>& broken, const linalg::Vector& field, std::size_t before) {
  const parallel::Communicator& comm = broken.graph.comm();
  const auto owned = field.owned();
  std::vector<double> values = parallel::gather(comm, 0, std::vector<double>(owned.begin(), owned.end()));
  comm.broadcast(values);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  double least = inf;
  for (int k = 0; k < 40; ++k) {
    const std::size_t place = std::min(values.size() - 1, std::size_t(double(k + 1) * values.size() / 41));
    linalg::Vector set(field.shared_layout());
    const auto to = set.write_local();
    for (std::size_t e = 0; e < to.size(); ++e) to[e] = field.local()[e] >= values[place] ? 1 : 0;
    const double size = mass_product(broken.graph, set.local(), set.local());
    const auto fields = all_fields(broken.modes);
    for (std::size_t i = 0; i < broken.modes.constants.size() + before; ++i)
      set.add(-mass_product(broken.graph, set.local(), fields[i]->local()), *fields[i]);
    const double rest = mass_product(broken.graph, set.local(), set.local());
    if (rest > 1e-4 * size)
      least = std::min(least, discontinuity_energy(broken.graph, set.local()) / std::sqrt(rest));
  }
  return least;
}

/// The least E_D of fields v orthogonal to constants and the first `mode` modes with c' M v = 1, c that mode.
/// Every rank solves it for itself.
template <int dim>
double oracle(const Broken<dim>& broken, std::size_t mode) {
  const auto& graph = broken.graph;
  const GatheredPieces pieces = gather_pieces(graph, std::vector<char>(graph.faces.size(), 0));
  const PieceGraph& all = pieces.graph;
  const auto fields = all_fields(broken.modes);
  const std::size_t conditions = broken.modes.constants.size() + mode + 1;
  const Eigen::Index links = all.links.size(), n = all.size();
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(links + conditions, 2 * links + 2 * n);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(A.rows()), cost = Eigen::VectorXd::Zero(A.cols());
  for (Eigen::Index k = 0; k < links; ++k) {
    const auto& [p, q, weight] = all.links[k];
    A(k, 2 * k) = 1;
    A(k, 2 * k + 1) = -1;
    A(k, 2 * links + p) = A(k, 2 * links + n + q) = -1;
    A(k, 2 * links + q) = A(k, 2 * links + n + p) = 1;
    cost[2 * k] = cost[2 * k + 1] = weight;
  }
  for (std::size_t i = 0; i < conditions; ++i) {
    const std::vector<double> row = sum_over_pieces(graph, pieces, fields[i]->owned());
    for (Eigen::Index p = 0; p < n; ++p) {
      A(links + i, 2 * links + p) = row[p];
      A(links + i, 2 * links + n + p) = -row[p];
    }
  }
  b[A.rows() - 1] = 1;
  return test::least_cost(A, b, cost).value_or(inf);
}

TEST(ElementGraph, HoldsEveryFaceAndMassOnce) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh =
      mesh::distribute<3>(comm, comm.rank() == 0 ? test::bar_mesh({4, 2, 2}) : Broken<3>::empty());
  const ElementGraph graph = explode<3>(mesh);
  const double mass = std::accumulate(graph.masses.begin(), graph.masses.begin() + mesh.num_owned_cells, 0.0);
  EXPECT_NEAR(comm.sum(mass), 2, 1e-12);
  GlobalIndex faces = 0;
  double tv = 0;
  for (const ElementFace& face : graph.faces) {
    EXPECT_LT(graph.cell_ids[face.a], graph.cell_ids[face.b]);
    EXPECT_TRUE(face.a < mesh.num_owned_cells || face.b < mesh.num_owned_cells);
    faces += face.counted ? 1 : 0;
    tv += face.counted ? face.weight : 0;
  }
  GlobalIndex boundary = 0;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    for (const auto id : mesh.facet_ids[cell]) boundary += id == mesh::interior_facet ? 0 : 1;
  EXPECT_EQ(4 * mesh.num_cells_global, 2 * comm.sum(faces) + comm.sum(boundary));
  // x on the elements left of the plane x = 0 and not right of it has the area of the plane.
  linalg::Vector half(graph.layout);
  const auto values = half.write_owned();
  for (std::size_t e = 0; e < values.size(); ++e) {
    double x = 0;
    for (const LocalIndex v : mesh.cells[e]) x += mesh.vertices[v].x();
    values[e] = x < 0 ? 1 : 0;
  }
  half.update_ghosts();
  EXPECT_NEAR(discontinuity_energy(graph, half.local()), 1, 1e-12);
  const ElementGraph twice = explode<3>(mesh, {.weight = FaceWeight::reference_code});
  EXPECT_NEAR(discontinuity_energy(twice, half.local()), 2, 1e-12);
  // Eight triangles of area 1/8 in the plane.
  const ElementGraph root = explode<3>(mesh, {.weight = FaceWeight::paper});
  EXPECT_NEAR(discontinuity_energy(root, half.local()), 8 * std::sqrt(1 / 8.0), 1e-12);
}

TEST(ElementGraph, RefusesFactorsThatAreNotPositive) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = mesh::distribute<2>(comm, comm.rank() == 0 ? test::bar_mesh({4, 2}) : Broken<2>::empty());
  EXPECT_THROW(
      explode<2>(mesh, {.toughness = [&](LocalIndex c) { return mesh.cell_ids[c] == 3 ? 0.0 : 1.0; }}),
      InputError);
}

TEST(PieceGraph, DoesNotDependOnRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(comm.split(comm.rank()));
  const mesh::SimplexMesh whole = test::bar_mesh({6, 3});
  const auto graph_on = [&](const parallel::Communicator& on) {
    const auto mesh = mesh::distribute<2>(on, on.rank() == 0 ? whole : Broken<2>::empty());
    const ElementGraph graph = explode<2>(mesh);
    std::vector<char> joined;
    for (const ElementFace& face : graph.faces)
      joined.push_back((graph.cell_ids[face.a] * 7 + graph.cell_ids[face.b]) % 3 == 0 ? 1 : 0);
    return gather_pieces(graph, joined).graph;
  };
  const PieceGraph together = graph_on(comm), one = graph_on(alone);
  ASSERT_EQ(together.size(), one.size());
  ASSERT_EQ(together.links.size(), one.links.size());
  for (int p = 0; p < one.size(); ++p) EXPECT_NEAR(together.masses[p], one.masses[p], 1e-15);
  for (std::size_t k = 0; k < one.links.size(); ++k) {
    EXPECT_EQ(together.links[k].a, one.links[k].a);
    EXPECT_EQ(together.links[k].b, one.links[k].b);
    EXPECT_NEAR(together.links[k].weight, one.links[k].weight, 1e-15);
  }
}

/// A bar of length L and section S breaks in the middle, E_1 = 2 S / sqrt(V), then in the quarters, E_2 = 4 S
/// / sqrt(V).
template <int dim>
void check_bar(std::vector<int> divisions) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  std::vector<double> size(dim, 1.0);
  size[0] = 4;
  const Broken<dim> broken(comm, test::bar_mesh(std::move(divisions), size), {.count = 2});
  ASSERT_EQ(broken.modes.modes.size(), 2u);
  ASSERT_EQ(broken.modes.constants.size(), 1u);
  EXPECT_NEAR(broken.modes.modes[0].energy, 1, 1e-9);
  // In 3D a piece of an end costs less than two sections of so short a bar.
  if (dim == 2) {
    EXPECT_NEAR(broken.modes.modes[1].energy, 2, 1e-9);
  } else {
    EXPECT_LT(broken.modes.modes[1].energy, 2 + 1e-9);
  }
  expect_orthonormal(broken);
  const auto field = broken.modes.modes[0].field.local();
  double product = 0; // with the sign of x
  for (LocalIndex cell = 0; cell < broken.mesh.num_owned_cells; ++cell) {
    double x = 0;
    for (const LocalIndex v : broken.mesh.cells[cell]) x += broken.mesh.vertices[v].x();
    product += broken.graph.masses[cell] * field[cell] * (x > 0 ? 1 : -1);
  }
  EXPECT_NEAR(std::abs(comm.sum(product)), 2, 1e-9);
}
TEST(FractureModes, ABarBreaksInTheMiddle2D) { check_bar<2>({16, 4}); }
TEST(FractureModes, ABarBreaksInTheMiddle3D) { check_bar<3>({8, 2, 2}); }

/// Two blocks, of which one is longer, joined by a neck of section s: E = s / sqrt(V a (1 - a)), a the part
/// of the volume on one side of the best plane of the mesh in the neck.
TEST(FractureModes, ADumbbellBreaksInItsNeck) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  mesh::SimplexMesh whole = test::bar_mesh({8, 3, 3}, {8, 3, 3}), kept;
  const auto in_neck = [](double x) { return x > -1 && x < 1; };
  kept = test::carve(whole, [&](const Eigen::Vector3d& center) {
    return !in_neck(center.x()) || (std::abs(center.y()) < 0.5 && std::abs(center.z()) < 0.5);
  });
  kept = test::carve(kept, [](const Eigen::Vector3d& center) { return center.x() < 3; });
  const Broken<3> broken(comm, kept, {.count = 1});
  const double volume = 3 * 9 + 2 + 2 * 9;
  double least = inf;
  for (int plane = 0; plane <= 2; ++plane) {
    const double part = (3 * 9 + plane) / volume;
    least = std::min(least, 1 / std::sqrt(volume * part * (1 - part)));
  }
  ASSERT_EQ(broken.modes.modes.size(), 1u);
  EXPECT_NEAR(broken.modes.modes[0].energy, least, 1e-9);
}

/// The energy of the total variation does not depend on the mesh; that of the paper grows by 2^((dim - 1) /
/// 2) when edges are halved.
TEST(FractureModes, OnlyTotalVariationConverges) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const FaceWeight weight : {FaceWeight::tv, FaceWeight::paper}) {
    const auto energy = [&](int n) {
      return Broken<3>(comm, test::bar_mesh({4 * n, n, n}, {4, 1, 1}), {.count = 1}, {.weight = weight})
          .modes.modes.at(0)
          .energy;
    };
    const double ratio = energy(4) / energy(2);
    EXPECT_NEAR(ratio, weight == FaceWeight::tv ? 1 : 2, weight == FaceWeight::tv ? 1e-9 : 0.1);
  }
}

template <int dim>
void check_random(const std::vector<int>& divisions, double amount, unsigned seed, int count) {
  SCOPED_TRACE(seed);
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(comm.split(comm.rank()));
  const mesh::SimplexMesh mesh = test::necked_bar(divisions, amount, seed);
  const ModeOptions options{.count = count, .least_piece = 0};
  const Broken<dim> broken(comm, mesh, options), one(alone, mesh, options);
  ASSERT_EQ(std::ssize(broken.modes.modes), count);
  expect_orthonormal(broken);
  double before = 0;
  for (int i = 0; i < count; ++i) {
    const FractureMode& mode = broken.modes.modes[i];
    EXPECT_LT(mode.gap, 1e-9);
    EXPECT_GE(mode.energy, before * (1 - 1e-6)) << "mode " << i;
    EXPECT_LE(mode.energy, best_sweep_cut(broken, mode.field, i) * (1 + 1e-9)) << "mode " << i;
    EXPECT_NEAR(mode.energy, one.modes.modes[i].energy, 1e-8 * mode.energy) << "mode " << i;
    before = mode.energy;
  }
  const VertexMatrices<dim> matrices(broken.mesh);
  for (const auto& start : start_fields(matrices, 3))
    EXPECT_LE(broken.modes.modes[0].energy,
              best_sweep_cut(broken, linalg::Vector(broken.graph.layout, start), 0) * (1 + 1e-9));
}
TEST(FractureModes, AreBoundedByCutsAndEqualOnAllRanks2D) {
  for (unsigned seed = 1; seed <= 6; ++seed) check_random<2>({8, 4}, 0.05, seed, 4);
}
TEST(FractureModes, AreBoundedByCutsAndEqualOnAllRanks3D) {
  for (unsigned seed = 1; seed <= 3; ++seed) check_random<3>({4, 2, 2}, 0.08, seed, 4);
}

template <int dim>
void check_oracle(const std::vector<int>& divisions, double amount, unsigned seed) {
  SCOPED_TRACE(seed);
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Broken<dim> broken(comm, test::necked_bar(divisions, amount, seed), {.count = 3, .least_piece = 0});
  for (std::size_t i = 0; i < broken.modes.modes.size(); ++i)
    EXPECT_NEAR(broken.modes.modes[i].energy, oracle(broken, i), 1e-8 * broken.modes.modes[i].energy)
        << "mode " << i;
}
TEST(FractureModes, HaveTheEnergyOfALinearProgram) {
  for (unsigned seed = 1; seed <= 5; ++seed) check_oracle<2>({4, 2}, 0.08, seed);
  for (unsigned seed = 1; seed <= 5; ++seed) check_oracle<3>({2, 1, 1}, 0.1, seed);
}

/// Without a bound the modes of a cube break off single elements and have less energy the smaller these are.
TEST(FractureModes, PiecesAreLargeEnough) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto broken = [&](int n, double least) {
    return Broken<3>(comm, test::bar_mesh({n, n, n}, {1, 1, 1}), {.count = 3, .least_piece = least});
  };
  const double least = 0.08;
  const Broken<3> coarse = broken(4, least), fine = broken(8, least);
  for (const Broken<3>* found : {&coarse, &fine}) {
    const auto field = found->modes.modes.at(0).field.local();
    std::vector<char> joined;
    for (const ElementFace& face : found->graph.faces)
      joined.push_back(std::abs(field[face.a] - field[face.b]) < 1e-9 ? 1 : 0);
    const PieceGraph pieces = gather_pieces(found->graph, joined).graph;
    EXPECT_GE(pieces.size(), 2);
    for (const double mass : pieces.masses) EXPECT_GE(mass, least * (1 - 1e-12));
  }
  const double energy = fine.modes.modes[0].energy;
  EXPECT_NEAR(energy, coarse.modes.modes[0].energy, 0.1 * energy);
  EXPECT_LT(broken(8, 0).modes.modes.at(0).energy, 0.7 * energy);
}

/// Cuts of one mode that run along each other, or along faults of earlier modes, leave nothing light between
/// them.
void check_crumbs(const mesh::SimplexMesh& mesh, int count) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Broken<3> broken(comm, mesh, {.count = count});
  ASSERT_EQ(std::ssize(broken.modes.modes), count);
  expect_orthonormal(broken);
  std::vector<char> joined(broken.graph.faces.size(), 1);
  double before = 0;
  for (const FractureMode& mode : broken.modes.modes) {
    EXPECT_GE(mode.energy, before * (1 - 1e-9));
    before = mode.energy;
    const auto field = mode.field.local();
    for (std::size_t f = 0; f < joined.size(); ++f)
      if (std::abs(field[broken.graph.faces[f].a] - field[broken.graph.faces[f].b]) > 1e-9) joined[f] = 0;
  }
  const PieceGraph pieces = gather_pieces(broken.graph, joined).graph;
  const double whole = std::accumulate(pieces.masses.begin(), pieces.masses.end(), 0.0);
  EXPECT_GT(pieces.size(), count);
  EXPECT_GE(std::ranges::min(pieces.masses), std::min(0.05, 0.25 / (count + 1)) * whole * (1 - 1e-8));
}
TEST(FractureModes, LeaveNoCrumbs) {
  check_crumbs(test::bar_mesh({16, 4, 4}, {4, 1, 1}), 5);
  check_crumbs(test::necked_bar({12, 6, 6}, 0.02, 1), 8);
  const mesh::SimplexMesh block = test::bar_mesh({12, 4, 4}, {12, 4, 4}); // two blocks joined by a bent neck
  check_crumbs(test::carve(block,
                           [](const Eigen::Vector3d& c) {
                             return std::abs(c.x()) > 2 || (c.y() > 0 && std::abs(c.z()) < 1);
                           }),
               4);
}

TEST(FractureModes, PaintedRegionsStayWhole) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh =
      mesh::distribute<2>(comm, comm.rank() == 0 ? test::bar_mesh({16, 4}, {4, 1}) : Broken<2>::empty());
  const auto center = [&](LocalIndex cell) {
    double x = 0;
    for (const LocalIndex v : mesh.cells[cell]) x += mesh.vertices[v].x() / 3;
    return x;
  };
  const auto painted = [&](LocalIndex cell) { return std::abs(center(cell)) < 0.5; };
  const ElementGraph graph = explode<2>(mesh, {.unbreakable = painted});
  const VertexMatrices<2> matrices(mesh);
  const FractureModes modes = find_modes(graph, start_fields(matrices, 4), {.count = 2});
  // The nearest planes to the middle are 0.5 away from it.
  const double part = 1.5 / 4;
  EXPECT_NEAR(modes.modes.at(0).energy, 1 / std::sqrt(4 * part * (1 - part)), 1e-9);
  for (const FractureMode& mode : modes.modes)
    for (const ElementFace& face : graph.faces)
      EXPECT_TRUE(face.breakable || mode.field.local()[face.a] == mode.field.local()[face.b]);
}

TEST(FractureModes, FaultsFollowCleavage) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  FractureMaterial<2> material;
  // Planes x = const are ten times as tough as planes y = const.
  material.fault_factor = [](LocalIndex, const Eigen::Vector2d& n) {
    return std::sqrt(n.y() * n.y() + 100 * n.x() * n.x());
  };
  const Broken<2> broken(comm, test::bar_mesh({8, 4}, {1.5, 1}), {.count = 1}, material);
  EXPECT_NEAR(broken.modes.modes.at(0).energy, 2 * 1.5 / std::sqrt(1.5), 1e-9);
}

TEST(FractureModes, ComponentsHaveTheirOwnConstants) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  mesh::SimplexMesh mesh = test::carve(test::bar_mesh({8, 2}, {4, 1}), [](const Eigen::Vector3d& center) {
    return std::abs(center.x()) > 0.5;
  });
  const Broken<2> broken(comm, mesh, {.count = 2});
  ASSERT_EQ(broken.modes.constants.size(), 2u);
  ASSERT_EQ(broken.modes.modes.size(), 2u);
  expect_orthonormal(broken);
  // Each part, 1.5 long, has no plane in its middle.
  for (const FractureMode& mode : broken.modes.modes)
    EXPECT_NEAR(mode.energy, 1 / std::sqrt(1.5 / 3 * 2 / 3), 1e-9);
}

TEST(FractureModes, FewerThanAskedForWhereThereAreFewElements) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Broken<2> broken(comm, test::bar_mesh({1, 1}), {.count = 5});
  EXPECT_EQ(std::ssize(broken.modes.modes), broken.mesh.num_cells_global - 1);
  expect_orthonormal(broken);
}

/// A search that is left at any moment and taken up from its state has the modes of one that was not left,
/// bitwise.
void check_resumed(const ModeOptions& options) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh =
      mesh::distribute<2>(comm, comm.rank() == 0 ? test::necked_bar({8, 4}, 0.05, 1) : Broken<2>::empty());
  const ElementGraph graph = explode<2>(mesh);
  const VertexMatrices<2> matrices(mesh);
  const auto starts = start_fields(matrices, options.count + 2);
  std::vector<SearchState> states;
  const FractureModes whole = find_modes(graph, starts, options, [&](const SearchProgress& progress) {
    EXPECT_EQ(std::ssize(progress.energies), progress.modes);
    states.push_back(progress.state());
  });
  ASSERT_EQ(std::ssize(whole.modes), options.count);
  ASSERT_GT(std::ssize(states), options.count);
  for (const SearchState& state : states) {
    const FractureModes again = find_modes(graph, starts, options, {}, &state);
    ASSERT_EQ(again.modes.size(), whole.modes.size());
    for (std::size_t i = 0; i < whole.modes.size(); ++i) {
      EXPECT_EQ(again.modes[i].energy, whole.modes[i].energy) << "mode " << i;
      EXPECT_TRUE(std::ranges::equal(again.modes[i].field.local(), whole.modes[i].field.local()));
    }
  }
}
TEST(FractureModes, SearchIsTakenUpAgain) { check_resumed({.count = 3}); }
TEST(MultilevelModes, SearchIsTakenUpAgain) {
  check_resumed({.count = 2, .replicated_elements = 0, .coarse_pieces = 40});
}

/// The elements stay distributed, pieces between candidates for faults are searched.
TEST(DistributedModes, FirstIsThatOfReplicatedElementsAndOthersAreNear) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (unsigned seed = 1; seed <= 2; ++seed) {
    const mesh::SimplexMesh mesh = test::necked_bar({8, 4}, 0.05, seed);
    const Broken<2> replicated(comm, mesh, {.count = 3}),
        distributed(comm, mesh, {.count = 3, .replicated_elements = 0});
    ASSERT_EQ(distributed.modes.modes.size(), 3u);
    expect_orthonormal(distributed);
    // Later modes come from fewer candidates than all cuts of the elements: their energies are a fifth higher
    // at most.
    const auto &found = distributed.modes.modes, &best = replicated.modes.modes;
    EXPECT_NEAR(found[0].energy, best[0].energy, 1e-8 * best[0].energy) << "seed " << seed;
    for (std::size_t i = 1; i < 3; ++i) {
      EXPECT_LE(found[i].energy, 1.2 * best[i].energy) << "mode " << i << " of seed " << seed;
      EXPECT_GE(found[i].energy, found[i - 1].energy * (1 - 1e-6));
    }
  }
}

} // namespace
} // namespace recoil::solvers::fracture_modes
