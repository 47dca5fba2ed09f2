#pragma once

#include <memory>
#include <span>
#include <string>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/stencil_matrix.hpp"

namespace recoil::linalg {

enum class LinearMethod {
  automatic, ///< direct up to the measured crossover and where matrices fill little; amg elsewhere
  direct,    ///< sparse Cholesky
  amg        ///< conjugate gradients with smoothed-aggregation multigrid
};

enum class LinearOutcome {
  converged,
  indefinite,    ///< the matrix was found not to be positive definite
  not_converged, ///< iteration limit reached or stagnation
  failed ///< infinite or undefined numbers in matrix or right-hand side, or the preconditioner broke down
};

/// How multigrid meets contact terms C in A = K + C, which may be 1e8 times as stiff as K.
enum class ContactPreconditioner {
  sandwich, ///< multigrid of K with softened contact terms between exact solves on the contact nodes:
            ///< iterations hardly depend on C
  plain     ///< multigrid of the assembled K + C
};

/// What refresh() renews of multigrid.
enum class Refresh {
  all,
  keep_hierarchy ///< K has the old values, or new ones for which the old hierarchy shall do
};

struct LinearResult {
  LinearOutcome outcome = LinearOutcome::failed;
  int iterations = 0;           ///< of conjugate gradients
  double relative_residual = 0; ///< |b - A x| / |b|, computed afresh after the solve; 0 for b = 0
};

/// Solver of symmetric positive definite systems A = K + C: K has one sparsity pattern and changing values, C
/// is the sum of contact stencils, if any, with another pattern every time. Conjugate gradients,
/// preconditioned by multigrid of K - with contact in the symmetric sandwich S-AMG-S, where S solves exactly
/// for the nodes of C (docs/architecture.md) - or by a factorisation of A. PETSc options with the given
/// prefix override every built-in choice
/// (`-recoil_pc_type hypre`, `-recoil_pc_gamg_threshold 0.02`, `-recoil_ksp_view`, ..) and are read by the
/// constructor; those of the factorisation in S have `contact_` behind the prefix, and
/// `-recoil_contact_plain` is ContactPreconditioner::plain. The built-in choices give bitwise the same result
/// in every run on the same number of ranks.
class LinearSolver {
public:
  /// Collective over the communicator of `layout`, which also gives the dimension (block size). @throws
  /// LibraryError for PETSc options that PETSc refuses.
  explicit LinearSolver(std::shared_ptr<const VectorLayout> layout,
                        LinearMethod method = LinearMethod::automatic, std::string options_prefix = "recoil_",
                        ContactPreconditioner contact = ContactPreconditioner::sandwich);
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;
  ~LinearSolver();

  /// Takes a new matrix, or new values of which the interpolation of multigrid shall be built anew, with the
  /// rigid body modes of `positions`, zero in `constrained` entries (both as for NearNullSpace; unused by
  /// other methods). Call it at the first solve of a time step, so that nothing depends on earlier steps.
  /// Keeps references to the matrix and to `contact` (null: none), which must keep their values until the
  /// solves with them are done. Rows and columns of C that are zero, as those of prescribed components, do no
  /// harm. Collective.
  void rebuild(const BlockMatrix& matrix, const Vector& positions, std::span<const char> constrained,
               const StencilMatrix* contact = nullptr);

  /// Takes new values of the matrix given to rebuild() and new contact terms with any pattern: keeps
  /// interpolation or symbolic factorisation (where the pattern of C is contained in that of before), renews
  /// coarse operators and smoothers or the numerical factorisation. With Refresh::keep_hierarchy multigrid
  /// keeps all of it, whatever the values of K - it stays positive definite, at the price of some
  /// iterations - and set-up costs what the contact surface costs. Either way the interpolation is built anew
  /// where many other nodes are in contact than when it was built. solve() always uses the K and C of now.
  /// Other methods take it for Refresh::all. Collective.
  void refresh(const StencilMatrix* contact = nullptr, Refresh what = Refresh::all);

  /// Solves A x = b from x = 0 until |b - A x| <= relative_tolerance |b|, or as far as rounding allows (the
  /// result tells how far); owned and ghost entries of `x` are set. Never throws because of the numbers: see
  /// LinearOutcome, which is the same on all ranks; x is the last iterate if converged or not_converged, else
  /// zero. `indefinite` is what the factorisation or directions of non-positive curvature reveal; a converged
  /// solution has x'Ax > 0. Collective.
  LinearResult solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);

  /// Solves A x = b after a direct solve() has come out `indefinite`, by an LDL' factorisation of the same
  /// matrix: the stationary point of the quadratic model, a saddle. `converged` with owned and ghost entries
  /// of `x` set, or another outcome and x = 0; `indefinite` where the method is not direct. Collective.
  LinearResult solve_indefinite(const Vector& b, Vector& x, double relative_tolerance);

  /// What `automatic` has come to: by dimension, size and ranks at first, then anew in every rebuild(), by
  /// the work that symbolic elimination finds in K and its contact terms.
  LinearMethod method() const;
  /// One line for the log: Krylov method, preconditioner, and PETSc options of the user that changed them.
  std::string description() const;
  /// False if the user's PETSc options choose something that is known to give other last bits in every run
  /// (MUMPS and other parallel factorisations on more than one rank, other triple products in multigrid on
  /// more than two).
  bool repeatable() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace recoil::linalg
