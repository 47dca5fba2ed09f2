#include "recoil/linalg/block_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::linalg {

namespace {

MatHandle create_matrix(const VectorLayout& layout, const NodeGraph& graph) {
  const PetscInt block = layout.block_size;
  const PetscInt num_rows = block * layout.num_owned;
  std::vector<PetscInt> rows(num_rows + 1, 0), columns;
  columns.reserve(graph.neighbours.size() * (block * block));
  for (LocalIndex node = 0; node < layout.num_owned; ++node) {
    const std::size_t begin = graph.offsets[node];
    const std::size_t end = graph.offsets[node + 1];
    for (PetscInt i = 0; i < block; ++i) {
      for (std::size_t k = begin; k < end; ++k) {
        const PetscInt first = petsc_int(layout.global(graph.neighbours[k]) * block);
        for (PetscInt j = 0; j < block; ++j) columns.push_back(first + j);
      }
      rows[node * block + i + 1] = petsc_int(columns.size());
    }
  }
  MatHandle mat;
  RECOIL_PETSC(MatCreate(layout.comm->get(), mat.put()));
  const PetscInt num_global = petsc_int(layout.num_global * block);
  RECOIL_PETSC(MatSetSizes(mat.get(), num_rows, num_rows, num_global, num_global));
  RECOIL_PETSC(MatSetType(mat.get(), MATAIJ));
  RECOIL_PETSC(MatSetBlockSize(mat.get(), block));
  RECOIL_PETSC(MatSeqAIJSetPreallocationCSR(mat.get(), rows.data(), columns.data(), nullptr));
  RECOIL_PETSC(MatMPIAIJSetPreallocationCSR(mat.get(), rows.data(), columns.data(), nullptr));
  RECOIL_PETSC(MatSetOption(mat.get(), MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  RECOIL_PETSC(MatSetOption(mat.get(), MAT_SYMMETRIC, PETSC_TRUE));
  RECOIL_PETSC(MatSetOption(mat.get(), MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  return mat;
}

} // namespace

BlockMatrix::BlockMatrix(std::shared_ptr<const VectorLayout> layout, std::shared_ptr<const NodeGraph> graph)
    : layout_(std::move(layout)), graph_(std::move(graph)), mat_(create_matrix(*layout_, *graph_)) {
  find_parts();
}

template <class Act>
void BlockMatrix::for_each_part(Act act) {
  act(diagonal_);
  if (off_diagonal_.mat != nullptr) act(off_diagonal_);
}

void BlockMatrix::find_parts() {
  const PetscInt* ghost_columns = nullptr;
  PetscBool parallel = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(mat_.get()), MATMPIAIJ, &parallel));
  if (parallel == PETSC_TRUE)
    RECOIL_PETSC(MatMPIAIJGetSeqAIJ(mat_.get(), &diagonal_.mat, &off_diagonal_.mat, &ghost_columns));
  else
    diagonal_.mat = mat_.get();
  for_each_part([](Part& part) {
    PetscInt num_rows = 0;
    PetscBool done = PETSC_FALSE;
    RECOIL_PETSC(
        MatGetRowIJ(part.mat, 0, PETSC_FALSE, PETSC_FALSE, &num_rows, &part.rows, &part.columns, &done));
    RECOIL_ASSERT(done == PETSC_TRUE);
  });
  column_of_ghost_.assign(layout_->ghosts.size(), -1);
  if (off_diagonal_.mat == nullptr) return;
  PetscInt num_columns = 0;
  RECOIL_PETSC(MatGetSize(off_diagonal_.mat, nullptr, &num_columns));
  const PetscInt block = layout_->block_size;
  for (std::size_t ghost = 0; ghost < layout_->ghosts.size(); ++ghost) {
    const PetscInt column = petsc_int(layout_->ghosts[ghost] * block);
    const PetscInt* found = std::lower_bound(ghost_columns, ghost_columns + num_columns, column);
    if (found != ghost_columns + num_columns && *found == column)
      column_of_ghost_[ghost] = static_cast<LocalIndex>((found - ghost_columns) / block);
  }
}

std::int32_t BlockMatrix::position(LocalIndex row, LocalIndex column) const {
  const bool inside = column < layout_->num_owned;
  const Part& part = inside ? diagonal_ : off_diagonal_;
  const LocalIndex block_column = inside ? column : column_of_ghost_[column - layout_->num_owned];
  const PetscInt block = layout_->block_size;
  const PetscInt* begin = part.columns + part.rows[row * block];
  const PetscInt* end = part.columns + part.rows[row * block + 1];
  const PetscInt* found = std::lower_bound(begin, end, block_column * block);
  RECOIL_ASSERT(found != end && *found == block_column * block);
  const std::int32_t place = (found - begin) / block;
  return inside ? place : ~place;
}

BlockMatrix::Values BlockMatrix::begin_filling() {
  for_each_part([](Part& part) { RECOIL_PETSC(MatSeqAIJGetArray(part.mat, &part.values)); });
  return {diagonal_.values, off_diagonal_.values, diagonal_.rows, off_diagonal_.rows};
}

void BlockMatrix::finish_filling() {
  for_each_part([](Part& part) { RECOIL_PETSC(MatSeqAIJRestoreArray(part.mat, &part.values)); });
  // Restoring the arrays of the two parts leaves the state of the parallel matrix alone; without this KSP
  // would keep the old preconditioner in silence.
  mark_changed(reinterpret_cast<PetscObject>(mat_.get()));
}

void BlockMatrix::set_zero() { RECOIL_PETSC(MatZeroEntries(mat_.get())); }

void BlockMatrix::add_scaled_identities(std::span<const double> scalars, double factor) {
  const PetscInt block = layout_->block_size;
  for (LocalIndex row = 0; row < layout_->num_owned; ++row) {
    // Both parts list a row's columns in the ascending global order of the graph.
    PetscInt inside = 0, outside = 0;
    for (auto k = graph_->offsets[row]; k < graph_->offsets[row + 1]; ++k) {
      const bool owned = graph_->neighbours[k] < layout_->num_owned;
      const PetscInt place = block * (owned ? inside++ : outside++);
      Part& part = owned ? diagonal_ : off_diagonal_;
      for (PetscInt i = 0; i < block; ++i)
        part.values[part.rows[row * block + i] + place + i] += factor * scalars[k];
    }
  }
}

void BlockMatrix::choose_identity_rows(std::span<const char> constrained) {
  const PetscInt block = layout_->block_size, num_rows = block * layout_->num_owned;
  std::vector<char> ghost_flags(layout_->ghosts.size() * block, 0);
  for (std::size_t ghost = 0; ghost < column_of_ghost_.size(); ++ghost) {
    if (column_of_ghost_[ghost] < 0) continue;
    for (PetscInt i = 0; i < block; ++i)
      ghost_flags[column_of_ghost_[ghost] * block + i] = constrained[num_rows + ghost * block + i];
  }
  for_each_part([&](Part& part) {
    part.cleared.clear();
    part.kept.clear();
    const bool inside = &part == &diagonal_;
    for (PetscInt row = 0; row < num_rows; ++row)
      for (PetscInt k = part.rows[row]; k < part.rows[row + 1]; ++k) {
        const PetscInt column = part.columns[k];
        const bool row_constrained = constrained[row] != 0;
        const bool column_constrained = (inside ? constrained[column] : ghost_flags[column]) != 0;
        if (!row_constrained && !column_constrained) continue;
        (inside && row == column ? part.kept : part.cleared).push_back(k);
      }
  });
}

void BlockMatrix::set_identity_rows(double fallback) {
  begin_filling();
  for_each_part([fallback](Part& part) {
    for (const PetscInt k : part.cleared) part.values[k] = 0;
    for (const PetscInt k : part.kept)
      part.values[k] = part.values[k] == 0 ? fallback : std::abs(part.values[k]);
  });
  finish_filling();
}

void BlockMatrix::shift_diagonal(double factor) {
  VecHandle diagonal;
  RECOIL_PETSC(MatCreateVecs(mat_.get(), nullptr, diagonal.put()));
  RECOIL_PETSC(MatGetDiagonal(mat_.get(), diagonal.get()));
  RECOIL_PETSC(VecAbs(diagonal.get()));
  RECOIL_PETSC(VecScale(diagonal.get(), factor));
  RECOIL_PETSC(MatDiagonalSet(mat_.get(), diagonal.get(), ADD_VALUES));
}

void BlockMatrix::multiply(const Vector& x, Vector& y) const {
  RECOIL_PETSC(MatMult(mat_.get(), x.get(), y.get()));
}

} // namespace recoil::linalg
