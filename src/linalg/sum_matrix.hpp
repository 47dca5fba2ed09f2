#pragma once

#include <memory>
#include <vector>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/stencil_matrix.hpp"

namespace recoil::linalg {

/// Graph of a sum of matrices over a layout with the ghosts of both: local numbers of the first stay.
struct CoupledGraph {
  std::shared_ptr<const VectorLayout> layout;
  std::shared_ptr<const NodeGraph> graph;
};

/// The pattern of `graph` united with that of `rows`. Not collective. Cost O(entries).
CoupledGraph couple(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix::Rows& rows);

/// An entry of a sum that its first matrix has no place for.
struct ExtraEntry {
  LocalIndex row;
  GlobalIndex column;
  auto operator<=>(const ExtraEntry&) const = default;
};

/// The entries of `rows` that `graph` over `layout` lacks, sorted. Not collective.
std::vector<ExtraEntry> find_extras(const VectorLayout& layout, const NodeGraph& graph,
                                    const StencilMatrix::Rows& rows);

/// Adds the blocks of `rows` to `matrix`, whose pattern must hold them. To be called on every rank.
void add_rows(const StencilMatrix::Rows& rows, BlockMatrix& matrix);

/// Calls act(size) with the number of components of a node: std::integral_constant<int, n> for the sizes that
/// loops are unrolled for, an int for any other. Both convert to int.
template <class Act>
auto with_block_size(int size, Act act) {
  switch (size) {
  case 1:
    return act(std::integral_constant<int, 1>{});
  case 2:
    return act(std::integral_constant<int, 2>{});
  case 3:
    return act(std::integral_constant<int, 3>{});
  case 6:
    return act(std::integral_constant<int, 6>{});
  default:
    return act(size);
  }
}

/// The columns of an AIJ matrix that this rank owns, and those of other ranks that it has entries in: null on
/// one rank.
struct AijParts {
  Mat own = nullptr, other = nullptr;
  const PetscInt* ghost_columns = nullptr; ///< global, of the columns of `other`
};

/// Not collective.
AijParts aij_parts(Mat matrix);

/// Rows and values of the two parts of an AIJ matrix on this rank, for reading; valid until the matrix is
/// changed or freed. Columns count from the first of the part. The off-diagonal part is empty on one rank.
struct MatrixParts {
  const PetscInt *diagonal_rows = nullptr, *off_diagonal_rows = nullptr;
  const PetscInt *diagonal_columns = nullptr, *off_diagonal_columns = nullptr;
  const PetscScalar *diagonal = nullptr, *off_diagonal = nullptr;
};

/// Not collective.
MatrixParts read_parts(Mat matrix);

/// The assembled sum A = K + C of a matrix with a fixed pattern and one of stiff stencils, for
/// factorisations and for preconditioners that see one matrix.
class SumMatrix {
public:
  enum class Pattern {
    minimal, ///< that of K and C, whatever was before
    grown    ///< the one of the last call if it holds C, else the minimal one
  };

  /// Forms K + C, where `rows` are those of C. True if A has another pattern than before and therefore
  /// is another PETSc matrix. Collective.
  bool assemble(const VectorLayout& layout, const std::shared_ptr<const NodeGraph>& graph, Mat matrix,
                const StencilMatrix::Rows& rows, Pattern pattern);
  Mat get() const { return sum_.get(); }

private:
  void create(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix::Rows& rows);
  void copy(Mat matrix);

  std::shared_ptr<const NodeGraph> graph_; ///< of K
  std::vector<ExtraEntry> extras_;         ///< sorted
  BlockMatrix sum_;
  std::vector<std::int32_t> positions_; ///< in the sum, of every block of K
};

} // namespace recoil::linalg
