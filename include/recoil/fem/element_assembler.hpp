#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/block_sink.hpp"

namespace recoil::fem {

/// Adds element matrices to a BlockMatrix through a table of block positions that is looked up once: (nodes
/// per cell)^2 integers per local cell. Rows of nodes owned by other ranks are skipped; their owners hold the
/// same cell.
template <int dim>
class ElementAssembler final : public linalg::ElementSink {
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

  void add_element(LocalIndex cell, const double* K) override {
    const auto cell_nodes = space_->cell_nodes(cell);
    const std::int32_t* position = &positions_[cell_offsets_[cell]];
    const LocalIndex num_owned = space_->num_owned_nodes();
    const int nodes = cell_nodes.size(), size = dim * nodes;
    for (int a = 0; a < nodes; ++a, position += nodes) {
      if (cell_nodes[a] >= num_owned) continue;
      for (int b = 0; b < a; ++b)
        // Column-major block (b, a) read row by row is block (a, b).
        values_.template add<dim>(cell_nodes[a], position[b], K + dim * a * size + dim * b, size);
      for (int b = a; b < nodes; ++b)
        values_.template add<dim>(cell_nodes[a], position[b], K + dim * b * size + dim * a, 1, size);
    }
  }

  void add_element_block(LocalIndex cell, int a, int b, const double* block) override {
    const auto cell_nodes = space_->cell_nodes(cell);
    const LocalIndex row = cell_nodes[a];
    if (row >= space_->num_owned_nodes()) return;
    const auto place = cell_offsets_[cell] + a * std::ssize(cell_nodes) + b;
    values_.template add<dim>(row, positions_[place], block, dim);
  }

  void add_identities(std::span<const double> scalars, double factor) override {
    matrix_->add_scaled_identities(scalars, factor);
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
