#pragma once

#include <memory>
#include <vector>

#include "linalg/preconditioned_solver.hpp"
#include "linalg/stiff_subset.hpp"

namespace recoil::linalg {

/// Conjugate gradients for A = K + C, which is not assembled, preconditioned by multigrid of K with softened
/// stiff terms between exact solves on the nodes of C (StiffSubset). Without stiff terms, or where PETSc's
/// options ask for a factorisation in the place of multigrid, like its base.
class TwoLevelSolver final : public PreconditionedSolver {
public:
  explicit TwoLevelSolver(const Settings& settings) : PreconditionedSolver(settings, LinearMethod::amg) {}

private:
  PetscErrorCode take_terms(const StencilMatrix* stiff, SumMatrix::Pattern pattern, Renewal what) override;
  void connect() override;
  PetscErrorCode set_up_parts() const override;
  PetscErrorCode start(Vec b, Vec x) const override;
  bool is_found_indefinite() const override;

  void choose_softened(const StencilMatrix& stiff, Renewal what);
  bool has_moved(std::span<const LocalIndex> stiff_nodes) const;
  std::vector<double> softness_limits() const;
  void create_shells();
  static PetscErrorCode multiply(Mat shell, Vec x, Vec y);
  static PetscErrorCode apply(PC shell, Vec r, Vec z);
  static PetscErrorCode view(PC shell, PetscViewer viewer);

  bool has_two_levels_ = false;                   ///< for the present terms
  MatHandle stiff_;                               ///< C, a reference of our own
  StencilMatrix::Rows softened_{{}, {0}, {}, {}}; ///< part of operator_
  std::unique_ptr<StiffSubset> subset_;
  MatHandle sum_shell_; ///< K + C
  PcHandle shell_;      ///< subset_ around preconditioner_
};

} // namespace recoil::linalg
