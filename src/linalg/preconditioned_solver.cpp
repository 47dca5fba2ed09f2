#include "linalg/preconditioned_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "linalg/aggregates.hpp"
#include "linalg/factorization.hpp"
#include "linalg/gamg_products.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::linalg {

namespace {

/// Errors by which PETSc reports what the numbers of a matrix bring about; all others are mistakes in its
/// use. Sizes that do not fit come from a refreshed hierarchy whose coarse matrices have moved to other ranks
/// (PETSc 3.18, `matptap_via backend`): a new one is in order.
bool is_numerical(PetscErrorCode code) {
  constexpr std::array<int, 7> numerical{PETSC_ERR_MAT_CH_ZRPVT, PETSC_ERR_MAT_LU_ZRPVT, PETSC_ERR_FP,
                                         PETSC_ERR_CONV_FAILED,  PETSC_ERR_LIB,          PETSC_ERR_MEM,
                                         PETSC_ERR_ARG_SIZ};
  return holds(numerical, code);
}

const StencilMatrix::Rows no_stiff_terms{{}, {0}, {}, {}};

/// Most iterations of GMRES for an indefinite system; more would mean that the factorisation is of no use.
constexpr int max_indefinite_iterations = 30;

LinearOutcome outcome_of(KSPConvergedReason reason) {
  if (reason > 0) return LinearOutcome::converged;
  switch (reason) {
  case KSP_DIVERGED_INDEFINITE_MAT:
  case KSP_DIVERGED_INDEFINITE_PC:
    return LinearOutcome::indefinite;
  case KSP_DIVERGED_NANORINF:
  case KSP_DIVERGED_PC_FAILED:
    return LinearOutcome::failed;
  default:
    return LinearOutcome::not_converged;
  }
}

/// The largest sum of absolute values in a row of this rank; infinite if there are infinite or undefined
/// numbers.
double largest_row_sum(Mat matrix) {
  const MatrixParts parts = read_parts(matrix);
  PetscInt first = 0, end = 0;
  RECOIL_PETSC(MatGetOwnershipRange(matrix, &first, &end));
  double largest = 0;
  const auto sum_row = [](const PetscInt* rows, const PetscScalar* values, PetscInt row) {
    double sum = 0;
    for (PetscInt k = rows[row]; k < rows[row + 1]; ++k) sum += std::abs(values[k]);
    return sum;
  };
  for (PetscInt row = 0; row < end - first; ++row) {
    double sum = sum_row(parts.diagonal_rows, parts.diagonal, row);
    if (parts.off_diagonal_rows != nullptr) sum += sum_row(parts.off_diagonal_rows, parts.off_diagonal, row);
    // Comparisons would pass over undefined numbers.
    if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, sum);
  }
  return largest;
}

struct InnerProducts {
  double length = 0, residual = 0, work = 0; ///< |x|, |r|, b'x
};

/// All three by one sum over the ranks. Collective.
InnerProducts inner_products(const Vector& b, const Vector& x, const Vector& r) {
  InnerProducts products;
  RECOIL_PETSC(VecNormBegin(x.get(), NORM_2, &products.length));
  RECOIL_PETSC(VecNormBegin(r.get(), NORM_2, &products.residual));
  RECOIL_PETSC(VecDotBegin(b.get(), x.get(), &products.work));
  RECOIL_PETSC(VecNormEnd(x.get(), NORM_2, &products.length));
  RECOIL_PETSC(VecNormEnd(r.get(), NORM_2, &products.residual));
  RECOIL_PETSC(VecDotEnd(b.get(), x.get(), &products.work));
  return products;
}

} // namespace

PreconditionedSolver::PreconditionedSolver(const Settings& settings, LinearMethod method)
    : policy_(method == LinearMethod::block_jacobi), settings_(settings), method_(method),
      default_options_(default_options(method, settings.prefix, settings.layout->comm->size(),
                                       settings.user_options, settings.coarse_space != nullptr)),
      residual_(settings.layout) {
  const auto has = [&](const char* name) {
    return std::ranges::any_of(settings_.user_options,
                               [&](const auto& option) { return option.first == settings_.prefix + name; });
  };
  users_tolerance_ = has("ksp_rtol");
  users_limit_ = has("ksp_max_it");
  create();
}

