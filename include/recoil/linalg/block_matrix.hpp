#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "recoil/linalg/vector.hpp"

namespace recoil::linalg {

/// Which nodes couple: for every owned node (row) the local numbers of its neighbours and itself, in
/// ascending order of their global numbers. Compressed rows.
struct NodeGraph {
  std::vector<std::int64_t> offsets;  ///< num_owned + 1
  std::vector<LocalIndex> neighbours; ///< local node numbers (owned or ghost)
};

/// Square matrix of node blocks with a fixed pattern, stored as PETSc AIJ. Element matrices are added
/// straight into the value arrays at positions that are looked up once; each rank fills the rows of the nodes
/// that it owns, so assembly sends no message.
class BlockMatrix {
public:
  BlockMatrix() = default;
  /// Zero matrix over the given graph. Collective. Cost O(entries) memory and time.
  BlockMatrix(std::shared_ptr<const VectorLayout> layout, std::shared_ptr<const NodeGraph> graph);

  /// Place of block (row, column) inside its block row: k >= 0 is the k-th block of the diagonal part, ~k < 0
  /// that of the off-diagonal part. `row` is an owned node, `column` any neighbour of it (local numbers).
  std::int32_t position(LocalIndex row, LocalIndex column) const;

  /// Value arrays of one filling, valid until finish_filling().
  struct Values {
    PetscScalar *diagonal = nullptr, *off_diagonal = nullptr;
    const PetscInt *diagonal_rows = nullptr, *off_diagonal_rows = nullptr;

    /// Adds the block with entry (i, j) at block[i * row_stride + j * column_stride] at `position` of block
    /// row `row`. Called for every block of every element: a call costs as much as the work.
    /// @param size number of components of a node, an int or std::integral_constant (loops are unrolled).
    template <class Size>
    [[gnu::always_inline]] void add(Size size, LocalIndex row, std::int32_t position, const double* block,
                                    int row_stride, int column_stride = 1) const {
      const bool inside = position >= 0;
      const PetscInt* rows = inside ? diagonal_rows : off_diagonal_rows;
      PetscScalar* values = inside ? diagonal : off_diagonal;
      const PetscInt first = rows[size * row], length = rows[size * row + 1] - first;
      PetscScalar* target = values + first + size * PetscInt{inside ? position : ~position};
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) target[i * length + j] += block[i * row_stride + j * column_stride];
    }
    template <int size>
    [[gnu::always_inline]] void add(LocalIndex row, std::int32_t position, const double* block,
                                    int row_stride, int column_stride = 1) const {
      add(std::integral_constant<int, size>{}, row, position, block, row_stride, column_stride);
    }
  };

  /// Opens the value arrays for adding; entries keep their values.
  Values begin_filling();
  /// Closes them and tells PETSc that the matrix has changed. Must be called on every rank (no
  /// communication).
  void finish_filling();

  /// All entries zero.
  void set_zero();
  /// Adds factor * scalars[k] times the identity to every block, k counting the graph's entries. @pre open
  /// for filling.
  void add_scaled_identities(std::span<const double> scalars, double factor = 1);

  /// Chooses the rows and columns that set_identity_rows() acts on: `constrained` has one flag per local
  /// entry (node-major with components, ghosts current). Not collective.
  void choose_identity_rows(std::span<const char> constrained);
  /// Turns the chosen rows and columns into those of a diagonal matrix, keeping the assembled diagonal (its
  /// absolute value, or `fallback` where that is zero), so that the matrix stays symmetric and well scaled.
  /// Not collective.
  void set_identity_rows(double fallback);

  /// Adds `factor` times the absolute value of the diagonal to the diagonal. Collective.
  void shift_diagonal(double factor);

  const VectorLayout& layout() const { return *layout_; }
  std::shared_ptr<const VectorLayout> shared_layout() const { return layout_; }
  const NodeGraph& graph() const { return *graph_; }
  std::shared_ptr<const NodeGraph> shared_graph() const { return graph_; }
  /// y = A x (owned entries). Collective.
  void multiply(const Vector& x, Vector& y) const;
  Mat get() const { return mat_.get(); }

private:
  struct Part {
    Mat mat = nullptr; ///< borrowed from mat_
    const PetscInt *rows = nullptr, *columns = nullptr;
    PetscScalar* values = nullptr;
    std::vector<PetscInt> cleared, kept; ///< value indices of the identity rows
  };
  void find_parts();
  template <class Act>
  void for_each_part(Act act);

  std::shared_ptr<const VectorLayout> layout_;
  std::shared_ptr<const NodeGraph> graph_;
  MatHandle mat_;
  Part diagonal_, off_diagonal_;
  std::vector<LocalIndex> column_of_ghost_; ///< ghost -> block column of the off-diagonal part
};

} // namespace recoil::linalg
