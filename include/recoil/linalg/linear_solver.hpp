#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/coarse_space.hpp"
#include "recoil/linalg/linear_result.hpp"
#include "recoil/linalg/near_null_space.hpp"
#include "recoil/linalg/stencil_matrix.hpp"

namespace recoil::linalg {

enum class LinearMethod {
  automatic,   ///< direct up to the measured crossover, where matrices fill little and where amg was slow;
               ///< amg elsewhere, or block_jacobi where the condition is known to be low
  direct,      ///< sparse Cholesky
  amg,         ///< conjugate gradients with smoothed-aggregation multigrid
  block_jacobi ///< conjugate gradients with the inverses of the diagonal blocks
};

/// How multigrid meets the stiff terms C in A = K + C, which may be 1e8 times as stiff as K.
enum class StiffTerms {
  two_level, ///< multigrid of K with softened stiff terms between exact solves on their nodes: iterations
             ///< hardly depend on C
  assembled  ///< multigrid of the assembled K + C
};

/// What is prepared again for a matrix; each includes those before.
enum class Renewal {
  nothing,
  stiff_terms, ///< exact solves of C; of multigrid only what C concerns
  operators,   ///< coarse operators and smoothers of multigrid, or the numerical factorisation
  everything   ///< interpolation too
};

/// What solves have shown of the hierarchy of a reference matrix (LinearSolver::begin_with_reference()).
struct HierarchyRecord {
  double key = 0;                  ///< names the reference
  double iterations_per_digit = 0; ///< of solves with it when it was new; 0: not known
  /// What sequences renew first: nothing of the hierarchy, its operators, or everything: it is given up.
  Renewal at_start = Renewal::stiff_terms;
  double iterations_per_digit_with_stiff_terms = 0; ///< in the first sequence that met some; 0: not known
  bool prefers_factors = false; ///< a solve with multigrid took longer than a factorisation would have
};

struct LinearSolverOptions {
  int dimension = 3; ///< of the space that the nodes lie in, 2 or 3: factors fill more in 3D
  LinearMethod method = LinearMethod::automatic;
  StiffTerms stiff_terms = StiffTerms::two_level;
  std::string prefix = "recoil_";   ///< of PETSc options
  std::string stiff_name = "stiff"; ///< of the stiff terms, in PETSc options and description()
  /// What multigrid goes to from the finest level (null: aggregates at once); PETSc options of the
  /// aggregation then have `mg_coarse_` behind the prefix.
  std::shared_ptr<const CoarseSpace> coarse_space = nullptr;
};

/// Solver of symmetric positive definite systems A = K + C: K has one sparsity pattern and changing values, C
/// is the sum of stiff stencils, if any, with another pattern every time. Conjugate gradients, preconditioned
/// by multigrid or by the diagonal blocks of K - with stiff terms beside S, an exact solve for the nodes of C
/// (two-level, started from x = S b; see docs/decisions.md) - or by a factorisation of A. PETSc options with
/// the given prefix override every built-in choice (`-recoil_pc_type hypre`, `-recoil_ksp_view`, ..) and are
/// read by the constructor; with the name of the stiff terms "contact", those
/// of the factorisation in S have `contact_` behind the prefix, and `-recoil_contact_plain` is
/// StiffTerms::assembled. The built-in choices give bitwise the same result in every run on the same number
/// of ranks.
///
///     solver.begin_sequence();                                  // of every time step
///     solver.update(matrix, modes, &stiff);  solver.solve(b, x, ..);   // as often as needed
///
/// A solver decides by itself what it prepares again for a matrix, from the iterations of earlier solves.
class LinearSolver {
public:
  /// Collective over the communicator of `layout`. @throws LibraryError for PETSc options that PETSc refuses.
  explicit LinearSolver(std::shared_ptr<const VectorLayout> layout, LinearSolverOptions options);
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;
  ~LinearSolver();

  /// Makes the near null space of K; called where multigrid builds its interpolation, on every rank.
  using MakeNearNullSpace = std::function<NearNullSpace()>;

