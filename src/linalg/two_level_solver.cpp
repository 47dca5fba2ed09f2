#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "linalg/factorization.hpp"
#include "linalg/preconditioned_solver.hpp"
#include "linalg/stiff_subset.hpp"

namespace recoil::linalg {

namespace {

class TwoLevelSolver final : public PreconditionedSolver {
public:
  using PreconditionedSolver::PreconditionedSolver;

private:
  PetscErrorCode take_terms(const StencilMatrix* stiff, SumMatrix::Pattern pattern, Renewal& what) override {
    stiff_ = has_terms(stiff) ? share<MatHandle>(stiff->get()) : MatHandle();
    has_two_levels_ = has_terms(stiff) && !is_factorization();
    // Multigrid of a run that may have stiff terms is one of the sum from the beginning: they then come with
    // new values only, as long as K couples their nodes.
    sums_ = stiff != nullptr && method() == LinearMethod::amg && !is_factorization();
    if (!has_two_levels_ && !sums_) {
      softened_ = {{}, {0}, {}, {}};
      return PreconditionedSolver::take_terms(stiff, pattern, what);
    }
    if (has_two_levels_) {
      if (!subset_)
        subset_ =
            std::make_unique<StiffSubset>(settings().layout, settings().prefix + settings().stiff_name + "_");
      if (const PetscErrorCode code = subset_->set_up(graph_, matrix_.get(), *stiff); code != 0) return code;
    }
    choose_softened(*stiff, what);
    return 0;
  }

  /// The matrix of multigrid: K + C with the stencils of C no stiffer than K. With K alone the coarse levels
  /// would let bodies in contact pass through each other, and the exact solve would correct that within one
  /// layer of elements, at the price of iterations that grow with the refinement. The softened stencils stay
  /// those that the operators were made with until other nodes are stiff. Then there are new operators, and a
  /// new interpolation only where the stencils couple nodes that have no place in the pattern so far. A
  /// reference that leaves them out is one of bodies whose mass holds the coarse levels.
  void choose_softened(const StencilMatrix& stiff, Renewal& what) {
    if (policy_.holds_reference_alone()) {
      use_operator(matrix_.get());
      return;
    }
    const bool begins = !policy_.has_interpolation();
    const bool first = begins || (policy_.starts_from_reference() && what >= Renewal::operators);
    const bool other = first || has_moved(stiff.nodes());
    if (!other && what == Renewal::stiff_terms) {
      // The finest level follows K, which costs less than the iterations that it saves.
      if (!has_two_levels_) take_sum(softened_, SumMatrix::Pattern::grown);
      return;
    }
    if (other) softened_ = stiff.softened(softness_limits());
    take_sum(softened_, begins ? SumMatrix::Pattern::minimal : SumMatrix::Pattern::grown);
    what = std::max(what, Renewal::operators);
  }

  /// Whether many of the stiff nodes are other ones than when the hierarchy was built.
  bool has_moved(std::span<const LocalIndex> stiff_nodes) const {
    std::vector<LocalIndex> other;
    std::ranges::set_symmetric_difference(stiff_nodes, softened_.nodes, std::back_inserter(other));
    std::array<double, 2> counts{1.0 * other.size(), 1.0 * stiff_nodes.size()};
    layout().comm->sum(counts);
    return RefreshPolicy::has_moved(counts[0], counts[1]);
  }

  /// Per owned node the mean diagonal entry of K.
  std::vector<double> softness_limits() const {
    VecHandle diagonal;
    RECOIL_PETSC(MatCreateVecs(matrix_.get(), nullptr, diagonal.put()));
    RECOIL_PETSC(MatGetDiagonal(matrix_.get(), diagonal.get()));
    const PetscScalar* values = nullptr;
    RECOIL_PETSC(VecGetArrayRead(diagonal.get(), &values));
    const int size = layout().block_size;
    std::vector<double> limits(layout().num_owned, 0);
    for (std::size_t i = 0; i < limits.size() * size; ++i) limits[i / size] += std::abs(values[i]) / size;
    RECOIL_PETSC(VecRestoreArrayRead(diagonal.get(), &values));
    return limits;
  }

