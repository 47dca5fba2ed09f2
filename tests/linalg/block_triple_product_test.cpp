#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "linalg/block_triple_product.hpp"

namespace recoil::block_triple_product_test {
namespace {

using linalg::BlockTripleProduct;
using linalg::MatHandle;

struct Sizes {
  int height, width;
};

/// A symmetric matrix of nodes on a line that couple with those up to two further on, and one whose rows lead
/// to up to three of fewer nodes, some of them far away. Rank 1 owns nothing, rank 2 only fine nodes.
class BlockTripleProductTest : public ::testing::TestWithParam<Sizes> {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  const int height = GetParam().height, width = GetParam().width;
  const PetscInt own_fine = comm.rank() == 1 ? 0 : 12,
                 own_coarse = comm.rank() == 1 || comm.rank() == 2 ? 0 : 4;
  PetscInt sum(PetscInt value) const { return static_cast<PetscInt>(comm.sum(GlobalIndex{value})); }
  const PetscInt num_fine = sum(own_fine), num_coarse = sum(own_coarse);
  const PetscInt first_fine = static_cast<PetscInt>(comm.exclusive_scan(GlobalIndex{own_fine}));

  static double entry(PetscInt row, PetscInt column, double factor) {
    return std::sin(factor * (1000.0 * row + column));
  }
  MatHandle create(PetscInt own_columns, int column_size) const {
    MatHandle result;
    RECOIL_PETSC(MatCreate(MPI_COMM_WORLD, result.put()));
    RECOIL_PETSC(MatSetSizes(result.get(), own_fine * height, own_columns * column_size, PETSC_DETERMINE,
                             PETSC_DETERMINE));
    RECOIL_PETSC(MatSetType(result.get(), MATAIJ));
    RECOIL_PETSC(MatSetBlockSizes(result.get(), height, column_size));
    constexpr PetscInt most = 60;
    RECOIL_PETSC(MatSeqAIJSetPreallocation(result.get(), most, nullptr));
    RECOIL_PETSC(MatMPIAIJSetPreallocation(result.get(), most, nullptr, most, nullptr));
    return result;
  }
  /// One block of entries that `value` gives by row and column of the matrix.
  template <class Value>
  void set_block(Mat matrix, PetscInt row, PetscInt column, int column_size, Value value) const {
    for (PetscInt i = height * row; i < height * (row + 1); ++i)
      for (PetscInt j = column_size * column; j < column_size * (column + 1); ++j)
        RECOIL_PETSC(MatSetValue(matrix, i, j, value(i, j), INSERT_VALUES));
  }
  static void assemble(Mat matrix) {
    RECOIL_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    RECOIL_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  }
  void fill_fine(Mat A, double factor) const {
    for (PetscInt row = first_fine; row < first_fine + own_fine; ++row)
      for (PetscInt other = std::max(0, row - 2); other < std::min(num_fine, row + 3); ++other)
        set_block(A, row, other, height,
                  [&](PetscInt i, PetscInt j) { return entry(std::min(i, j), std::max(i, j), factor); });
    assemble(A);
  }
  void fill_interpolation(Mat P, double factor) const {
    for (PetscInt row = first_fine; row < first_fine + own_fine; ++row)
      for (PetscInt k = 0; k < row % 4; ++k)
        set_block(P, row, (row / 3 + k * k * row) % num_coarse, width,
                  [&](PetscInt i, PetscInt j) { return entry(i, j, factor); });
    assemble(P);
  }
  MatHandle fine(double factor) const {
    MatHandle A = create(own_fine, height);
    fill_fine(A.get(), factor);
    return A;
  }
  MatHandle interpolation(double factor) const {
    MatHandle P = create(own_coarse, width);
    fill_interpolation(P.get(), factor);
    return P;
  }
  static MatHandle create_product(BlockTripleProduct& product) {
    MatHandle result;
    RECOIL_PETSC(MatCreate(MPI_COMM_WORLD, result.put()));
    RECOIL_PETSC(product.create(result.get()));
    return result;
  }
  static double norm(Mat matrix) {
    PetscReal result = 0;
    RECOIL_PETSC(MatNorm(matrix, NORM_FROBENIUS, &result));
    return result;
  }
  static bool are_equal(Mat a, Mat b) {
    PetscBool equal = PETSC_FALSE;
    RECOIL_PETSC(MatEqual(a, b, &equal));
    return equal == PETSC_TRUE;
  }
};

TEST_P(BlockTripleProductTest, AgreesWithPetscs) {
  const MatHandle A = fine(0.7), P = interpolation(0.3);
  const auto product = BlockTripleProduct::make(A.get(), P.get());
  ASSERT_TRUE(product);
  const MatHandle C = create_product(*product);
  ASSERT_EQ(product->fill(A.get(), P.get(), C.get()), 0);
  MatHandle expected;
  RECOIL_PETSC(MatPtAP(A.get(), P.get(), MAT_INITIAL_MATRIX, PETSC_DEFAULT, expected.put()));

  PetscInt block_size = 0;
  RECOIL_PETSC(MatGetBlockSize(C.get(), &block_size));
  EXPECT_EQ(block_size, width);
  const double size = norm(expected.get());
  EXPECT_GT(size, 1);
  RECOIL_PETSC(MatAXPY(expected.get(), -1, C.get(), DIFFERENT_NONZERO_PATTERN));
  EXPECT_LT(norm(expected.get()), 1e-14 * size);
}

TEST_P(BlockTripleProductTest, RenewsValuesToTheBit) {
  const MatHandle A = fine(0.7), P = interpolation(0.3);
  const auto product = BlockTripleProduct::make(A.get(), P.get());
  ASSERT_TRUE(product);
  const MatHandle C = create_product(*product);
  ASSERT_EQ(product->fill(A.get(), P.get(), C.get()), 0);
  fill_fine(A.get(), 1.1);
  fill_interpolation(P.get(), 1.3);
  ASSERT_EQ(product->fill(A.get(), P.get(), C.get()), 0);

  const auto fresh = BlockTripleProduct::make(A.get(), P.get());
  const MatHandle expected = create_product(*fresh);
  ASSERT_EQ(fresh->fill(A.get(), P.get(), expected.get()), 0);
  EXPECT_TRUE(are_equal(C.get(), expected.get()));
}

TEST_P(BlockTripleProductTest, RefusesAnotherPattern) {
  const MatHandle A = fine(0.7), P = interpolation(0.3);
  const auto product = BlockTripleProduct::make(A.get(), P.get());
  ASSERT_TRUE(product);
  const MatHandle C = create_product(*product);
  const MatHandle wider = create(own_fine, height);
  if (comm.rank() == 0)
    set_block(wider.get(), 0, num_fine - 1, height, [](PetscInt, PetscInt) { return 1.0; });
  fill_fine(wider.get(), 0.7);
  EXPECT_EQ(product->fill(wider.get(), P.get(), C.get()), PETSC_ERR_ARG_SIZ);
}

TEST_P(BlockTripleProductTest, LeavesBlocksWithHolesToPetsc) {
  const MatHandle A = fine(0.7), P = create(own_coarse, width);
  if (comm.rank() == 0) RECOIL_PETSC(MatSetValue(P.get(), 0, num_coarse * width - 1, 1, INSERT_VALUES));
  fill_interpolation(P.get(), 0.3);
  EXPECT_FALSE(BlockTripleProduct::make(A.get(), P.get()));
}

// As of an aggregate with fewer unknowns than modes: a hierarchy with the inverse of such an entry in its
// smoother is not positive definite.
TEST_P(BlockTripleProductTest, LeavesNoRoundingOnTheDiagonal) {
  const MatHandle A = fine(0.7), P = interpolation(0.3);
  linalg::VecHandle scales, diagonal;
  RECOIL_PETSC(MatCreateVecs(P.get(), scales.put(), nullptr));
  RECOIL_PETSC(VecSet(scales.get(), 1));
  if (comm.rank() == 0) RECOIL_PETSC(VecSetValue(scales.get(), 0, 1e-15, INSERT_VALUES));
  RECOIL_PETSC(VecAssemblyBegin(scales.get()));
  RECOIL_PETSC(VecAssemblyEnd(scales.get()));
  RECOIL_PETSC(MatDiagonalScale(P.get(), nullptr, scales.get()));
  const auto product = BlockTripleProduct::make(A.get(), P.get());
  ASSERT_TRUE(product);
  const MatHandle C = create_product(*product);
  ASSERT_EQ(product->fill(A.get(), P.get(), C.get()), 0);

  RECOIL_PETSC(MatCreateVecs(C.get(), diagonal.put(), nullptr));
  RECOIL_PETSC(MatGetDiagonal(C.get(), diagonal.get()));
  const PetscScalar* values = nullptr;
  RECOIL_PETSC(VecGetArrayRead(diagonal.get(), &values));
  if (comm.rank() == 0) {
    EXPECT_EQ(values[0], 0);
    EXPECT_NE(values[1], 0);
  }
  RECOIL_PETSC(VecRestoreArrayRead(diagonal.get(), &values));
}

INSTANTIATE_TEST_SUITE_P(Blocks, BlockTripleProductTest,
                         ::testing::Values(Sizes{2, 2}, Sizes{2, 3}, Sizes{3, 3}, Sizes{3, 6}, Sizes{6, 6}),
                         [](const auto& info) {
                           return std::to_string(info.param.height) + "x" + std::to_string(info.param.width);
                         });

} // namespace
} // namespace recoil::block_triple_product_test
