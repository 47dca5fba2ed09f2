#include <random>

#include <gtest/gtest.h>

#include "linalg/elastic_box.hpp"

namespace recoil::block_matrix_test {
namespace {

using linalg::BlockMatrix;
using linalg::MatHandle;
using testing::ElasticBox;

template <class Dimension>
class BlockMatrixTest : public ::testing::Test {
protected:
  static constexpr int dim = Dimension::value;
  parallel::Communicator comm{MPI_COMM_WORLD};
  ElasticBox<dim> box{comm, 4, 1};

  /// Calls act(row, column, global row, global column) for every entry of the graph.
  template <class Act>
  void for_each_block(Act act) const {
    const auto& layout = *box.layout;
    for (LocalIndex row = 0; row < layout.num_owned; ++row)
      for (auto k = box.graph->offsets[static_cast<std::size_t>(row)];
           k < box.graph->offsets[static_cast<std::size_t>(row) + 1]; ++k) {
        const LocalIndex column = box.graph->neighbours[static_cast<std::size_t>(k)];
        act(row, column, layout.offset + row, layout.global(column));
      }
  }

  /// Entries that no two places share.
  static double entry(GlobalIndex row, GlobalIndex column, int i, int j) {
    return std::sin(static_cast<double>((row * 1009 + column) * 9 + 3 * i + j));
  }

  MatHandle reference(double scale) const {
    MatHandle mat;
    const PetscInt size = dim * box.layout->num_owned;
    RECOIL_PETSC(MatCreateAIJ(comm.get(), size, size, PETSC_DETERMINE, PETSC_DETERMINE, 60, nullptr, 60,
                              nullptr, mat.put()));
    for_each_block([&](LocalIndex, LocalIndex, GlobalIndex row, GlobalIndex column) {
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          RECOIL_PETSC(MatSetValue(mat.get(), static_cast<PetscInt>(dim * row + i),
                                   static_cast<PetscInt>(dim * column + j), scale * entry(row, column, i, j),
                                   ADD_VALUES));
    });
    RECOIL_PETSC(MatAssemblyBegin(mat.get(), MAT_FINAL_ASSEMBLY));
    RECOIL_PETSC(MatAssemblyEnd(mat.get(), MAT_FINAL_ASSEMBLY));
    return mat;
  }

  void add_entries(BlockMatrix& matrix) const {
    const auto values = matrix.begin_filling();
    for_each_block([&](LocalIndex row, LocalIndex column, GlobalIndex global_row, GlobalIndex global_column) {
      std::array<double, dim*(dim + 1)> block{};
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          block[static_cast<std::size_t>(i * (dim + 1) + j)] = entry(global_row, global_column, i, j);
      values.template add<dim>(row, matrix.position(row, column), block.data(), dim + 1);
    });
    matrix.finish_filling();
  }

  static double difference(Mat a, Mat b) {
    RECOIL_PETSC(MatAXPY(b, -1, a, DIFFERENT_NONZERO_PATTERN));
    PetscReal norm = 0;
    RECOIL_PETSC(MatNorm(b, NORM_FROBENIUS, &norm));
    return norm;
  }
};

using Dimensions = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(BlockMatrixTest, Dimensions);

TYPED_TEST(BlockMatrixTest, BlocksLandWhereMatSetValuesPutsThem) {
  BlockMatrix matrix(this->box.layout, this->box.graph);

  this->add_entries(matrix);
  this->add_entries(matrix);

  EXPECT_EQ(this->difference(matrix.get(), this->reference(2).get()), 0);
  matrix.set_zero();
  EXPECT_GT(this->difference(matrix.get(), this->reference(2).get()), 1);
}

TYPED_TEST(BlockMatrixTest, ScaledIdentitiesFollowTheGraph) {
  constexpr int dim = TestFixture::dim;
  BlockMatrix matrix(this->box.layout, this->box.graph);
  this->add_entries(matrix);
  std::vector<double> scalars;
  this->for_each_block([&](LocalIndex, LocalIndex, GlobalIndex row, GlobalIndex column) {
    scalars.push_back(this->entry(row, column, 0, 0));
  });

  matrix.set_zero();
  matrix.begin_filling();
  matrix.add_scaled_identities(scalars);
  matrix.finish_filling();

  std::size_t k = 0;
  this->for_each_block([&](LocalIndex, LocalIndex, GlobalIndex row, GlobalIndex column) {
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j) {
        const auto at_row = static_cast<PetscInt>(dim * row + i),
                   at_column = static_cast<PetscInt>(dim * column + j);
        PetscScalar value = -1;
        RECOIL_PETSC(MatGetValues(matrix.get(), 1, &at_row, 1, &at_column, &value));
        EXPECT_EQ(value, i == j ? scalars[k] : 0);
      }
    ++k;
  });
}

TYPED_TEST(BlockMatrixTest, IdentityRowsKeepSymmetryAndDiagonal) {
  constexpr int dim = TestFixture::dim;
  const auto& layout = *this->box.layout;
  BlockMatrix matrix(this->box.layout, this->box.graph);
  this->add_entries(matrix);
  // Every third entry of the global numbering, so that ghosts and single components are among them.
  const auto is_chosen = [](GlobalIndex entry) { return entry % 3 == 1; };
  std::vector<char> chosen;
  for (LocalIndex node = 0; node < layout.num_local(); ++node) {
    const GlobalIndex global = layout.global(node);
    for (int i = 0; i < dim; ++i) chosen.push_back(is_chosen(dim * global + i));
  }

  matrix.choose_identity_rows(chosen);
  matrix.set_identity_rows(7);

  this->for_each_block([&](LocalIndex, LocalIndex, GlobalIndex row, GlobalIndex column) {
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j) {
        const auto at_row = static_cast<PetscInt>(dim * row + i),
                   at_column = static_cast<PetscInt>(dim * column + j);
        PetscScalar value = -1;
        RECOIL_PETSC(MatGetValues(matrix.get(), 1, &at_row, 1, &at_column, &value));
        const double before = this->entry(row, column, i, j);
        if (!is_chosen(at_row) && !is_chosen(at_column))
          EXPECT_EQ(value, before);
        else
          EXPECT_EQ(value, at_row == at_column ? std::abs(before) : 0);
      }
  });

  matrix.set_zero();
  matrix.set_identity_rows(7);
  linalg::Vector ones(this->box.layout), product(this->box.layout);
  ones.fill(1);
  matrix.multiply(ones, product);
  for (std::size_t i = 0; i < product.owned().size(); ++i) EXPECT_EQ(product.owned()[i], chosen[i] ? 7 : 0);
}

TYPED_TEST(BlockMatrixTest, ElasticMatrixIsSymmetricAndPositive) {
  constexpr int dim = TestFixture::dim;
  BlockMatrix matrix(this->box.layout, this->box.graph);

  testing::assemble<dim>(this->box, {}, matrix);

  PetscBool symmetric = PETSC_FALSE;
  MatHandle transpose;
  RECOIL_PETSC(MatTranspose(matrix.get(), MAT_INITIAL_MATRIX, transpose.put()));
  RECOIL_PETSC(MatEqual(matrix.get(), transpose.get(), &symmetric));
  EXPECT_TRUE(symmetric);
  linalg::Vector x(this->box.layout), y(this->box.layout);
  std::mt19937 random(static_cast<unsigned>(this->comm.rank()));
  for (double& value : x.write_owned()) value = std::uniform_real_distribution<double>(-1, 1)(random);
  matrix.multiply(x, y);
  EXPECT_GT(x.dot(y), 0);
}

} // namespace
} // namespace recoil::block_matrix_test