  void create_shells() {
    MPI_Comm comm = layout().comm->get();
    const auto size = layout().num_owned * layout().block_size;
    RECOIL_PETSC(MatCreateShell(comm, size, size, PETSC_DETERMINE, PETSC_DETERMINE, this, sum_shell_.put()));
    RECOIL_PETSC(
        MatShellSetOperation(sum_shell_.get(), MATOP_MULT, reinterpret_cast<void (*)(void)>(&multiply)));
    RECOIL_PETSC(PCCreate(comm, shell_.put()));
    RECOIL_PETSC(PCSetType(shell_.get(), PCSHELL));
    RECOIL_PETSC(PCShellSetContext(shell_.get(), this));
    const std::string name =
        "exact solves on " + settings().stiff_name + " nodes, where there are any, around";
    RECOIL_PETSC(PCShellSetName(shell_.get(), name.c_str()));
    RECOIL_PETSC(PCShellSetApply(shell_.get(), &apply));
    RECOIL_PETSC(PCShellSetView(shell_.get(), &view));
  }

  void connect() override {
    // The matrix of multigrid may have softened stencils of pairs that are apart by now: conjugate gradients
    // alone multiply with K.
    const bool apart = sums_ && !is_factorization() && operator_.get() != matrix_.get();
    is_wrapped_ = has_two_levels_ || apart;
    if (!is_wrapped_) {
      PreconditionedSolver::connect();
      return;
    }
    if (!sum_shell_) create_shells();
    Mat whole = multiplier(operator_.get(), products_);
    RECOIL_PETSC(PCSetOperators(preconditioner_.get(), whole, operator_.get()));
    multiplier_ = operator_.get() == matrix_.get() ? whole : multiplier(matrix_.get(), products_of_matrix_);
    Mat multiplied = has_two_levels_ ? sum_shell_.get() : multiplier_;
    RECOIL_PETSC(KSPSetPC(ksp_.get(), shell_.get()));
    RECOIL_PETSC(KSPSetOperators(ksp_.get(), multiplied, multiplied));
    // The exact solves count on residuals that are zero at the stiff nodes (see StiffSubset).
    RECOIL_PETSC(KSPSetInitialGuessNonzero(ksp_.get(), has_two_levels_ ? PETSC_TRUE : PETSC_FALSE));
  }

  static PetscErrorCode multiply(Mat shell, Vec x, Vec y) {
    TwoLevelSolver* self = nullptr;
    PetscCall(MatShellGetContext(shell, &self));
    PetscCall(MatMult(self->multiplier_, x, y));
    return MatMultAdd(self->stiff_.get(), x, y, y);
  }

  static PetscErrorCode apply(PC shell, Vec r, Vec z) {
    TwoLevelSolver* self = nullptr;
    PetscCall(PCShellGetContext(shell, &self));
    return self->has_two_levels_ ? self->subset_->apply(self->preconditioner_.get(), r, z)
                                 : PCApply(self->preconditioner_.get(), r, z);
  }

  static PetscErrorCode view(PC shell, PetscViewer viewer) {
    TwoLevelSolver* self = nullptr;
    PetscCall(PCShellGetContext(shell, &self));
    return PCView(self->preconditioner_.get(), viewer);
  }

  PetscErrorCode set_up_parts() const override {
    if (!is_wrapped_) return PreconditionedSolver::set_up_parts();
    const auto object = reinterpret_cast<PetscObject>(preconditioner_.get());
    if (const PetscErrorCode code = alone_without_memory(object, PCSetUp(preconditioner_.get())); code != 0)
      return code;
    if (const PetscErrorCode code = KSPSetUp(ksp_.get()); code != 0) return code;
    return PCSetUpOnBlocks(preconditioner_.get());
  }

  PetscErrorCode start(Vec b, Vec x) const override { return has_two_levels_ ? subset_->start(b, x) : 0; }

  bool is_found_indefinite() const override {
    return !is_wrapped_ && PreconditionedSolver::is_found_indefinite();
  }

  bool has_two_levels_ = false;                   ///< for the present terms
  bool is_wrapped_ = false;                       ///< multigrid, in shell_
  bool sums_ = false;                             ///< operator_ is a matrix of its own, K + softened_
  MatHandle stiff_;                               ///< C, a reference of our own
  StencilMatrix::Rows softened_{{}, {0}, {}, {}}; ///< part of operator_
  std::unique_ptr<StiffSubset> subset_;
  MatHandle sum_shell_; ///< K + C
  SymmetricBlocks products_of_matrix_;
  Mat multiplier_ = nullptr; ///< with K: matrix_ or a shell of products_ or products_of_matrix_
  PcHandle shell_;           ///< subset_ around preconditioner_
};

} // namespace

std::unique_ptr<PreconditionedSolver> make_two_level_solver(const PreconditionedSolver::Settings& settings,
                                                            LinearMethod method) {
  return std::make_unique<TwoLevelSolver>(settings, method);
}

} // namespace recoil::linalg
