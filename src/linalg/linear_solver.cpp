#include "recoil/linalg/linear_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "linalg/solver_options.hpp"
#include "recoil/linalg/near_null_space.hpp"

namespace recoil::linalg {

namespace {

/// Unknowns up to which a new factorisation and one solve take less time than multigrid to 1e-8 (three solves
/// sharing one interpolation), measured with bench_crossover on 1 and 2 ranks with OpenBLAS: more than 256
/// 000 in 2D (ratio 0.5 there on one rank, 0.75 on two), 15 000 and 3 000 in 3D. With the reference BLAS it
/// would be 75 000 and 1 200 on one rank. The factorisation is done by one rank, so the limit falls with
/// their number, as fill growth commands; the floor is where multigrid is all latency.
struct Crossover {
  GlobalIndex one_rank;
  int exponent_of_ranks;
  GlobalIndex floor;
};
constexpr Crossover crossover_2d{400000, 1, 5000}, crossover_3d{12000, 2, 1000};

/// Errors by which PETSc reports what the numbers of a matrix bring about; all others are mistakes in its
/// use.
bool is_numerical(PetscErrorCode code) {
  constexpr std::array<int, 6> numerical{PETSC_ERR_MAT_CH_ZRPVT, PETSC_ERR_MAT_LU_ZRPVT, PETSC_ERR_FP,
                                         PETSC_ERR_CONV_FAILED,  PETSC_ERR_LIB,          PETSC_ERR_MEM};
  return std::ranges::find(numerical, static_cast<int>(code)) != numerical.end();
}

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

} // namespace

LinearMethod automatic_method(int dimension, GlobalIndex num_unknowns, int num_ranks) {
  const Crossover& crossover = dimension == 2 ? crossover_2d : crossover_3d;
  GlobalIndex limit = crossover.one_rank;
  for (int k = 0; k < crossover.exponent_of_ranks; ++k) limit /= num_ranks;
  return num_unknowns <= std::max(limit, crossover.floor) ? LinearMethod::direct : LinearMethod::amg;
}

class LinearSolver::Implementation {
public:
  Implementation(std::shared_ptr<const VectorLayout> layout, LinearMethod method, std::string prefix);

  void rebuild(const BlockMatrix& matrix, const Vector& positions, std::span<const char> constrained);
  void refresh();
  LinearResult solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);

  LinearMethod method() const { return method_; }
  std::string description() const;
  bool repeatable() const { return are_repeatable(user_options_, layout_->comm->size()); }

private:
  void create();
  bool is_factorization() const;
  void set_up();
  PetscErrorCode set_up_solver() const;
  PetscErrorCode agree(PetscErrorCode code) const;
  void judge(const Vector& b, const Vector& x, double relative_tolerance, LinearResult& result);

  std::shared_ptr<const VectorLayout> layout_;
  std::string prefix_;
  LinearMethod method_;
  OptionList user_options_, default_options_;
  bool users_tolerance_ = false, users_limit_ = false;
  KspHandle ksp_;
  MatHandle matrix_; ///< a reference of our own
  Vector residual_;
  LinearOutcome set_up_outcome_ = LinearOutcome::failed;
  bool built_from_these_values_ = false; ///< the interpolation, of multigrid
  bool unsound_ = false;                 ///< the interpolation comes from a matrix found to be indefinite
  double matrix_norm_ = 0;
};

LinearSolver::Implementation::Implementation(std::shared_ptr<const VectorLayout> layout, LinearMethod method,
                                             std::string prefix)
    : layout_(std::move(layout)), prefix_(std::move(prefix)), method_(method), residual_(layout_) {
  const int dim = layout_->block_size, num_ranks = layout_->comm->size();
  if (method_ == LinearMethod::automatic)
    method_ = automatic_method(dim, layout_->num_global * dim, num_ranks);
  user_options_ = user_options(prefix_);
  default_options_ = default_options(method_, prefix_, num_ranks);
  const auto has = [&](const char* name) {
    return std::ranges::any_of(user_options_,
                               [&](const auto& option) { return option.first == prefix_ + name; });
  };
  users_tolerance_ = has("ksp_rtol");
  users_limit_ = has("ksp_max_it");
  create();
}