void PreconditionedSolver::create() {
  register_upper_cholesky();
  policy_.created();
  RECOIL_PETSC(KSPCreate(layout().comm->get(), ksp_.put()));
  RECOIL_PETSC(KSPSetOptionsPrefix(ksp_.get(), settings_.prefix.c_str()));
  RECOIL_PETSC(KSPSetType(ksp_.get(), KSPCG));
  RECOIL_PETSC(KSPSetNormType(ksp_.get(), KSP_NORM_UNPRECONDITIONED));
  const ScopedOptions defaults(default_options_);
  const QuietErrors quiet;
  RECOIL_PETSC(KSPSetFromOptions(ksp_.get()));
  PC pc = nullptr;
  RECOIL_PETSC(KSPGetPC(ksp_.get(), &pc));
  preconditioner_ = share<PcHandle>(pc);
  // The smoothers of multigrid multiply as conjugate gradients do.
  RECOIL_PETSC(PCSetUseAmat(pc, PETSC_TRUE));
  PetscBool is_multigrid = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCMG, &is_multigrid));
  if (settings_.coarse_space && is_multigrid == PETSC_TRUE) {
    if (!coarse_level_) coarse_level_ = std::make_unique<CoarseLevel>(layout(), *settings_.coarse_space);
    RECOIL_PETSC(CoarseLevel::make_levels(pc));
  }
  level_products_.clear();
  replace_parts();
}

bool PreconditionedSolver::is_factorization() const {
  PCType type = nullptr;
  RECOIL_PETSC(PCGetType(preconditioner_.get(), &type));
  // Of shells there is only UpperCholesky's.
  constexpr std::array<std::string_view, 5> factorizations{PCCHOLESKY, PCLU, PCTELESCOPE, PCREDUNDANT,
                                                           PCSHELL};
  return type != nullptr && holds(factorizations, type);
}

void PreconditionedSolver::rebuild(const BlockMatrix& matrix,
                                   const LinearSolver::MakeNearNullSpace& near_null_space,
                                   const StencilMatrix* stiff) {
  // A new solver object, as GAMG would keep the near null space of its first hierarchy, and with its
  // number of levels.
  const bool same_matrix = matrix.get() == matrix_.get();
  if (!ksp_ || !same_matrix || !is_factorization()) create();
  if (!same_matrix) {
    matrix_ = share<MatHandle>(matrix.get());
    graph_ = matrix.shared_graph();
    sum_ = {};
  }
  if (!is_factorization()) {
    modes_ = std::make_unique<NearNullSpace>(near_null_space());
    RECOIL_PETSC(MatSetNearNullSpace(matrix_.get(), modes_->get()));
  }
  set_up(stiff, SumMatrix::Pattern::minimal, Renewal::everything);
}

PC PreconditionedSolver::aggregation() const {
  if (!coarse_level_) return preconditioner_.get();
  KSP solver = nullptr;
  PC pc = nullptr;
  RECOIL_PETSC(PCMGGetCoarseSolve(preconditioner_.get(), &solver));
  RECOIL_PETSC(KSPGetPC(solver, &pc));
  return pc;
}

void PreconditionedSolver::replace_parts() const {
  if (coarse_level_) {
    KSP solver = nullptr;
    RECOIL_PETSC(PCMGGetCoarseSolve(preconditioner_.get(), &solver));
    // Without its options it is no GAMG yet.
    RECOIL_PETSC(KSPSetFromOptions(solver));
  }
  if (!chooses_aggregates(settings_.user_options)) use_compact_aggregates(aggregation());
  if (!chooses_products(settings_.user_options)) use_block_products(aggregation());
}

bool PreconditionedSolver::take_reference(const BlockMatrix& matrix,
                                          const LinearSolver::MakeNearNullSpace& near_null_space,
                                          const StencilMatrix* stiff, double key) {
  if (stiff == nullptr || !policy_.has_interpolation_of(key)) rebuild(matrix, near_null_space, stiff);
  // Stiff terms take the operators of the reference away. Where these are made again they have to be the
  // same, but on three and more ranks first and later ones differ in the last bits: by PETSc's products, and
  // as only first ones move to fewer ranks.
  if (stiff != nullptr) refresh(stiff, Renewal::operators);
  policy_.took_reference(key);
  return set_up_outcome_ == LinearOutcome::converged;
}

