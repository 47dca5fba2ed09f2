#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linalg/dissected_cholesky.hpp"
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
  /// Stiff nodes of all ranks.
  GlobalIndex num_global() const { return num_global_; }

  /// Upper triangle of R A R': calls act(row, column, value) by scalar rows, numbered over the stiff nodes of
  /// this rank, and ascending columns, numbered over those of all. Not collective.
  template <class Act>
  void for_each_upper(Act act) const;

  /// The same by blocks: calls act(row, column, block), both numbered over the stiff nodes of all ranks and
  /// row <= column, with dim x dim entries, row-major. Not collective.
  template <class Act>
  void for_each_upper_block(Act act) const;

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

/// The symmetric sandwich of a preconditioner B of K with an exact solve on the stiff nodes,
///
///     z = S r;  z += B (r - A z);  z += S (r - A z),      S = R' (R A R')^-1 R,   A = K + C,
///
/// where R picks the nodes of C. Conjugate gradients that start from x = S b meet residuals with R r = 0
/// only, for which the first S has nothing to do: z = B r; z += S (r - A z) is the same preconditioner for
/// half the solves and products. The remaining S r keeps the rounding in R r from growing (method A-DEF2 of
/// [Tang, Nabben, Vuik, Erlangga 2009], with subdomain solves in the place of deflation vectors).
///
/// R A R' is gathered on the rank with most stiff nodes and factored there or, where that is much work, by
/// several ranks (DissectedCholesky): the same bits in every run.
class StiffSubset {
public:
  /// Unknowns per rank from which on another rank takes part. The time of a factorisation and of the solves
  /// with it then falls with the ranks, and a message of each solve costs nothing beside them.
  static constexpr GlobalIndex default_unknowns_per_part = 10000;

  /// PETSc options of the factorisation have the prefix `prefix`; what they choose must solve exactly, and
  /// one rank does it. Collective.
  StiffSubset(std::shared_ptr<const VectorLayout> layout, std::string prefix,
              GlobalIndex unknowns_per_part = default_unknowns_per_part);

  /// Takes K (`matrix` with `graph`) and C. Returns PETSc's error code of the factorisation, the same on
  /// every rank: PETSC_ERR_MAT_CH_ZRPVT if R A R' is not positive definite. Collective.
  PetscErrorCode set_up(const std::shared_ptr<const NodeGraph>& graph, Mat matrix,
                        const StencilMatrix& stencils);

  /// x = S b. Collective.
  PetscErrorCode start(Vec b, Vec x) const;
  /// z = B r; z += S (r - A z). Collective.
  PetscErrorCode apply(PC inner, Vec r, Vec z) const;

  /// Ranks that factor.
  int num_parts() const;

private:
  void build();
  void build_alone();
  void build_parts();
  void build_matrix();
  PetscErrorCode factor_parts();
  PetscErrorCode factor_alone();
  void gather_values();
  PetscErrorCode factor();
  PetscErrorCode solve() const;
  bool is_host() const { return layout_->comm->rank() == host_; }

  std::shared_ptr<const VectorLayout> layout_;
  std::string prefix_;
  GlobalIndex unknowns_per_part_;
  bool has_options_; ///< of the user
  StiffRows rows_;
  std::unique_ptr<DissectedCholesky> parts_; ///< null where one rank factors, by what follows
  int host_ = 0;                             ///< the rank that factors
  std::vector<PetscInt> starts_, columns_;   ///< upper triangle of R A R' on the host
  std::vector<double> values_;
  MatHandle matrix_; ///< on the arrays above
  PcHandle solver_;
  VecHandle local_;            ///< entries of the stiff nodes of this rank
  VecHandle right_, solution_; ///< all entries on the host, none elsewhere
  ScatterHandle gather_;       ///< local_ to right_; null on one rank
};

} // namespace recoil::linalg
