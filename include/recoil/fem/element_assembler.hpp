#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/block_matrix.hpp"

namespace recoil::fem {

/// Adds element matrices to a BlockMatrix through a table of block positions that is looked up once: (nodes
/// per cell)^2 integers per local cell. Rows of nodes owned by other ranks are skipped; their owners hold the
/// same cell.
template <int dim>
class ElementAssembler {
public:
  /// `matrix` must have the graph of `space`; both must outlive the assembler. Not collective.
  ElementAssembler(const FunctionSpace<dim>& space, linalg::BlockMatrix& matrix)
      : space_(&space), matrix_(&matrix) {
    cell_offsets_.assign(space.mesh().num_cells() + 1, 0);
    for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell) {
      const std::int64_t nodes = space.cell_nodes(cell).size();
      cell_offsets_[cell + 1] = cell_offsets_[cell] + nodes * nodes;
    }
    positions_.reserve(cell_offsets_.back());
    for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell)
      for (const LocalIndex row : space.cell_nodes(cell))
        for (const LocalIndex column : space.cell_nodes(cell))
          positions_.push_back(row < space.num_owned_nodes() ? matrix.position(row, column) : 0);
  }

  /// Opens the matrix for add(); values are kept.
  void begin() { values_ = matrix_->begin_filling(); }
  void end() { matrix_->finish_filling(); }

  /// Adds the symmetric element matrix of `cell`, of which the blocks (a, b) with a <= b are given: K(dim a +
  /// i, dim b + j) at K[(dim b + j) * dim * nodes + dim a + i] (column-major). `nodes` is the number of nodes
  /// of the cell.
  template <int nodes>
  void add_upper(LocalIndex cell, const double* K) const {
    const LocalIndex* cell_nodes = space_->cell_nodes(cell).data();
    const std::int32_t* position = &positions_[cell_offsets_[cell]];
    const LocalIndex num_owned = space_->num_owned_nodes();
    constexpr int size = dim * nodes;
    for (int a = 0; a < nodes; ++a, position += nodes) {
      if (cell_nodes[a] >= num_owned) continue;
      for (int b = 0; b < a; ++b)
        // Column-major block (b, a) read row by row is block (a, b).
        values_.template add<dim>(cell_nodes[a], position[b], K + dim * a * size + dim * b, size);
      for (int b = a; b < nodes; ++b)
        values_.template add<dim>(cell_nodes[a], position[b], K + dim * b * size + dim * a, 1, size);
    }
  }

  /// Adds a row-major dim x dim block at the `a`-th and `b`-th node of `cell`.
  void add_block(LocalIndex cell, int a, int b, const double* block) const {
    const auto cell_nodes = space_->cell_nodes(cell);
    const LocalIndex row = cell_nodes[a];
    if (row >= space_->num_owned_nodes()) return;
    const auto place = cell_offsets_[cell] + a * std::ssize(cell_nodes) + b;
    values_.template add<dim>(row, positions_[place], block, dim);
  }

  const FunctionSpace<dim>& space() const { return *space_; }
  linalg::BlockMatrix& matrix() { return *matrix_; }

private:
  const FunctionSpace<dim>* space_;
  linalg::BlockMatrix* matrix_;
  std::vector<std::int64_t> cell_offsets_;
  std::vector<std::int32_t> positions_;
  linalg::BlockMatrix::Values values_;
};

} // namespace recoil::fem
