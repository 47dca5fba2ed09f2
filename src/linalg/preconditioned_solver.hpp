#pragma once

#include <memory>
#include <string>

#include "linalg/coarse_level.hpp"
#include "linalg/gamg_products.hpp"
#include "linalg/refresh_policy.hpp"
#include "linalg/solver_options.hpp"
#include "linalg/sum_matrix.hpp"
#include "linalg/symmetric_blocks.hpp"

namespace recoil::linalg {

/// Conjugate gradients for the assembled A = K + C with what PETSc's options say for a preconditioner: by
/// default multigrid of the sum, or its sparse Cholesky factorisation.
class PreconditionedSolver {
public:
  struct Settings {
    std::shared_ptr<const VectorLayout> layout;
    std::string prefix, stiff_name;
    OptionList user_options;
    std::shared_ptr<const CoarseSpace> coarse_space; ///< null: none
  };
  /// @param method any but automatic. Collective.
  PreconditionedSolver(const Settings& settings, LinearMethod method);
  virtual ~PreconditionedSolver() = default;
  PreconditionedSolver(const PreconditionedSolver&) = delete;
  PreconditionedSolver& operator=(const PreconditionedSolver&) = delete;

  RefreshPolicy& policy() { return policy_; }
  const RefreshPolicy& policy() const { return policy_; }

  /// Sets the matrix, as LinearSolver does; stiff terms may be null or empty. Collective.
  void rebuild(const BlockMatrix& matrix, const LinearSolver::MakeNearNullSpace& near_null_space,
               const StencilMatrix* stiff);
  void refresh(const StencilMatrix* stiff, Renewal what);
  /// Sets the hierarchy of the reference matrix `key` up, to which stiff terms will be added if `stiff`,
  /// which is empty then, is not null; false if that has failed. Collective.
  bool take_reference(const BlockMatrix& matrix, const LinearSolver::MakeNearNullSpace& near_null_space,
                      const StencilMatrix* stiff, double key);
  bool is_factorization() const;
  /// One solve with what has been prepared. Collective.
  LinearResult solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);
  /// Whether the last set-up of the direct method has found A to be indefinite.
  bool has_indefinite_factor() const {
    return method_ == LinearMethod::direct && set_up_outcome_ == LinearOutcome::indefinite;
  }
  /// By GMRES on a sparse LDL' factorisation, which without pivoting is inexact near singular leading blocks.
  /// @pre the method is direct. Collective.
  LinearResult solve_indefinite(const Vector& b, Vector& x, double relative_tolerance);

protected:
  static bool has_terms(const StencilMatrix* stiff) { return stiff != nullptr && !stiff->empty(); }
  LinearMethod method() const { return method_; }
  const VectorLayout& layout() const { return *settings_.layout; }
  const Settings& settings() const { return settings_; }
  void create();
  /// Takes K and C (null or empty: none) into the operator of preconditioner_, and raises `what` is renewed
  /// where they need more. Returns PETSc's error code, the same on every rank.
  virtual PetscErrorCode take_terms(const StencilMatrix* stiff, SumMatrix::Pattern pattern, Renewal& what);
  /// Gives ksp_ its operators and its preconditioner.
  virtual void connect();
  virtual PetscErrorCode set_up_parts() const;
  /// Makes x a start of the iterations.
  virtual PetscErrorCode start(Vec b, Vec x) const;
  /// Whether the set-up has found out by itself that A is indefinite. Collective.
  virtual bool is_found_indefinite() const;

  void take_sum(const StencilMatrix::Rows& rows, SumMatrix::Pattern pattern);
  void use_operator(Mat matrix);
  /// What multiplies with `matrix`: `products`, brought up to date, or the matrix itself. Collective.
  Mat multiplier(Mat matrix, SymmetricBlocks& products) const;

  RefreshPolicy policy_;
  KspHandle ksp_;
  PcHandle preconditioner_; ///< of K or K + C: what ksp_ uses, or what TwoLevelSolver holds
  std::shared_ptr<const NodeGraph> graph_;
  MatHandle matrix_;         ///< K, a reference of our own
  MatHandle operator_;       ///< of preconditioner_: K, K + C or K + softened C
  SymmetricBlocks products_; ///< with operator_

private:
  /// GAMG if there is one: the coarse solver where there is a coarse space.
  PC aggregation() const;
  /// Has GAMG make aggregates and multiply as recoil does, unless the user has chosen how PETSc does.
  void replace_parts() const;
  void set_up(const StencilMatrix* stiff, SumMatrix::Pattern pattern, Renewal what);
  bool measure(const StencilMatrix* stiff);
  bool has_admissible_diagonal();
  PetscErrorCode run(const Vector& b, Vector& x) const;
  PetscErrorCode run_indefinite(Vec b, Vec x, double relative_tolerance, LinearResult& result) const;
  LinearOutcome outcome_of_error(PetscErrorCode code, const char* act) const;
  void judge(const Vector& b, const Vector& x, double relative_tolerance, LinearResult& result);

  Settings settings_;
  LinearMethod method_;
  OptionList default_options_;
  bool users_tolerance_ = false, users_limit_ = false;
  std::unique_ptr<NearNullSpace> modes_;
  std::unique_ptr<CoarseLevel> coarse_level_; ///< null where multigrid goes to aggregates at once
  LevelProducts level_products_;
  SumMatrix sum_;
  Vector residual_;
  LinearOutcome set_up_outcome_ = LinearOutcome::failed;
  double matrix_norm_ = 0;
};

/// Conjugate gradients for A = K + C, which is not assembled, preconditioned by multigrid of K with softened
/// stiff terms, or its diagonal blocks, between exact solves on the nodes of C (StiffSubset). Without stiff
/// terms, or where PETSc's options ask for a factorisation in the place of multigrid, like
/// PreconditionedSolver. `method`: amg or block_jacobi. Collective.
std::unique_ptr<PreconditionedSolver> make_two_level_solver(const PreconditionedSolver::Settings& settings,
                                                            LinearMethod method);

} // namespace recoil::linalg