void PreconditionedSolver::refresh(const StencilMatrix* stiff, Renewal what) {
  RECOIL_ASSERT(matrix_);
  if (!ksp_ || policy_.is_unsound()) create();
  set_up(stiff, SumMatrix::Pattern::grown, what);
}

void PreconditionedSolver::set_up(const StencilMatrix* stiff, SumMatrix::Pattern pattern, Renewal what) {
  set_up_outcome_ = LinearOutcome::failed;
  const PetscErrorCode terms_code = measure(stiff) ? take_terms(stiff, pattern, what) : PETSC_ERR_FP;
  policy_.renewed(what);
  if (has_terms(stiff)) policy_.meet_stiff_terms();
  if (terms_code != 0) {
    set_up_outcome_ = outcome_of_error(terms_code, "factoring the block of the stiff nodes");
    return;
  }
  if (!has_admissible_diagonal()) {
    // What was set up before stays for matrices to come.
    set_up_outcome_ = LinearOutcome::indefinite;
    return;
  }
  const bool keep = what == Renewal::stiff_terms && policy_.has_interpolation() && !is_factorization();
  RECOIL_PETSC(PCSetReusePreconditioner(preconditioner_.get(), keep ? PETSC_TRUE : PETSC_FALSE));
  connect();
  PetscErrorCode code = 0;
  {
    const ScopedOptions defaults(default_options_);
    const QuietErrors quiet;
    const DeferredSignals deferred;
    if (coarse_level_ && !keep)
      code = coarse_level_->take(preconditioner_.get(), operator_.get(), modes_.get());
    if (code == 0) code = set_up_parts();
  }
  if (code = agree(*layout().comm, code); code != 0) {
    // An error may leave PETSc's objects half set up.
    ksp_.reset();
    set_up_outcome_ = outcome_of_error(code, "setting up the linear solver");
    return;
  }
  policy_.set_up();
  if (!keep) multiply_levels_by_halves(aggregation(), level_products_);
  if (is_found_indefinite()) {
    set_up_outcome_ = LinearOutcome::indefinite;
    return;
  }
  // A solve would set up again by itself, and fail there, if the matrix has changed in between.
  RECOIL_PETSC(PCSetReusePreconditioner(preconditioner_.get(), PETSC_TRUE));
  set_up_outcome_ = LinearOutcome::converged;
}

/// Norm of the matrix, or a bound; false if there are infinite or undefined numbers in it.
bool PreconditionedSolver::measure(const StencilMatrix* stiff) {
  matrix_norm_ = layout().comm->max(largest_row_sum(matrix_.get()));
  if (std::isfinite(matrix_norm_) && has_terms(stiff))
    matrix_norm_ += layout().comm->max(largest_row_sum(stiff->get()));
  return std::isfinite(matrix_norm_);
}

/// Smoothers and blocks that divide by negative entries make a preconditioner that can hide from conjugate
/// gradients what the matrix is. Smoothers leave rows with a zero there as they are. What is looked at is K
/// with softened C, so that a definite K + C may be refused where K is far from definite. True for the direct
/// method, whose factorisation finds out by itself.
bool PreconditionedSolver::has_admissible_diagonal() {
  if (method_ == LinearMethod::direct) return true;
  RECOIL_PETSC(MatGetDiagonal(operator_.get(), residual_.get()));
  PetscReal least = 0;
  RECOIL_PETSC(VecMin(residual_.get(), nullptr, &least));
  return method_ == LinearMethod::block_jacobi ? least > 0 : least >= 0;
}

PetscErrorCode PreconditionedSolver::take_terms(const StencilMatrix* stiff, SumMatrix::Pattern pattern,
                                                Renewal&) {
  // Where stiff terms have come and gone within a step, their pattern stays: no new symbolic factorisation.
  const bool keeps_sum = is_factorization() && pattern == SumMatrix::Pattern::grown && operator_ &&
                         operator_.get() == sum_.get();
  if (has_terms(stiff) || keeps_sum)
    take_sum(has_terms(stiff) ? stiff->rows() : no_stiff_terms, pattern);
  else
    use_operator(matrix_.get());
  return 0;
}

