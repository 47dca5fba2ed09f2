#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linalg/solver_options.hpp"
#include "linalg/stiff_rows.hpp"

namespace recoil::linalg {

/// The symmetric sandwich of a preconditioner B of K with an exact solve on the stiff nodes,
///
///     z = S r;  z += B (r - A z);  z += S (r - A z),      S = R' (R A R')^-1 R,   A = K + C,
///
/// where R picks the nodes of C. Conjugate gradients that start from x = S b meet residuals with R r = 0
/// only, for which the first S has nothing to do: z = B r; z += S (r - A z) is the same preconditioner for
/// half the solves and products. The remaining S r keeps the rounding in R r from growing (method A-DEF2 of
/// [Tang, Nabben, Vuik, Erlangga 2009], with subdomain solves in the place of deflation vectors).
///
/// R A R' is gathered on the rank with most stiff nodes and factored there: the same bits in every run.
class StiffSubset {
public:
  /// PETSc options of the factorisation have the prefix `prefix`; what they choose must solve exactly.
  /// Collective.
  StiffSubset(std::shared_ptr<const VectorLayout> layout, std::string prefix);

  /// Takes K (`matrix` with `graph`) and C. Returns PETSc's error code of the factorisation, the same on
  /// every rank: PETSC_ERR_MAT_CH_ZRPVT if R A R' is not positive definite. Collective.
  PetscErrorCode set_up(const std::shared_ptr<const NodeGraph>& graph, Mat matrix,
                        const StencilMatrix& stencils);

  /// x = S b. Collective.
  PetscErrorCode start(Vec b, Vec x) const;
  /// z = B r; z += S (r - A z). Collective.
  PetscErrorCode apply(PC inner, Vec r, Vec z) const;

private:
  void build();
  void build_matrix();
  void gather_values();
  PetscErrorCode factor();
  PetscErrorCode solve() const;
  bool is_host() const { return layout_->comm->rank() == host_; }

  std::shared_ptr<const VectorLayout> layout_;
  std::string prefix_;
  StiffRows rows_;
  int host_ = 0;                           ///< the rank that factors
  std::vector<PetscInt> starts_, columns_; ///< upper triangle of R A R' on the host
  std::vector<double> values_;
  MatHandle matrix_; ///< on the arrays above
  PcHandle solver_;
  VecHandle local_;            ///< entries of the stiff nodes of this rank
  VecHandle right_, solution_; ///< all entries on the host, none elsewhere
  ScatterHandle gather_;       ///< local_ to right_; null on one rank
};

} // namespace recoil::linalg
