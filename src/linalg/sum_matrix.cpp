#include "linalg/sum_matrix.hpp"

#include <algorithm>

#include "linalg/coupled_graph.hpp"

namespace recoil::linalg {

MatrixParts read_parts(Mat matrix) {
  MatrixParts parts;
  Mat diagonal = matrix, off_diagonal = nullptr;
  PetscBool parallel = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATMPIAIJ, &parallel));
  if (parallel == PETSC_TRUE) RECOIL_PETSC(MatMPIAIJGetSeqAIJ(matrix, &diagonal, &off_diagonal, nullptr));
  const auto read = [](Mat part, const PetscInt*& rows, const PetscScalar*& values) {
    PetscInt num_rows = 0;
    PetscBool done = PETSC_FALSE;
    const PetscInt* columns = nullptr;
    RECOIL_PETSC(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &num_rows, &rows, &columns, &done));
    RECOIL_ASSERT(done == PETSC_TRUE);
    // The array stays where it is; what is restored is only the right to read it.
    RECOIL_PETSC(MatSeqAIJGetArrayRead(part, &values));
    const PetscScalar* restored = values;
    RECOIL_PETSC(MatSeqAIJRestoreArrayRead(part, &restored));
  };
  read(diagonal, parts.diagonal_rows, parts.diagonal);
  if (off_diagonal != nullptr) read(off_diagonal, parts.off_diagonal_rows, parts.off_diagonal);
  return parts;
}

std::vector<SumMatrix::Extra> SumMatrix::find_extras(const VectorLayout& layout, const NodeGraph& graph,
                                                     const StencilMatrix::Rows& rows) {
  std::vector<Extra> extras;
  for (std::size_t k = 0; k < rows.nodes.size(); ++k) {
    const std::size_t node = rows.nodes[k];
    std::size_t at = graph.offsets[node];
    const std::size_t end = graph.offsets[node + 1];
    for (std::size_t entry = rows.offsets[k]; entry < rows.offsets[k + 1]; ++entry) {
      while (at < end && layout.global(graph.neighbours[at]) < rows.columns[entry]) ++at;
      if (at == end || layout.global(graph.neighbours[at]) != rows.columns[entry])
        extras.push_back({rows.nodes[k], rows.columns[entry]});
    }
  }
  return extras;
}

bool SumMatrix::assemble(const VectorLayout& layout, const std::shared_ptr<const NodeGraph>& graph,
                         Mat matrix, const StencilMatrix::Rows& rows, Pattern pattern) {
  std::vector<Extra> extras = find_extras(layout, *graph, rows);
  const bool fits = graph == graph_ && (pattern == Pattern::minimal ? extras == extras_
                                                                    : std::ranges::includes(extras_, extras));
  const bool changed = layout.comm->size() == 1 ? !fits : layout.comm->any(!fits);
  if (changed) {
    graph_ = graph;
    extras_ = std::move(extras);
    create(layout, *graph, rows);
  }
  sum_.set_zero();
  copy(matrix);
  add_rows(rows, sum_);
  return changed;
}

void SumMatrix::create(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix::Rows& rows) {
  CoupledGraph coupled = couple(layout, graph, rows);
  sum_ = BlockMatrix(std::move(coupled.layout), std::move(coupled.graph));
  positions_.clear();
  positions_.reserve(graph.neighbours.size());
  for (LocalIndex row = 0; row < layout.num_owned; ++row)
    for (auto k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
      positions_.push_back(sum_.position(row, graph.neighbours[k]));
}

void SumMatrix::copy(Mat matrix) {
  const MatrixParts parts = read_parts(matrix);
  const BlockMatrix::Values values = sum_.begin_filling();
  with_block_size(sum_.layout().block_size, [&](auto size) {
    std::int64_t k = 0;
    for (LocalIndex row = 0; row < sum_.layout().num_owned; ++row) {
      PetscInt inside = 0, outside = 0;
      for (; k < graph_->offsets[row + 1]; ++k) {
        const bool owned = positions_[k] >= 0;
        const PetscInt* rows = owned ? parts.diagonal_rows : parts.off_diagonal_rows;
        const PetscScalar* block = (owned ? parts.diagonal : parts.off_diagonal) + rows[size * row] +
                                   size * (owned ? inside++ : outside++);
        const int stride = rows[size * row + 1] - rows[size * row];
        values.add(size, row, positions_[k], block, stride);
      }
    }
  });
  sum_.finish_filling();
}

} // namespace recoil::linalg
