#include "recoil/linalg/generalized_eigenpairs.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace recoil::linalg::generalized_eigenpairs_test {

/// Matrix of a chain of points on all ranks with the given entries on and beside the diagonal; the first and
/// the last row have `end` on it.
struct Chain {
  static constexpr GlobalIndex size = 60;
  parallel::Communicator comm{MPI_COMM_WORLD};
  std::shared_ptr<VectorLayout> layout = std::make_shared<VectorLayout>();
  std::shared_ptr<NodeGraph> graph = std::make_shared<NodeGraph>();

  Chain() {
    const GlobalIndex begin = size * comm.rank() / comm.size(), end = size * (comm.rank() + 1) / comm.size();
    layout->comm = &comm;
    layout->num_owned = static_cast<LocalIndex>(end - begin);
    layout->offset = begin;
    layout->num_global = size;
    if (begin > 0) layout->ghosts.push_back(begin - 1);
    if (end < size) layout->ghosts.push_back(end);
    graph->offsets.push_back(0);
    for (GlobalIndex row = begin; row < end; ++row) {
      for (const GlobalIndex column : {row - 1, row, row + 1})
        if (column >= 0 && column < size) graph->neighbours.push_back(local(column));
      graph->offsets.push_back(std::ssize(graph->neighbours));
    }
  }

  LocalIndex local(GlobalIndex point) const {
    const GlobalIndex own = point - layout->offset;
    if (own >= 0 && own < layout->num_owned) return static_cast<LocalIndex>(own);
    return layout->num_owned + (own < 0 || layout->offset == 0 ? 0 : 1);
  }

  BlockMatrix matrix(double diagonal, double beside, double end) const {
    BlockMatrix matrix(layout, graph);
    const auto values = matrix.begin_filling();
    for (LocalIndex row = 0; row < layout->num_owned; ++row)
      for (std::int64_t k = graph->offsets[row]; k < graph->offsets[row + 1]; ++k) {
        const LocalIndex column = graph->neighbours[k];
        const GlobalIndex point = layout->offset + row;
        const double entry = column != row ? beside : point == 0 || point == size - 1 ? end : diagonal;
        values.add<1>(row, matrix.position(row, column), &entry, 1);
      }
    matrix.finish_filling();
    return matrix;
  }
};

TEST(GeneralizedEigenpairs, OfAChainAreCosines) {
  const Chain chain;
  const BlockMatrix A = chain.matrix(2, -1, 1), B = chain.matrix(0.5, 0, 0.5);
  const auto [values, vectors] = smallest_eigenpairs(A, B, 5, 1e-3);
  ASSERT_EQ(values.size(), 5u);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double wave = double(k) * std::numbers::pi / Chain::size;
    EXPECT_NEAR(values[k], 2 * (2 - 2 * std::cos(wave)), 1e-9);
    Vector Ax(chain.layout), Bx(chain.layout);
    A.multiply(vectors[k], Ax);
    B.multiply(vectors[k], Bx);
    for (std::size_t j = 0; j <= k; ++j) EXPECT_NEAR(vectors[j].dot(Bx), j == k ? 1 : 0, 1e-9);
    Ax.add(-values[k], Bx);
    EXPECT_LT(Ax.norm(), 1e-8);
  }
}

TEST(GeneralizedEigenpairs, AreAsManyAsTheMatrixHas) {
  const Chain chain;
  EXPECT_TRUE(smallest_eigenpairs(chain.matrix(2, -1, 1), chain.matrix(1, 0, 1), 0, 1e-3).values.empty());
}

} // namespace recoil::linalg::generalized_eigenpairs_test
