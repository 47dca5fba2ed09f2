#include "linalg/symmetric_blocks.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

#include <Eigen/Core>

#include "linalg/solver_options.hpp"
#include "linalg/sum_matrix.hpp"

namespace recoil::linalg {

namespace {

/// act(size) for a size of blocks that loops are unrolled for, whether there is one.
template <class Act>
bool with_unrolled_size(int size, Act act) {
  return with_block_size(size, [&](auto known) {
    if constexpr (std::is_same_v<decltype(known), int>)
      return false;
    else {
      act(known);
      return true;
    }
  });
}

} // namespace

bool SymmetricBlocks::can_take(int size) {
  return size > 1 && with_unrolled_size(size, [](auto) {});
}

void SymmetricBlocks::take(Mat matrix) {
  if (matrix_.get() != matrix) {
    matrix_ = share<MatHandle>(matrix);
    has_pattern_ = false;
    make_shell();
  }
  mark_changed(reinterpret_cast<PetscObject>(shell_.get()));
}

void SymmetricBlocks::make_shell() {
  PetscInt size = 0, num_rows = 0;
  RECOIL_PETSC(MatGetBlockSize(matrix_.get(), &size));
  size_ = static_cast<int>(size);
  RECOIL_PETSC(MatGetLocalSize(matrix_.get(), &num_rows, nullptr));
  MPI_Comm comm = nullptr;
  RECOIL_PETSC(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix_.get()), &comm));
  RECOIL_PETSC(
      MatCreateShell(comm, num_rows, num_rows, PETSC_DETERMINE, PETSC_DETERMINE, this, shell_.put()));
  RECOIL_PETSC(MatSetBlockSize(shell_.get(), size));
  with_unrolled_size(size_, [&](auto constant) {
    RECOIL_PETSC(MatShellSetOperation(shell_.get(), MATOP_MULT,
                                      reinterpret_cast<void (*)(void)>(&multiply<constant>)));
  });
}

void SymmetricBlocks::take_pattern() {
  Mat matrix = matrix_.get();
  const AijParts parts = aij_parts(matrix);
  diagonal_ = parts.own;
  off_diagonal_ = parts.other;
  const PetscInt size = size_;
  PetscBool done = PETSC_FALSE;
  PetscInt num_rows = 0;
  const PetscInt* columns = nullptr;
  RECOIL_PETSC(MatGetRowIJ(diagonal_, 0, PETSC_FALSE, PETSC_FALSE, &num_rows, &rows_, &columns, &done));
  RECOIL_ASSERT(done == PETSC_TRUE && num_rows % size == 0);
  starts_.assign(1, 0);
  columns_.clear();
  places_.clear();
  for (PetscInt row = 0; row < num_rows; row += size) {
    const PetscInt num_blocks = (rows_[row + 1] - rows_[row]) / size;
    PetscInt place = 0;
    while (columns[rows_[row] + size * place] < row) ++place;
    RECOIL_ASSERT(columns[rows_[row] + size * place] == row);
    places_.push_back(place);
    for (; place < num_blocks; ++place) columns_.push_back(columns[rows_[row] + size * place] / size);
    starts_.push_back(petsc_int(columns_.size()));
  }
  blocks_.resize(columns_.size() * (size * size));
  has_pattern_ = true;
  if (off_diagonal_ == nullptr) return;

  MPI_Comm comm = nullptr;
  RECOIL_PETSC(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix), &comm));
  VecHandle whole;
  IsHandle wanted;
  PetscInt num_ghosts = 0;
  RECOIL_PETSC(MatGetSize(off_diagonal_, nullptr, &num_ghosts));
  RECOIL_PETSC(MatCreateVecs(matrix, whole.put(), nullptr));
  RECOIL_PETSC(MatCreateVecs(off_diagonal_, ghosts_.put(), nullptr));
  RECOIL_PETSC(ISCreateGeneral(comm, num_ghosts, parts.ghost_columns, PETSC_COPY_VALUES, wanted.put()));
  RECOIL_PETSC(VecScatterCreate(whole.get(), wanted.get(), ghosts_.get(), nullptr, scatter_.put()));
}

template <int size>
void SymmetricBlocks::take_values() {
  RECOIL_PETSC(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix_.get()), &state_));
  const PetscScalar* values = nullptr;
  RECOIL_PETSC(MatSeqAIJGetArrayRead(diagonal_, &values));
  double* block = blocks_.data();
  for (std::size_t row = 0; row < places_.size(); ++row)
    for (PetscInt k = 0; k < starts_[row + 1] - starts_[row]; ++k, block += size * size)
      for (int i = 0; i < size; ++i) {
        const PetscScalar* from = values + rows_[size * row + i] + size * (places_[row] + k);
        for (int j = 0; j < size; ++j) block[size * j + i] = from[j];
      }
  RECOIL_PETSC(MatSeqAIJRestoreArrayRead(diagonal_, &values));
}

template <int size>
void SymmetricBlocks::multiply_own(std::span<const double> x, std::span<double> y) const {
  using Block = Eigen::Map<const Eigen::Matrix<double, size, size>>;
  using Part = Eigen::Matrix<double, size, 1>;
  std::ranges::fill(y, 0.0);
  const double* block = blocks_.data();
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const Part own = Eigen::Map<const Part>(x.data() + size * row);
    Part sum = Block(block) * own;
    block += size * size;
    for (PetscInt k = starts_[row] + 1; k < starts_[row + 1]; ++k, block += size * size) {
      const Block A(block);
      const std::size_t other = size * std::size_t(columns_[k]);
      sum.noalias() += A * Eigen::Map<const Part>(x.data() + other);
      Eigen::Map<Part>(y.data() + other).noalias() += A.transpose() * own;
    }
    Eigen::Map<Part>(y.data() + size * row) += sum;
  }
}

template <int size>
void SymmetricBlocks::take_what_changed() {
  PetscObjectState state = 0;
  RECOIL_PETSC(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix_.get()), &state));
  if (has_pattern_ && state == state_) return;
  if (!has_pattern_) take_pattern();
  take_values<size>();
}

template <int size>
PetscErrorCode SymmetricBlocks::multiply(Mat shell, Vec x, Vec y) try {
  SymmetricBlocks* self = nullptr;
  PetscCall(MatShellGetContext(shell, &self));
  self->take_what_changed<size>();
  VecScatter scatter = self->scatter_.get();
  Vec ghosts = self->ghosts_.get();
  if (self->off_diagonal_ != nullptr)
    PetscCall(VecScatterBegin(scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  map_entries(x, y, [&](std::span<const double> entries, std::span<double> result) {
    self->multiply_own<size>(entries, result);
  });
  // As PETSc counts those of the whole matrix.
  const std::size_t num_blocks = 2 * self->columns_.size() - self->places_.size();
  PetscCall(PetscLogFlops(2.0 * size * size * static_cast<double>(num_blocks)));
  if (self->off_diagonal_ == nullptr) return 0;
  PetscCall(VecScatterEnd(scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  return MatMultAdd(self->off_diagonal_, ghosts, y, y);
} catch (const std::bad_alloc&) {
  return PETSC_ERR_MEM; // PETSc's frames in between know no exceptions
}

} // namespace recoil::linalg