void PreconditionedSolver::take_sum(const StencilMatrix::Rows& rows, SumMatrix::Pattern pattern) {
  sum_.assemble(layout(), graph_, matrix_.get(), rows, pattern);
  use_operator(sum_.get());
  if (modes_ && !is_factorization()) RECOIL_PETSC(MatSetNearNullSpace(sum_.get(), modes_->get()));
}

void PreconditionedSolver::use_operator(Mat matrix) {
  if (operator_.get() == matrix) return;
  // Neither telescope nor multigrid can take another pattern; other factorisations can.
  PetscBool is_telescope = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner_.get()), PCTELESCOPE,
                                      &is_telescope));
  if (policy_.has_interpolation() && (!is_factorization() || is_telescope == PETSC_TRUE)) create();
  operator_ = share<MatHandle>(matrix);
}

Mat PreconditionedSolver::multiplier(Mat matrix, SymmetricBlocks& products) const {
  PCType type = nullptr;
  RECOIL_PETSC(PCGetType(preconditioner_.get(), &type));
  // These need the entries of one of two operators only.
  constexpr std::array<std::string_view, 3> takers{PCGAMG, PCMG, PCPBJACOBI};
  if (!SymmetricBlocks::can_take(layout().block_size) || type == nullptr || !holds(takers, type))
    return matrix;
  products.take(matrix);
  return products.get();
}

void PreconditionedSolver::connect() {
  RECOIL_PETSC(KSPSetPC(ksp_.get(), preconditioner_.get()));
  RECOIL_PETSC(KSPSetOperators(ksp_.get(), multiplier(operator_.get(), products_), operator_.get()));
  RECOIL_PETSC(KSPSetInitialGuessNonzero(ksp_.get(), PETSC_FALSE));
}

PetscErrorCode PreconditionedSolver::set_up_parts() const { return set_up_factorization(ksp_.get()); }

PetscErrorCode PreconditionedSolver::start(Vec, Vec) const { return 0; }

bool PreconditionedSolver::is_found_indefinite() const {
  return layout().comm->any(is_indefinite(ksp_.get()));
}

/// What an error of PETSc says about the matrix. @throws LibraryError if it is a mistake in PETSc's use.
LinearOutcome PreconditionedSolver::outcome_of_error(PetscErrorCode code, const char* act) const {
  if (!is_numerical(code)) petsc_failed(code, act, __FILE__, __LINE__);
  return code == PETSC_ERR_MAT_CH_ZRPVT ? LinearOutcome::indefinite : LinearOutcome::failed;
}

PetscErrorCode PreconditionedSolver::run(const Vector& b, Vector& x) const {
  const ScopedOptions defaults(default_options_);
  const QuietErrors quiet;
  PetscErrorCode code = start(b.get(), x.get());
  if (code == 0)
    code = alone_without_memory(reinterpret_cast<PetscObject>(ksp_.get()),
                                KSPSolve(ksp_.get(), b.get(), x.get()));
  return agree(*layout().comm, code);
}

LinearResult PreconditionedSolver::solve(const Vector& b, Vector& x, double relative_tolerance,
                                         int max_iterations) {
  x.fill(0);
  if (const auto known = result_without_solve(b.norm())) return *known;
  LinearResult result{set_up_outcome_, 0, 1};
  if (set_up_outcome_ != LinearOutcome::converged) return result;

  PetscReal tolerance = 0;
  PetscInt limit = 0;
  RECOIL_PETSC(KSPGetTolerances(ksp_.get(), &tolerance, nullptr, nullptr, &limit));
  if (!users_tolerance_) tolerance = relative_tolerance;
  if (!users_limit_) limit = max_iterations;
  // The residual of conjugate gradients may grow by the root of the condition number on its way down.
  constexpr double divergence = 1e30;
  RECOIL_PETSC(
      KSPSetTolerances(ksp_.get(), tolerance, std::numeric_limits<double>::min(), divergence, limit));
  const PetscErrorCode code = run(b, x);
  if (code != 0) {
    x.fill(0);
    // Destroying a hierarchy in the middle of which an error struck has been seen to crash.
    ksp_.abandon();
    preconditioner_.abandon();
    set_up_outcome_ = LinearOutcome::failed;
    outcome_of_error(code, "solving the linear system");
    result.outcome = LinearOutcome::failed;
    return result;
  }
  const auto [reason, iterations] = end_of(ksp_.get());
  result.iterations = iterations;
  result.outcome = outcome_of(reason);
  judge(b, x, tolerance, result);
  if (result.outcome == LinearOutcome::converged || result.outcome == LinearOutcome::not_converged)
    x.update_ghosts();
  else
    x.fill(0);
  if (result.outcome == LinearOutcome::indefinite && !is_factorization()) policy_.found_indefinite();
  return result;
}

