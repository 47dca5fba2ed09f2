#include <gtest/gtest.h>

#include "linalg/elastic_box.hpp"
#include "recoil/linalg/near_null_space.hpp"

namespace recoil::near_null_space_test {
namespace {

using linalg::NearNullSpace;

std::vector<Vec> modes_of(const NearNullSpace& space) {
  PetscInt count = 0;
  const Vec* modes = nullptr;
  PetscBool constant = PETSC_TRUE;
  RECOIL_PETSC(MatNullSpaceGetVecs(space.get(), &constant, &count, &modes));
  EXPECT_FALSE(constant);
  return {modes, modes + count};
}

template <class Dimension>
class NearNullSpaceTest : public ::testing::Test {
protected:
  static constexpr int dim = Dimension::value;
  parallel::Communicator comm{MPI_COMM_WORLD};
  testing::ElasticBox<dim> box{comm, 3, 1};
};
using Dimensions = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(NearNullSpaceTest, Dimensions);

TYPED_TEST(NearNullSpaceTest, FreeElasticBodyHasTheModesInItsKernel) {
  constexpr int dim = TestFixture::dim;
  std::ranges::fill(this->box.constrained, 0);
  linalg::BlockMatrix matrix(this->box.layout, this->box.graph);
  testing::assemble<dim>(this->box, {}, matrix);

  const NearNullSpace space = linalg::rigid_body_modes(this->box.positions(), this->box.constrained);

  ASSERT_EQ(space.num_modes(), dim * (dim + 1) / 2);
  const std::vector<Vec> modes = modes_of(space);
  PetscReal size = 0;
  RECOIL_PETSC(MatNorm(matrix.get(), NORM_INFINITY, &size));
  for (std::size_t a = 0; a < modes.size(); ++a) {
    linalg::VecHandle product;
    RECOIL_PETSC(VecDuplicate(modes[a], product.put()));
    RECOIL_PETSC(MatMult(matrix.get(), modes[a], product.get()));
    PetscReal norm = 1;
    RECOIL_PETSC(VecNorm(product.get(), NORM_2, &norm));
    EXPECT_LT(norm, 1e-13 * size);
    for (std::size_t b = 0; b <= a; ++b) {
      PetscScalar overlap = 0;
      RECOIL_PETSC(VecDot(modes[a], modes[b], &overlap));
      EXPECT_NEAR(overlap, a == b ? 1 : 0, 1e-13);
    }
  }
}

TYPED_TEST(NearNullSpaceTest, ConstrainedEntriesAreZero) {
  constexpr int dim = TestFixture::dim;

  const NearNullSpace space = linalg::rigid_body_modes(this->box.positions(), this->box.constrained);

  ASSERT_EQ(space.num_modes(), dim * (dim + 1) / 2);
  double largest = 0;
  for (Vec mode : modes_of(space)) {
    const PetscScalar* values = nullptr;
    RECOIL_PETSC(VecGetArrayRead(mode, &values));
    for (std::size_t i = 0; i < static_cast<std::size_t>(dim * this->box.layout->num_owned); ++i) {
      EXPECT_TRUE(!this->box.constrained[i] || values[i] == 0);
      largest = std::max(largest, std::abs(values[i]));
    }
    RECOIL_PETSC(VecRestoreArrayRead(mode, &values));
  }
  EXPECT_GT(this->comm.max(largest), 0.01);
}

TYPED_TEST(NearNullSpaceTest, DependentModesAreLeftOut) {
  constexpr int dim = TestFixture::dim;
  std::ranges::fill(this->box.constrained, 0);
  linalg::Vector line = this->box.positions();
  const auto x = line.write_local();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i % dim != 0) x[i] = 5 + 2 * x[i - i % dim];

  EXPECT_EQ(linalg::rigid_body_modes(line, this->box.constrained).num_modes(), dim == 2 ? 3 : 5);
  std::ranges::fill(this->box.constrained, 1);
  EXPECT_EQ(linalg::rigid_body_modes(line, this->box.constrained).num_modes(), 0);
}

} // namespace
} // namespace recoil::near_null_space_test
