#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include <petsc/private/petscimpl.h>

#include "linalg/symmetric_blocks.hpp"
#include "recoil/linalg/block_matrix.hpp"

namespace recoil::symmetric_blocks_test {
namespace {

using linalg::BlockMatrix;
using linalg::NodeGraph;
using linalg::SymmetricBlocks;
using linalg::Vector;
using linalg::VectorLayout;

/// Nodes on a line, each of which couples with those up to three further on: six of the first rank, none of
/// the second, five of all others.
template <class Size>
class SymmetricBlocksTest : public ::testing::Test {
protected:
  static constexpr int size = Size::value;
  static constexpr GlobalIndex reach = 3;
  parallel::Communicator comm{MPI_COMM_WORLD};
  std::shared_ptr<const VectorLayout> layout = make_layout();
  std::shared_ptr<const NodeGraph> graph = make_graph();

  LocalIndex owned_by(int rank) const { return rank == 0 ? 6 : rank == 1 ? 0 : 5; }
  std::shared_ptr<const VectorLayout> make_layout() const {
    auto result = std::make_shared<VectorLayout>();
    result->comm = &comm;
    result->block_size = size;
    result->num_owned = owned_by(comm.rank());
    for (int rank = 0; rank < comm.size(); ++rank) {
      if (rank < comm.rank()) result->offset += owned_by(rank);
      result->num_global += owned_by(rank);
    }
    const GlobalIndex end = result->offset + result->num_owned;
    for (GlobalIndex node = 0; node < result->num_global; ++node)
      if (result->num_owned > 0 && (node < result->offset || node >= end) && node >= result->offset - reach &&
          node < end + reach)
        result->ghosts.push_back(node);
    return result;
  }
  std::shared_ptr<const NodeGraph> make_graph() const {
    auto result = std::make_shared<NodeGraph>();
    result->offsets.push_back(0);
    for (LocalIndex row = 0; row < layout->num_owned; ++row) {
      for (GlobalIndex other = 0; other < layout->num_global; ++other)
        if (std::abs(other - layout->global(row)) <= reach)
          for (LocalIndex local = 0; local < layout->num_local(); ++local)
            if (layout->global(local) == other) result->neighbours.push_back(local);
      result->offsets.push_back(std::ssize(result->neighbours));
    }
    return result;
  }
  static double entry(GlobalIndex row, GlobalIndex column, double factor) {
    return std::sin(factor * static_cast<double>(1000 * std::min(row, column) + std::max(row, column)));
  }
  void fill(BlockMatrix& matrix, double factor) const {
    matrix.set_zero();
    const auto values = matrix.begin_filling();
    for (LocalIndex row = 0; row < layout->num_owned; ++row)
      for (auto k = graph->offsets[row]; k < graph->offsets[row + 1]; ++k) {
        const LocalIndex column = graph->neighbours[k];
        std::array<double, size * size> block{};
        for (int i = 0; i < size; ++i)
          for (int j = 0; j < size; ++j)
            block[size * i + j] =
                entry(size * layout->global(row) + i, size * layout->global(column) + j, factor);
        values.template add<size>(row, matrix.position(row, column), block.data(), size);
      }
    matrix.finish_filling();
  }
  void expect_same_products(const BlockMatrix& matrix, const SymmetricBlocks& blocks) const {
    Vector x(layout), y(layout), expected(layout);
    const auto entries = x.write_owned();
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = std::cos(static_cast<double>(size * layout->offset) + 7.0 * i);
    RECOIL_PETSC(MatMult(matrix.get(), x.get(), expected.get()));
    RECOIL_PETSC(MatMult(blocks.get(), x.get(), y.get()));
    EXPECT_GT(expected.norm(), 1);
    y.add(-1, expected);
    EXPECT_LT(y.norm(), 1e-13 * expected.norm());
  }
};

using Sizes = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>,
                               std::integral_constant<int, 6>>;
TYPED_TEST_SUITE(SymmetricBlocksTest, Sizes);

TYPED_TEST(SymmetricBlocksTest, MultiplyAsTheMatrixDoes) {
  BlockMatrix matrix(this->layout, this->graph), other(this->layout, this->graph);
  SymmetricBlocks blocks;
  this->fill(matrix, 1);
  blocks.take(matrix.get());
  this->expect_same_products(matrix, blocks);
  this->fill(matrix, 2);
  blocks.take(matrix.get());
  this->expect_same_products(matrix, blocks);
  this->fill(other, 3);
  blocks.take(other.get());
  this->expect_same_products(other, blocks);
}

TYPED_TEST(SymmetricBlocksTest, TellPetscThatTheyHaveChanged) {
  BlockMatrix matrix(this->layout, this->graph);
  SymmetricBlocks blocks;
  this->fill(matrix, 1);
  blocks.take(matrix.get());
  PetscObjectState before = 0, after = 0;
  RECOIL_PETSC(PetscObjectStateGet(reinterpret_cast<PetscObject>(blocks.get()), &before));
  blocks.take(matrix.get());
  RECOIL_PETSC(PetscObjectStateGet(reinterpret_cast<PetscObject>(blocks.get()), &after));
  EXPECT_NE(before, after);
}

TEST(SymmetricBlocksSizesTest, AreThoseOfUnrolledLoops) {
  EXPECT_FALSE(SymmetricBlocks::can_take(1));
  EXPECT_FALSE(SymmetricBlocks::can_take(4));
  EXPECT_TRUE(SymmetricBlocks::can_take(3));
}

} // namespace
} // namespace recoil::symmetric_blocks_test