void LinearSolver::Implementation::create() {
  unsound_ = false;
  RECOIL_PETSC(KSPCreate(layout_->comm->get(), ksp_.put()));
  RECOIL_PETSC(KSPSetOptionsPrefix(ksp_.get(), prefix_.c_str()));
  RECOIL_PETSC(KSPSetType(ksp_.get(), KSPCG));
  RECOIL_PETSC(KSPSetNormType(ksp_.get(), KSP_NORM_UNPRECONDITIONED));
  const ScopedOptions defaults(default_options_);
  const QuietErrors quiet;
  RECOIL_PETSC(KSPSetFromOptions(ksp_.get()));
}

bool LinearSolver::Implementation::is_factorization() const {
  PC pc = nullptr;
  PCType type = nullptr;
  RECOIL_PETSC(KSPGetPC(ksp_.get(), &pc));
  RECOIL_PETSC(PCGetType(pc, &type));
  constexpr std::array<std::string_view, 4> factorizations{PCCHOLESKY, PCLU, PCTELESCOPE, PCREDUNDANT};
  return type != nullptr && std::ranges::find(factorizations, type) != factorizations.end();
}

PetscErrorCode LinearSolver::Implementation::agree(PetscErrorCode code) const {
  return static_cast<PetscErrorCode>(layout_->comm->max(static_cast<GlobalIndex>(code)));
}

void LinearSolver::Implementation::rebuild(const BlockMatrix& matrix, const Vector& positions,
                                           std::span<const char> constrained) {
  // A new solver object, as GAMG would go on with the near null space of its first hierarchy, and with its
  // number of levels.
  const bool same_matrix = matrix.get() == matrix_.get();
  if (!ksp_ || !same_matrix || !is_factorization()) create();
  if (!same_matrix) {
    RECOIL_PETSC(PetscObjectReference(reinterpret_cast<PetscObject>(matrix.get())));
    matrix_ = MatHandle::adopt(matrix.get());
  }
  if (!is_factorization()) {
    const NearNullSpace modes(positions, constrained);
    RECOIL_PETSC(MatSetNearNullSpace(matrix_.get(), modes.get()));
  }
  set_up();
  built_from_these_values_ = true;
}

void LinearSolver::Implementation::refresh() {
  RECOIL_ASSERT(matrix_);
  built_from_these_values_ = !ksp_ || unsound_;
  if (built_from_these_values_) create();
  set_up();
}

void LinearSolver::Implementation::set_up() {
  PetscReal frobenius = 0;
  RECOIL_PETSC(MatNorm(matrix_.get(), NORM_FROBENIUS, &frobenius));
  set_up_outcome_ = LinearOutcome::failed;
  if (!std::isfinite(frobenius)) return;
  RECOIL_PETSC(MatNorm(matrix_.get(), NORM_INFINITY, &matrix_norm_));
  RECOIL_PETSC(KSPSetReusePreconditioner(ksp_.get(), PETSC_FALSE));
  RECOIL_PETSC(KSPSetOperators(ksp_.get(), matrix_.get(), matrix_.get()));
  const PetscErrorCode code = agree(set_up_solver());
  if (code == 0) {
    // A solve would set up again by itself, and fail there, if the matrix has changed in between.
    RECOIL_PETSC(KSPSetReusePreconditioner(ksp_.get(), PETSC_TRUE));
    set_up_outcome_ = LinearOutcome::converged;
    return;
  }
  // An error may leave PETSc's objects half set up.
  ksp_.reset();
  if (!is_numerical(code)) petsc_failed(code, "setting up the linear solver", __FILE__, __LINE__);
  if (code == PETSC_ERR_MAT_CH_ZRPVT) set_up_outcome_ = LinearOutcome::indefinite;
}

PetscErrorCode LinearSolver::Implementation::set_up_solver() const {
  const ScopedOptions defaults(default_options_);
  const QuietErrors quiet;
  if (const PetscErrorCode code = KSPSetUp(ksp_.get()); code != 0) return code;
  PC pc = nullptr;
  RECOIL_PETSC(KSPGetPC(ksp_.get(), &pc));
  PetscBool telescope = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCTELESCOPE, &telescope));
  if (telescope == PETSC_FALSE) return KSPSetUpOnBlocks(ksp_.get());
  // It would factor in the first solve, where a failure on one rank leaves the others waiting.
  KSP inner = nullptr;
  RECOIL_PETSC(PCTelescopeGetKSP(pc, &inner));
  return inner == nullptr ? 0 : KSPSetUp(inner);
}

