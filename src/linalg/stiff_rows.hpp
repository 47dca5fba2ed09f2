#pragma once

#include <memory>
#include <vector>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/stencil_matrix.hpp"

namespace recoil::linalg {

/// The rows R A of A = K + C at the nodes of C, copied side by side: a surface-sized part of A from which
/// R A R' is taken and with which residuals at the stiff nodes are formed.
class StiffRows {
public:
  explicit StiffRows(std::shared_ptr<const VectorLayout> layout);

  /// Takes pattern and values. True if the pattern is new, on every rank alike. Collective.
  bool assemble(const std::shared_ptr<const NodeGraph>& graph, Mat matrix, const StencilMatrix& stencils);

  LocalIndex num_nodes() const { return static_cast<LocalIndex>(nodes_.size()); }
  /// Stiff nodes of the lower ranks, and of all.
  GlobalIndex first() const { return first_; }
  GlobalIndex num_global() const { return num_global_; }

  /// Upper triangle of R A R' by scalar rows, columns numbered over all stiff nodes: number of entries of
  /// the rows of this rank, their columns ascending, their values. Not collective.
  void upper_pattern(std::vector<PetscInt>& lengths, std::vector<PetscInt>& columns) const;
  std::vector<double> upper_values() const;

  /// y = R b, dim entries per stiff node. Not collective.
  PetscErrorCode restrict_to(Vec b, Vec y) const;
  /// y = R (b - A z). Collective.
  PetscErrorCode residual(Vec b, Vec z, Vec y) const;
  /// x += R' y. Not collective.
  PetscErrorCode prolong_add(Vec y, Vec x) const;

private:
  /// Where the parts of a block come from: its place in the row of K (see BlockMatrix::position) and its
  /// number among the blocks of C.
  struct Source {
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
    std::int32_t place = none;
    std::int64_t stencil = -1;
  };

  void build(const NodeGraph& graph, const StencilMatrix::Rows& rows);
  std::vector<GlobalIndex> merge(const NodeGraph& graph, const StencilMatrix::Rows& rows);
  void number_columns(const std::vector<GlobalIndex>& columns);
  void take_values(Mat matrix, const StencilMatrix::Rows& rows);

  std::shared_ptr<const VectorLayout> layout_;
  MatHandle pattern_; ///< the matrix of the stencils that the pattern was built from
  std::shared_ptr<const NodeGraph> graph_;
  std::vector<LocalIndex> nodes_;
  GlobalIndex first_ = 0, num_global_ = 0;
  std::vector<std::size_t> offsets_;
  std::vector<LocalIndex> columns_; ///< owned node, or num_owned + place among the ghosts
  std::vector<PetscInt> numbers_;   ///< number among the stiff nodes of the column, or -1
  std::vector<Source> sources_;
  std::vector<double> blocks_; ///< dim x dim, row-major
  VecHandle global_, ghosts_;
  ScatterHandle scatter_; ///< owned entries to ghosts_
};

} // namespace recoil::linalg