  /// The next matrix begins a sequence, those of a time step: everything is built again for it, so that
  /// nothing depends on earlier ones. `condition`: an estimate of the condition number of the matrices K of
  /// the sequence, scaled by their diagonal blocks, where there is one; LinearMethod::automatic chooses
  /// block_jacobi by it. Not collective; the same on every rank.
  void begin_sequence(double condition = std::numeric_limits<double>::infinity());
  /// Whether no matrix of the sequence has been prepared yet. Not collective.
  bool sequence_begins() const;
  /// Lets the sequence that begins, if it does, use multigrid's hierarchy of a reference matrix, which lasts
  /// until another `key` comes. Where there is none at hand, `assemble` brings the reference into `matrix`;
  /// update() has to follow in any case. How far the hierarchy serves, whole or its interpolation alone, is
  /// decided by the iterations of earlier solves, and is part of hierarchy_record(). What depends on a
  /// reference that `key` tells, and on that record, is the same after a restart. `stiff`: the terms that the
  /// sequence begins with, maybe empty; null: none are foreseen, or the hierarchy of the reference leaves
  /// them out, and a sequence that meets some prepares for them by itself. Sequences that begin with some
  /// renew coarse operators, and the first term that couples nodes that K does not ends the use of the
  /// reference. Whether `assemble` has been called, so that `matrix` is the reference now. Collective.
  bool begin_with_reference(const BlockMatrix& matrix, double key, const std::function<void()>& assemble,
                            const MakeNearNullSpace& near_null_space, const StencilMatrix* stiff = nullptr);
  HierarchyRecord hierarchy_record() const;
  /// Goes on as the solver that had this record; no hierarchy is kept. Not collective.
  void restore(const HierarchyRecord& record);
  /// Takes a matrix, or new values of it, and stiff terms (null: none) with any pattern. Both are only
  /// referred to, and must keep their values until the solves with them are done; work is left to the next
  /// solve. Rows and columns of C that are zero, as those of prescribed components, do no harm. Not
  /// collective.
  void update(const BlockMatrix& matrix, MakeNearNullSpace near_null_space,
              const StencilMatrix* stiff = nullptr);

  /// Prepares `what` of the matrix of update() now, whatever the solver would have decided before its next
  /// solve. Less than `everything` keeps the interpolation or the symbolic factorisation, where the pattern
  /// of C is contained in that of before; with Renewal::stiff_terms multigrid stays as it is, whatever the
  /// values of K, at the price of some iterations, and a factorisation takes it for Renewal::operators. The
  /// interpolation is rebuilt in any case where many other nodes are stiff than when it was built.
  /// Collective.
  void prepare(Renewal what);

  /// Solves A x = b from x = 0 until |b - A x| <= relative_tolerance |b|, or as far as rounding allows (the
  /// result tells how far); owned and ghost entries of `x` are set. Never throws because of the numbers: see
  /// LinearOutcome, which is the same on all ranks; x is the last iterate if converged or not_converged, else
  /// zero. A solve with a preconditioner of an earlier matrix that takes far more iterations than expected is
  /// repeated with a renewed one, and counts both. `indefinite` is what the factorisation, negative entries
  /// of the diagonal or directions of non-positive curvature reveal; a converged solution has x'Ax > 0.
  /// Collective.
  LinearResult solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);

  /// Solves A x = b for any symmetric A: where conjugate gradients fail, by a factorisation, and by
  /// GMRES on an LDL' factorisation where that solve comes out `indefinite`. Collective.
  LinearResult solve_stationary(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);

  /// Solves A x = b after a direct solve() has come out `indefinite`, by an LDL' factorisation of the same
  /// matrix: the stationary point of the quadratic model, a saddle. `converged` with owned and ghost entries
  /// of `x` set, or another outcome and x = 0; `indefinite` where the method is not direct, or where its
  /// factorisation is definite and rounding in conjugate gradients has found otherwise. Collective.
  LinearResult solve_indefinite(const Vector& b, Vector& x, double relative_tolerance);

  /// What `automatic` has chosen: by dimension, size and ranks at first, then anew where everything is
  /// rebuilt, by the work that symbolic elimination finds in K and its stiff terms.
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
