#include <bit>

#include <gtest/gtest.h>

#include "linalg/stencils.hpp"

namespace recoil::stencil_matrix_test {
namespace {

using linalg::StencilMatrix;
using linalg::Vector;
using testing::Stencil;

/// Nodes spread unevenly over the ranks; the second of three or more ranks owns none.
std::shared_ptr<linalg::VectorLayout> uneven_layout(const parallel::Communicator& comm, int dim) {
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &comm;
  layout->block_size = dim;
  layout->num_owned = comm.size() > 2 && comm.rank() == 1 ? 0 : 5 + 3 * comm.rank();
  layout->offset = comm.exclusive_scan(static_cast<GlobalIndex>(layout->num_owned));
  layout->num_global = comm.sum(static_cast<GlobalIndex>(layout->num_owned));
  if (layout->offset > 0) layout->ghosts = {0};
  return layout;
}

std::vector<std::uint64_t> bits_of(const StencilMatrix& matrix) {
  std::vector<std::uint64_t> bits;
  for (const double value : matrix.rows().blocks) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

class StencilMatrixTest : public ::testing::TestWithParam<int> {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  std::shared_ptr<linalg::VectorLayout> layout = uneven_layout(comm, GetParam());
  GlobalIndex num_nodes = layout->num_global;

  std::vector<Stencil> random(int count, unsigned seed) const {
    return testing::random_stencils(GetParam(), num_nodes, comm.size(), count, seed);
  }

  /// Compares products with every unit vector, and the list of nodes, to the dense sum.
  void expect_equal(const StencilMatrix& matrix, const std::vector<Stencil>& stencils) const {
    const int dim = GetParam();
    const Eigen::MatrixXd expected = testing::dense(stencils, dim, num_nodes);
    Vector x(layout), y(layout);
    const auto first = static_cast<Eigen::Index>(layout->offset * dim);
    const auto size = static_cast<Eigen::Index>(layout->num_owned * dim);
    for (Eigen::Index column = 0; column < dim * num_nodes; ++column) {
      x.fill(0);
      y.fill(7);
      if (column >= first && column < first + size)
        x.write_owned()[static_cast<std::size_t>(column - first)] = 1;
      matrix.multiply(x, y);
      for (Eigen::Index row = 0; row < size; ++row)
        ASSERT_NEAR(y.owned()[static_cast<std::size_t>(row)], expected(first + row, column), 1e-13);
    }
    std::vector<LocalIndex> nodes;
    for (LocalIndex node = 0; node < layout->num_owned; ++node)
      if (!expected.middleRows(first + dim * node, dim).isZero(0)) nodes.push_back(node);
    EXPECT_TRUE(std::ranges::equal(matrix.nodes(), nodes));
    EXPECT_EQ(matrix.num_nodes(), comm.sum(static_cast<GlobalIndex>(nodes.size())));
  }
};

TEST_P(StencilMatrixTest, IsTheDenseSum) {
  StencilMatrix matrix(layout);
  for (const int count : {1, 12, 300}) {
    const auto stencils = random(count, static_cast<unsigned>(count));
    testing::assemble(stencils, matrix);
    expect_equal(matrix, stencils);
    EXPECT_FALSE(matrix.empty());
  }
}

TEST_P(StencilMatrixTest, IsEmptyBeforeTheFirstBlockAndAfterTheLast) {
  StencilMatrix matrix(layout);
  EXPECT_TRUE(matrix.empty());
  testing::assemble(random(5, 1), matrix);
  EXPECT_FALSE(matrix.empty());

  testing::assemble({}, matrix);

  EXPECT_TRUE(matrix.empty());
  expect_equal(matrix, {});
}

TEST_P(StencilMatrixTest, BlocksOfZerosLeaveNoTrace) {
  auto stencils = random(20, 2);
  for (Stencil& stencil : stencils)
    for (std::size_t a = 0; a < stencil.nodes.size(); ++a)
      if (stencil.nodes[a] % 2 == 0) {
        const auto first = GetParam() * static_cast<Eigen::Index>(a);
        stencil.block.middleRows(first, GetParam()).setZero();
        stencil.block.middleCols(first, GetParam()).setZero();
      }
  StencilMatrix matrix(layout);
  testing::assemble(stencils, matrix);
  expect_equal(matrix, stencils);
  for (const LocalIndex node : matrix.nodes()) EXPECT_EQ((layout->offset + node) % 2, 1);
}

TEST_P(StencilMatrixTest, BitsRepeat) {
  const auto stencils = random(400, 3);
  StencilMatrix matrix(layout);
  testing::assemble(stencils, matrix);
  const auto expected = bits_of(matrix);
  for (int repeat = 0; repeat < 5; ++repeat) {
    StencilMatrix fresh(layout);
    if (repeat % 2 == 1) testing::assemble(random(50, 4), fresh);
    testing::assemble(stencils, fresh);
    EXPECT_TRUE(comm.all(bits_of(fresh) == expected));
  }
}

TEST_P(StencilMatrixTest, IsSymmetricToTheLastBit) {
  StencilMatrix matrix(layout);
  testing::assemble(random(400, 5), matrix);
  PetscBool symmetric = PETSC_FALSE;
  // PETSc answers from the flag that the matrix was given unless it is taken away.
  RECOIL_PETSC(MatSetOption(matrix.get(), MAT_SYMMETRIC, PETSC_FALSE));
  RECOIL_PETSC(MatSetOption(matrix.get(), MAT_SYMMETRY_ETERNAL, PETSC_FALSE));
  linalg::MatHandle transposed;
  RECOIL_PETSC(MatTranspose(matrix.get(), MAT_INITIAL_MATRIX, transposed.put()));
  RECOIL_PETSC(MatEqual(matrix.get(), transposed.get(), &symmetric));
  EXPECT_EQ(symmetric, PETSC_TRUE);
}

TEST_P(StencilMatrixTest, SoftenedScalesWholeStencils) {
  const int dim = GetParam();
  auto stencils = random(60, 7);
  StencilMatrix matrix(layout);
  testing::assemble(stencils, matrix);
  const auto limit = [](GlobalIndex node) { return 0.1 * static_cast<double>(node % 7 + 1); };
  std::vector<double> limits;
  for (LocalIndex node = 0; node < layout->num_owned; ++node) limits.push_back(limit(layout->offset + node));
  int num_scaled = 0;
  for (Stencil& stencil : stencils) {
    double smallest = 1e300, largest = 0;
    for (std::size_t a = 0; a < stencil.nodes.size(); ++a) {
      if (stencil.nodes[a] < 0) continue;
      smallest = std::min(smallest, limit(stencil.nodes[a]));
      const auto diagonal = stencil.block.diagonal().segment(dim * static_cast<Eigen::Index>(a), dim);
      largest = std::max(largest, diagonal.maxCoeff());
    }
    num_scaled += largest > smallest;
    if (largest > smallest) stencil.block *= smallest / largest;
  }
  ASSERT_GT(num_scaled, 10);

  const StencilMatrix::Rows rows = matrix.softened(limits);

  ASSERT_TRUE(rows.same_pattern(matrix.rows()));
  const Eigen::MatrixXd expected = testing::dense(stencils, dim, num_nodes);
  for (std::size_t k = 0; k < rows.nodes.size(); ++k)
    for (std::size_t entry = rows.offsets[k]; entry < rows.offsets[k + 1]; ++entry)
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          ASSERT_NEAR(rows.blocks[(entry * static_cast<std::size_t>(dim) + static_cast<std::size_t>(i)) *
                                      static_cast<std::size_t>(dim) +
                                  static_cast<std::size_t>(j)],
                      expected(dim * (layout->offset + rows.nodes[k]) + i, dim * rows.columns[entry] + j),
                      1e-13);
}

TEST_P(StencilMatrixTest, TheMatrixIsKeptWhileThePatternStays) {
  auto stencils = random(10, 6);
  StencilMatrix matrix(layout);
  testing::assemble(stencils, matrix);
  Mat before = matrix.get();
  for (Stencil& stencil : stencils) stencil.block *= -3;
  testing::assemble(stencils, matrix);
  EXPECT_EQ(matrix.get(), before);
  expect_equal(matrix, stencils);
}

INSTANTIATE_TEST_SUITE_P(BlockSizes, StencilMatrixTest, ::testing::Values(1, 2, 3, 5, 6, 12));

} // namespace
} // namespace recoil::stencil_matrix_test
