// Energies of fracture modes against linear programs solved by CLP.

#include <limits>

#include <gtest/gtest.h>

#include "fracture_modes/bars.hpp"
#include "fracture_modes/linear_program.hpp"
#include "recoil/solvers/fracture_modes/piece_graph.hpp"
#include "recoil/solvers/fracture_modes/vector_modes.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

using Rows = std::vector<std::vector<double>>; ///< one number per piece each

/// The least E_D of fields v on pieces with row . v = 0 for all rows but the last, 1 for that:
/// min sum w_l (p_l + n_l), p_l - n_l = v_a - v_b, p, n >= 0.
double least_energy(const PieceGraph& graph, const Rows& rows) {
  constexpr double free = -1e30;
  const int links = static_cast<int>(graph.links.size());
  test::LinearProgram program(links + static_cast<int>(rows.size()));
  std::vector<std::vector<test::LinearProgram::Entry>> of_piece(graph.size());
  for (int l = 0; l < links; ++l) {
    const PieceGraph::Link& link = graph.links[l];
    program.add_column(link.weight, 0, {{l, 1}});
    program.add_column(link.weight, 0, {{l, -1}});
    of_piece[link.a].push_back({l, -1});
    of_piece[link.b].push_back({l, 1});
  }
  for (int p = 0; p < graph.size(); ++p) {
    // Entries of rounding alone would mislead the scaling.
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (std::abs(rows[r][p]) > 1e-14) of_piece[p].push_back({links + static_cast<int>(r), rows[r][p]});
    program.add_column(0, free, of_piece[p]);
  }
  program.set_right(links + static_cast<int>(rows.size()) - 1, 1);
  return program.least_cost().value_or(std::numeric_limits<double>::infinity());
}

template <int dim>
void check_linear_programs(std::vector<int> divisions, double amount, unsigned seed) {
  SCOPED_TRACE(seed);
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const test::Broken<dim> broken(comm, test::necked_bar(std::move(divisions), amount, seed),
                                 {.count = 4, .least_piece = 0});
  const ElementGraph& graph = broken.graph;
  const GatheredPieces pieces = gather_pieces(graph, std::vector<char>(graph.faces.size(), 0));
  Rows rows;
  for (const auto& constant : broken.modes.constants)
    rows.push_back(sum_over_pieces(graph, pieces, constant.owned()));
  ASSERT_EQ(broken.modes.modes.size(), 4u);
  for (const FractureMode& mode : broken.modes.modes) {
    rows.push_back(sum_over_pieces(graph, pieces, mode.field.owned()));
    EXPECT_NEAR(mode.energy, least_energy(pieces.graph, rows), 1e-8 * mode.energy);
  }
}

TEST(LinearPrograms, GiveTheEnergiesOfScalarModes2D) {
  for (unsigned seed = 1; seed <= 5; ++seed) check_linear_programs<2>({8, 4}, 0.05, seed);
}
TEST(LinearPrograms, GiveTheEnergiesOfScalarModes3D) {
  for (unsigned seed = 1; seed <= 5; ++seed) check_linear_programs<3>({3, 2, 1}, 0.08, seed);
}

/// Vector modes along one axis: with T = diag(1, 1000) the first ones move along x alone, and their convex
/// problems among such fields are linear programs.
TEST(LinearPrograms, GiveTheEnergiesOfVectorModesAlongAnAxis) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const test::Broken<2> broken(comm, test::necked_bar({6, 3}, 0.05, seed), {.count = 3, .least_piece = 0});
    const ElementGraph& graph = broken.graph;
    const JumpTensors<2> tensors(graph.layout->num_owned, Eigen::Vector2d(1, 1000).asDiagonal());
    const VectorModes modes =
        find_vector_modes<2>(graph, tensors, start_fields(VertexMatrices<2>(broken.mesh), 5), broken.modes,
                             {.count = 3, .least_piece = 0});
    const GatheredPieces pieces = gather_pieces(graph, std::vector<char>(graph.faces.size(), 0));
    Rows rows;
    const auto add = [&](const linalg::Vector& field) {
      std::vector<double> along(graph.layout->num_owned);
      for (std::size_t e = 0; e < along.size(); ++e) along[e] = field.owned()[2 * e];
      rows.push_back(sum_over_pieces(graph, pieces, along));
    };
    add(modes.constants.at(0));
    for (const VectorMode& mode : modes.modes) {
      add(mode.field);
      EXPECT_NEAR(mode.energy, least_energy(pieces.graph, rows), 1e-8 * mode.energy);
    }
  }
}

} // namespace
} // namespace recoil::solvers::fracture_modes