LinearResult LinearSolver::Implementation::solve(const Vector& b, Vector& x, double relative_tolerance,
                                                 int max_iterations) {
  LinearResult result;
  x.fill(0);
  const double size = b.norm();
  if (!std::isfinite(size)) return result;
  if (size == 0) {
    result.outcome = LinearOutcome::converged;
    return result;
  }
  result.relative_residual = 1;
  result.outcome = set_up_outcome_;
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
  PetscErrorCode code = 0;
  {
    const ScopedOptions defaults(default_options_);
    const QuietErrors quiet;
    code = agree(KSPSolve(ksp_.get(), b.get(), x.get()));
  }
  if (code != 0) {
    x.fill(0);
    ksp_.reset();
    set_up_outcome_ = result.outcome = LinearOutcome::failed;
    if (!is_numerical(code)) petsc_failed(code, "solving the linear system", __FILE__, __LINE__);
    return result;
  }
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  RECOIL_PETSC(KSPGetConvergedReason(ksp_.get(), &reason));
  RECOIL_PETSC(KSPGetIterationNumber(ksp_.get(), &iterations));
  result.iterations = static_cast<int>(iterations);
  result.outcome = outcome_of(reason);
  judge(b, x, tolerance, result);
  if (result.outcome == LinearOutcome::converged || result.outcome == LinearOutcome::not_converged)
    x.update_ghosts();
  else
    x.fill(0);
  // Such an interpolation would spoil the preconditioner of better values to come.
  if (result.outcome == LinearOutcome::indefinite && built_from_these_values_ && !is_factorization())
    unsound_ = true;
  return result;
}

void LinearSolver::Implementation::judge(const Vector& b, const Vector& x, double relative_tolerance,
                                         LinearResult& result) {
  RECOIL_PETSC(MatResidual(matrix_.get(), b.get(), x.get(), residual_.get()));
  const double size = b.norm(), length = x.norm();
  result.relative_residual = residual_.norm() / size;
  if (result.outcome == LinearOutcome::indefinite) return;
  if (!std::isfinite(result.relative_residual)) {
    result.outcome = LinearOutcome::failed;
    return;
  }
  // CG only compares the signs of successive curvatures: it solves negative definite systems without
  // complaint.
  if (length > 0 && !(b.dot(x) > 0)) result.outcome = LinearOutcome::indefinite;
  // CG's own residual goes on falling below what rounding allows.
  constexpr double slack = 10;
  const double attainable = slack * std::numeric_limits<double>::epsilon() * matrix_norm_ * length / size;
  if (result.outcome == LinearOutcome::converged &&
      result.relative_residual > std::max(slack * relative_tolerance, attainable))
    result.outcome = LinearOutcome::not_converged;
}

std::string LinearSolver::Implementation::description() const {
  std::string text;
  for (const auto& [name, value] : user_options_) text += " -" + name + (value.empty() ? "" : " " + value);
  if (!text.empty()) text = ", PETSc options" + text;
  const bool direct = method_ == LinearMethod::direct;
  return (direct ? "sparse Cholesky factorisation checked by conjugate gradients"
                 : "conjugate gradients with smoothed-aggregation multigrid (GAMG)") +
         text;
}

LinearSolver::LinearSolver(std::shared_ptr<const VectorLayout> layout, LinearMethod method,
                           std::string options_prefix)
    : implementation_(
          std::make_unique<Implementation>(std::move(layout), method, std::move(options_prefix))) {}
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;
LinearSolver::~LinearSolver() = default;

void LinearSolver::rebuild(const BlockMatrix& matrix, const Vector& positions,
                           std::span<const char> constrained) {
  implementation_->rebuild(matrix, positions, constrained);
}
void LinearSolver::refresh() { implementation_->refresh(); }
LinearResult LinearSolver::solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations) {
  return implementation_->solve(b, x, relative_tolerance, max_iterations);
}
LinearMethod LinearSolver::method() const { return implementation_->method(); }
std::string LinearSolver::description() const { return implementation_->description(); }
bool LinearSolver::repeatable() const { return implementation_->repeatable(); }

} // namespace recoil::linalg