LinearResult PreconditionedSolver::solve_indefinite(const Vector& b, Vector& x, double relative_tolerance) {
  RECOIL_ASSERT(method_ == LinearMethod::direct);
  LinearResult result;
  result.outcome = LinearOutcome::indefinite;
  x.fill(0);
  const PetscErrorCode code =
      agree(*layout().comm, run_indefinite(b.get(), x.get(), relative_tolerance, result));
  if (code != 0) {
    x.fill(0);
    result.outcome = outcome_of_error(code, "solving an indefinite system");
    return result;
  }
  RECOIL_PETSC(MatResidual(operator_.get(), b.get(), x.get(), residual_.get()));
  const double size = b.norm();
  result.relative_residual = size > 0 ? residual_.norm() / size : 0;
  if (result.outcome == LinearOutcome::converged && std::isfinite(x.norm()))
    x.update_ghosts();
  else
    x.fill(0);
  return result;
}

PetscErrorCode PreconditionedSolver::run_indefinite(Vec b, Vec x, double relative_tolerance,
                                                    LinearResult& result) const {
  const parallel::Communicator& comm = *layout().comm;
  const std::string prefix = settings_.prefix + "indefinite_";
  const ScopedOptions options(indefinite_options(prefix, comm.size()));
  const QuietErrors quiet;
  KspHandle ksp;
  PetscCall(KSPCreate(comm.get(), ksp.put()));
  PetscCall(KSPSetOptionsPrefix(ksp.get(), prefix.c_str()));
  PetscCall(KSPSetType(ksp.get(), KSPGMRES));
  PetscCall(KSPSetPCSide(ksp.get(), PC_RIGHT));
  PetscCall(KSPSetFromOptions(ksp.get()));
  PetscCall(KSPSetOperators(ksp.get(), operator_.get(), operator_.get()));
  PetscCall(KSPSetTolerances(ksp.get(), relative_tolerance, PETSC_DEFAULT, PETSC_DEFAULT,
                             max_indefinite_iterations));
  if (const PetscErrorCode code = agree(comm, set_up_factorization(ksp.get())); code != 0) return code;
  PetscCall(KSPSolve(ksp.get(), b, x));
  const auto [reason, iterations] = end_of(ksp.get());
  result.outcome = outcome_of(reason);
  result.iterations = iterations;
  return 0;
}

void PreconditionedSolver::judge(const Vector& b, const Vector& x, double relative_tolerance,
                                 LinearResult& result) {
  Mat whole = nullptr;
  RECOIL_PETSC(KSPGetOperators(ksp_.get(), &whole, nullptr));
  RECOIL_PETSC(MatResidual(whole, b.get(), x.get(), residual_.get()));
  const double size = b.norm();
  const auto [length, residual, work] = inner_products(b, x, residual_);
  result.relative_residual = residual / size;
  if (result.outcome == LinearOutcome::indefinite) return;
  if (!std::isfinite(result.relative_residual)) {
    result.outcome = LinearOutcome::failed;
    return;
  }
  // CG only compares the signs of successive curvatures: it solves negative definite systems without
  // complaint.
  if (length > 0 && !(work > 0)) result.outcome = LinearOutcome::indefinite;
  // CG's own residual keeps falling below what rounding allows.
  constexpr double slack = 10;
  const double attainable = slack * std::numeric_limits<double>::epsilon() * matrix_norm_ * length / size;
  if (result.outcome == LinearOutcome::converged &&
      result.relative_residual > std::max(slack * relative_tolerance, attainable))
    result.outcome = LinearOutcome::not_converged;
}

} // namespace recoil::linalg
