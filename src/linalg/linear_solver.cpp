#include "recoil/linalg/linear_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "linalg/collective_set_up.hpp"
#include "linalg/contact_sandwich.hpp"
#include "linalg/indefinite_solve.hpp"
#include "linalg/method_choice.hpp"
#include "linalg/solver_options.hpp"
#include "linalg/sum_matrix.hpp"
#include "linalg/upper_cholesky.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/linalg/near_null_space.hpp"

namespace recoil::linalg {

namespace {

/// Errors by which PETSc reports what the numbers of a matrix bring about; all others are mistakes in its
/// use. Sizes that do not fit come from a refreshed hierarchy whose coarse matrices have moved to other ranks
/// (PETSc 3.18, `matptap_via backend`): a new one is in order.
bool is_numerical(PetscErrorCode code) {
  constexpr std::array<int, 7> numerical{PETSC_ERR_MAT_CH_ZRPVT, PETSC_ERR_MAT_LU_ZRPVT, PETSC_ERR_FP,
                                         PETSC_ERR_CONV_FAILED,  PETSC_ERR_LIB,          PETSC_ERR_MEM,
                                         PETSC_ERR_ARG_SIZ};
  return std::ranges::find(numerical, static_cast<int>(code)) != numerical.end();
}

/// Share of the nodes in contact that may be other ones before multigrid takes new softened stencils: a new
/// interpolation costs as much as some fifteen iterations.
constexpr double tolerated_change = 0.125;

const StencilMatrix::Rows no_contact{{}, {0}, {}, {}};

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

class LinearSolver::Implementation {
public:
  Implementation(std::shared_ptr<const VectorLayout> layout, LinearMethod method, std::string prefix,
                 ContactPreconditioner contact);

  void rebuild(const BlockMatrix& matrix, const Vector& positions, std::span<const char> constrained,
               const StencilMatrix* contact);
  void refresh(const StencilMatrix* contact, Refresh what);
  LinearResult solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);

  LinearResult solve_indefinite(const Vector& b, Vector& x, double relative_tolerance);

  LinearMethod method() const { return method_; }
  std::string description() const;
  bool repeatable() const { return are_repeatable(user_options_, layout_->comm->size()); }

private:
  void create();
  bool is_factorization() const;
  void set_up(const StencilMatrix* contact, SumMatrix::Pattern pattern, Refresh what);
  bool measure(const StencilMatrix* contact);
  bool wants_sandwich(const StencilMatrix* contact) const;
  void choose_operator(const StencilMatrix* contact, SumMatrix::Pattern pattern);
  void choose_softened(const StencilMatrix& contact, Refresh what);
  bool has_moved(std::span<const LocalIndex> contact_nodes) const;
  std::vector<double> softness_limits() const;
  void take_sum(const StencilMatrix::Rows& rows, SumMatrix::Pattern pattern);
  void use_operator(Mat matrix);
  void put_together(Refresh what);
  PetscErrorCode set_up_solver() const;
  LinearOutcome blame(PetscErrorCode code, const char* act);
  void judge(const Vector& b, const Vector& x, double relative_tolerance, LinearResult& result);
  static PetscErrorCode multiply_sum(Mat shell, Vec x, Vec y);
  static PetscErrorCode apply_sandwich(PC shell, Vec r, Vec z);
  static PetscErrorCode view_sandwich(PC shell, PetscViewer viewer);

  std::shared_ptr<const VectorLayout> layout_;
  std::string prefix_;
  std::optional<MethodChoice> choice_; ///< empty where the method is given
  LinearMethod method_;
  ContactPreconditioner contact_preconditioner_;
  OptionList user_options_, default_options_;
  bool users_tolerance_ = false, users_limit_ = false;
  KspHandle ksp_;
  PcHandle preconditioner_; ///< of K or K + C: what ksp_ uses, or what the sandwich holds
  std::shared_ptr<const NodeGraph> graph_;
  MatHandle matrix_;   ///< K, a reference of our own
  MatHandle contact_;  ///< C where there is any, likewise
  MatHandle operator_; ///< of preconditioner_: K, K + C or K + softened C
  std::unique_ptr<NearNullSpace> modes_;
  SumMatrix sum_;
  StencilMatrix::Rows softened_; ///< part of operator_ in the sandwich
  std::unique_ptr<ContactSandwich> sandwich_;
  MatHandle sum_shell_;     ///< K + C, not assembled
  PcHandle sandwich_shell_; ///< sandwich_ around preconditioner_
  bool sandwiched_ = false;
  Vector residual_;
  LinearOutcome set_up_outcome_ = LinearOutcome::failed;
  bool has_hierarchy_ = false;           ///< preconditioner_ has been set up since it was created
  bool built_from_these_values_ = false; ///< the interpolation, of multigrid
  bool unsound_ = false;                 ///< the interpolation comes from a matrix found to be indefinite
  double matrix_norm_ = 0;
};

LinearSolver::Implementation::Implementation(std::shared_ptr<const VectorLayout> layout, LinearMethod method,
                                             std::string prefix, ContactPreconditioner contact)
    : layout_(std::move(layout)), prefix_(std::move(prefix)), method_(method),
      contact_preconditioner_(contact), residual_(layout_) {
  if (method_ == LinearMethod::automatic) {
    const int dim = layout_->block_size;
    choice_.emplace(layout_);
    method_ = is_below_crossover(dim, layout_->num_global * dim, layout_->comm->size()) ? LinearMethod::direct
                                                                                        : LinearMethod::amg;
  }
  user_options_ = user_options(prefix_);
  const auto has = [&](const char* name) {
    return std::ranges::any_of(user_options_,
                               [&](const auto& option) { return option.first == prefix_ + name; });
  };
  users_tolerance_ = has("ksp_rtol");
  users_limit_ = has("ksp_max_it");
  if (has("contact_plain")) contact_preconditioner_ = ContactPreconditioner::plain;
  create();
}

void LinearSolver::Implementation::create() {
  default_options_ = default_options(method_, prefix_, layout_->comm->size(), user_options_);
  register_upper_cholesky();
  unsound_ = has_hierarchy_ = false;
  RECOIL_PETSC(KSPCreate(layout_->comm->get(), ksp_.put()));
  RECOIL_PETSC(KSPSetOptionsPrefix(ksp_.get(), prefix_.c_str()));
  RECOIL_PETSC(KSPSetType(ksp_.get(), KSPCG));
  RECOIL_PETSC(KSPSetNormType(ksp_.get(), KSP_NORM_UNPRECONDITIONED));
  const ScopedOptions defaults(default_options_);
  const QuietErrors quiet;
  RECOIL_PETSC(KSPSetFromOptions(ksp_.get()));
  PC pc = nullptr;
  RECOIL_PETSC(KSPGetPC(ksp_.get(), &pc));
  preconditioner_ = share<PcHandle>(pc);
}

bool LinearSolver::Implementation::is_factorization() const {
  PCType type = nullptr;
  RECOIL_PETSC(PCGetType(preconditioner_.get(), &type));
  // Of shells there is only UpperCholesky's.
  constexpr std::array<std::string_view, 5> factorizations{PCCHOLESKY, PCLU, PCTELESCOPE, PCREDUNDANT,
                                                           PCSHELL};
  return type != nullptr && std::ranges::find(factorizations, type) != factorizations.end();
}

void LinearSolver::Implementation::rebuild(const BlockMatrix& matrix, const Vector& positions,
                                           std::span<const char> constrained, const StencilMatrix* contact) {
  // A new solver object, as GAMG would go on with the near null space of its first hierarchy, and with its
  // number of levels.
  const bool same_matrix = matrix.get() == matrix_.get();
  const LinearMethod method = choice_ ? (*choice_)(matrix.shared_graph(), contact) : method_;
  const bool same_method = std::exchange(method_, method) == method;
  if (!ksp_ || !same_matrix || !same_method || !is_factorization()) create();
  if (!same_matrix) {
    matrix_ = share<MatHandle>(matrix.get());
    graph_ = matrix.shared_graph();
    sum_ = {};
  }
  if (!is_factorization()) {
    modes_ = std::make_unique<NearNullSpace>(positions, constrained);
    RECOIL_PETSC(MatSetNearNullSpace(matrix_.get(), modes_->get()));
  }
  set_up(contact, SumMatrix::Pattern::minimal, Refresh::all);
}

void LinearSolver::Implementation::refresh(const StencilMatrix* contact, Refresh what) {
  RECOIL_ASSERT(matrix_);
  if (!ksp_ || unsound_) create();
  set_up(contact, SumMatrix::Pattern::grown, what);
}

void LinearSolver::Implementation::set_up(const StencilMatrix* contact, SumMatrix::Pattern pattern,
                                          Refresh what) {
  if (contact != nullptr && contact->empty()) contact = nullptr;
  set_up_outcome_ = LinearOutcome::failed;
  if (!measure(contact)) return;
  contact_ = contact == nullptr ? MatHandle() : share<MatHandle>(contact->get());
  sandwiched_ = wants_sandwich(contact);
  if (sandwiched_) {
    if (!sandwich_) sandwich_ = std::make_unique<ContactSandwich>(layout_, prefix_ + "contact_");
    if (const PetscErrorCode code = sandwich_->set_up(graph_, matrix_.get(), *contact); code != 0) {
      set_up_outcome_ = blame(code, "factoring the contact block");
      return;
    }
    choose_softened(*contact, what);
  } else {
    choose_operator(contact, pattern);
  }
  put_together(what);
  built_from_these_values_ = !has_hierarchy_;
  if (const PetscErrorCode code = agree(*layout_->comm, set_up_solver()); code != 0) {
    // An error may leave PETSc's objects half set up.
    ksp_.reset();
    set_up_outcome_ = blame(code, "setting up the linear solver");
    return;
  }
  has_hierarchy_ = true;
  if (!sandwiched_ && layout_->comm->any(is_indefinite(ksp_.get()))) {
    set_up_outcome_ = LinearOutcome::indefinite;
    return;
  }
  // A solve would set up again by itself, and fail there, if the matrix has changed in between.
  RECOIL_PETSC(PCSetReusePreconditioner(preconditioner_.get(), PETSC_TRUE));
  set_up_outcome_ = LinearOutcome::converged;
}

/// Norm of the matrix, or a bound; false if there are infinite or undefined numbers in it.
bool LinearSolver::Implementation::measure(const StencilMatrix* contact) {
  const auto norm = [](Mat matrix, NormType type) {
    PetscReal result = 0;
    RECOIL_PETSC(MatNorm(matrix, type, &result));
    return result;
  };
  if (!std::isfinite(norm(matrix_.get(), NORM_FROBENIUS))) return false;
  matrix_norm_ = norm(matrix_.get(), NORM_INFINITY);
  if (contact == nullptr) return true;
  if (!std::isfinite(norm(contact->get(), NORM_FROBENIUS))) return false;
  matrix_norm_ += norm(contact->get(), NORM_INFINITY);
  return true;
}

bool LinearSolver::Implementation::wants_sandwich(const StencilMatrix* contact) const {
  return contact != nullptr && method_ == LinearMethod::amg &&
         contact_preconditioner_ == ContactPreconditioner::sandwich && !is_factorization();
}

/// The matrix of a preconditioner that stands alone: K or the assembled K + C.
void LinearSolver::Implementation::choose_operator(const StencilMatrix* contact, SumMatrix::Pattern pattern) {
  // Where contact has come and gone within a step, its pattern serves on: no new symbolic factorisation.
  const bool keeps_sum = is_factorization() && pattern == SumMatrix::Pattern::grown && operator_ &&
                         operator_.get() == sum_.get();
  softened_ = no_contact;
  if (contact != nullptr || keeps_sum)
    take_sum(contact == nullptr ? no_contact : contact->rows(), pattern);
  else
    use_operator(matrix_.get());
}

/// The matrix of multigrid in the sandwich: K + C with the stencils of C no stiffer than K. With K alone the
/// coarse levels would let the bodies through each other, and the exact solve would mend that within one
/// layer of elements, at the price of iterations that grow with the refinement. The softened stencils stay
/// those that the interpolation was built with, so that the pattern stays too, until other nodes are in
/// contact.
void LinearSolver::Implementation::choose_softened(const StencilMatrix& contact, Refresh what) {
  if (has_hierarchy_ && has_moved(contact.nodes())) create();
  if (has_hierarchy_ && what == Refresh::keep_hierarchy) return;
  if (!has_hierarchy_) softened_ = contact.softened(softness_limits());
  take_sum(softened_, SumMatrix::Pattern::minimal);
}

/// Whether many of the nodes in contact are other ones than when the hierarchy was built.
bool LinearSolver::Implementation::has_moved(std::span<const LocalIndex> contact_nodes) const {
  std::vector<LocalIndex> other;
  std::ranges::set_symmetric_difference(contact_nodes, softened_.nodes, std::back_inserter(other));
  std::array<double, 2> counts{static_cast<double>(other.size()), static_cast<double>(contact_nodes.size())};
  layout_->comm->sum(counts);
  return counts[0] > tolerated_change * counts[1];
}

/// Per owned node the mean diagonal entry of K.
std::vector<double> LinearSolver::Implementation::softness_limits() const {
  VecHandle diagonal;
  RECOIL_PETSC(MatCreateVecs(matrix_.get(), nullptr, diagonal.put()));
  RECOIL_PETSC(MatGetDiagonal(matrix_.get(), diagonal.get()));
  const PetscScalar* values = nullptr;
  RECOIL_PETSC(VecGetArrayRead(diagonal.get(), &values));
  const auto dim = static_cast<std::size_t>(layout_->block_size);
  std::vector<double> limits(static_cast<std::size_t>(layout_->num_owned), 0);
  for (std::size_t i = 0; i < limits.size() * dim; ++i)
    limits[i / dim] += std::abs(values[i]) / static_cast<double>(dim);
  RECOIL_PETSC(VecRestoreArrayRead(diagonal.get(), &values));
  return limits;
}

void LinearSolver::Implementation::take_sum(const StencilMatrix::Rows& rows, SumMatrix::Pattern pattern) {
  sum_.assemble(*layout_, graph_, matrix_.get(), rows, pattern);
  use_operator(sum_.get());
  if (modes_ && !is_factorization()) RECOIL_PETSC(MatSetNearNullSpace(sum_.get(), modes_->get()));
}

void LinearSolver::Implementation::use_operator(Mat matrix) {
  if (operator_.get() == matrix) return;
  // Neither telescope nor multigrid can go on with another pattern; a factorisation on one rank can.
  if (has_hierarchy_ && (!is_factorization() || layout_->comm->size() > 1)) create();
  operator_ = share<MatHandle>(matrix);
}

/// Gives ksp_ its operators and its preconditioner.
void LinearSolver::Implementation::put_together(Refresh what) {
  const bool keep = what == Refresh::keep_hierarchy && has_hierarchy_ && !is_factorization();
  RECOIL_PETSC(PCSetReusePreconditioner(preconditioner_.get(), keep ? PETSC_TRUE : PETSC_FALSE));
  if (!sandwiched_) {
    RECOIL_PETSC(KSPSetPC(ksp_.get(), preconditioner_.get()));
    RECOIL_PETSC(KSPSetOperators(ksp_.get(), operator_.get(), operator_.get()));
    RECOIL_PETSC(KSPSetInitialGuessNonzero(ksp_.get(), PETSC_FALSE));
    return;
  }
  MPI_Comm comm = layout_->comm->get();
  if (!sum_shell_) {
    const auto size = static_cast<PetscInt>(layout_->num_owned) * layout_->block_size;
    RECOIL_PETSC(MatCreateShell(comm, size, size, PETSC_DETERMINE, PETSC_DETERMINE, this, sum_shell_.put()));
    RECOIL_PETSC(MatShellSetOperation(sum_shell_.get(), MATOP_MULT,
                                      reinterpret_cast<void (*)(void)>(&Implementation::multiply_sum)));
    RECOIL_PETSC(PCCreate(comm, sandwich_shell_.put()));
    RECOIL_PETSC(PCSetType(sandwich_shell_.get(), PCSHELL));
    RECOIL_PETSC(PCShellSetContext(sandwich_shell_.get(), this));
    RECOIL_PETSC(PCShellSetName(sandwich_shell_.get(), "exact solves on contact nodes around"));
    RECOIL_PETSC(PCShellSetApply(sandwich_shell_.get(), &Implementation::apply_sandwich));
    RECOIL_PETSC(PCShellSetView(sandwich_shell_.get(), &Implementation::view_sandwich));
  }
  RECOIL_PETSC(PCSetOperators(preconditioner_.get(), operator_.get(), operator_.get()));
  RECOIL_PETSC(KSPSetPC(ksp_.get(), sandwich_shell_.get()));
  RECOIL_PETSC(KSPSetOperators(ksp_.get(), sum_shell_.get(), sum_shell_.get()));
  // The sandwich counts on residuals that are zero at the contact nodes (see ContactSandwich).
  RECOIL_PETSC(KSPSetInitialGuessNonzero(ksp_.get(), PETSC_TRUE));
}

PetscErrorCode LinearSolver::Implementation::multiply_sum(Mat shell, Vec x, Vec y) {
  Implementation* self = nullptr;
  PetscCall(MatShellGetContext(shell, &self));
  PetscCall(MatMult(self->matrix_.get(), x, y));
  return MatMultAdd(self->contact_.get(), x, y, y);
}

PetscErrorCode LinearSolver::Implementation::apply_sandwich(PC shell, Vec r, Vec z) {
  Implementation* self = nullptr;
  PetscCall(PCShellGetContext(shell, &self));
  return self->sandwich_->apply(self->preconditioner_.get(), r, z);
}

PetscErrorCode LinearSolver::Implementation::view_sandwich(PC shell, PetscViewer viewer) {
  Implementation* self = nullptr;
  PetscCall(PCShellGetContext(shell, &self));
  return PCView(self->preconditioner_.get(), viewer);
}

PetscErrorCode LinearSolver::Implementation::set_up_solver() const {
  const ScopedOptions defaults(default_options_);
  const QuietErrors quiet;
  const DeferredSignals deferred;
  if (!sandwiched_) return set_up_factorization(ksp_.get());
  const auto object = reinterpret_cast<PetscObject>(preconditioner_.get());
  if (const PetscErrorCode code = alone_without_memory(object, PCSetUp(preconditioner_.get())); code != 0)
    return code;
  if (const PetscErrorCode code = KSPSetUp(ksp_.get()); code != 0) return code;
  return PCSetUpOnBlocks(preconditioner_.get());
}

/// What an error of PETSc says about the matrix. @throws LibraryError if it is a mistake in PETSc's use.
LinearOutcome LinearSolver::Implementation::blame(PetscErrorCode code, const char* act) {
  if (!is_numerical(code)) petsc_failed(code, act, __FILE__, __LINE__);
  return code == PETSC_ERR_MAT_CH_ZRPVT ? LinearOutcome::indefinite : LinearOutcome::failed;
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
    if (sandwiched_) code = sandwich_->start(b.get(), x.get());
    if (code == 0)
      code = alone_without_memory(reinterpret_cast<PetscObject>(ksp_.get()),
                                  KSPSolve(ksp_.get(), b.get(), x.get()));
    code = agree(*layout_->comm, code);
  }
  if (code != 0) {
    x.fill(0);
    // Destroying a hierarchy in the middle of which an error struck has been seen to crash.
    ksp_.abandon();
    preconditioner_.abandon();
    set_up_outcome_ = LinearOutcome::failed;
    blame(code, "solving the linear system");
    result.outcome = LinearOutcome::failed;
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

LinearResult LinearSolver::Implementation::solve_indefinite(const Vector& b, Vector& x,
                                                            double relative_tolerance) {
  LinearResult result;
  result.outcome = LinearOutcome::indefinite;
  x.fill(0);
  if (set_up_outcome_ != LinearOutcome::indefinite || method_ != LinearMethod::direct) return result;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const PetscErrorCode code =
      agree(*layout_->comm,
            linalg::solve_indefinite(*layout_->comm, operator_.get(), prefix_ + "indefinite_",
                                     relative_tolerance, b.get(), x.get(), reason, result.iterations));
  if (code != 0) {
    x.fill(0);
    result.outcome = blame(code, "solving an indefinite system");
    return result;
  }
  result.outcome = outcome_of(reason);
  RECOIL_PETSC(MatResidual(operator_.get(), b.get(), x.get(), residual_.get()));
  const double size = b.norm();
  result.relative_residual = size > 0 ? residual_.norm() / size : 0;
  if (result.outcome == LinearOutcome::converged && std::isfinite(x.norm()))
    x.update_ghosts();
  else
    x.fill(0);
  return result;
}

void LinearSolver::Implementation::judge(const Vector& b, const Vector& x, double relative_tolerance,
                                         LinearResult& result) {
  RECOIL_PETSC(
      MatResidual(sandwiched_ ? sum_shell_.get() : operator_.get(), b.get(), x.get(), residual_.get()));
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
  const bool plain = contact_preconditioner_ == ContactPreconditioner::plain;
  return (direct ? std::string("sparse Cholesky factorisation checked by conjugate gradients")
                 : std::string("conjugate gradients with smoothed-aggregation multigrid (GAMG)") +
                       (plain ? ", contact terms assembled" : ", exact solves on contact nodes around it")) +
         text;
}

LinearSolver::LinearSolver(std::shared_ptr<const VectorLayout> layout, LinearMethod method,
                           std::string options_prefix, ContactPreconditioner contact)
    : implementation_(
          std::make_unique<Implementation>(std::move(layout), method, std::move(options_prefix), contact)) {}
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;
LinearSolver::~LinearSolver() = default;

void LinearSolver::rebuild(const BlockMatrix& matrix, const Vector& positions,
                           std::span<const char> constrained, const StencilMatrix* contact) {
  implementation_->rebuild(matrix, positions, constrained, contact);
}
void LinearSolver::refresh(const StencilMatrix* contact, Refresh what) {
  implementation_->refresh(contact, what);
}
LinearResult LinearSolver::solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations) {
  return implementation_->solve(b, x, relative_tolerance, max_iterations);
}
LinearResult LinearSolver::solve_indefinite(const Vector& b, Vector& x, double relative_tolerance) {
  return implementation_->solve_indefinite(b, x, relative_tolerance);
}
LinearMethod LinearSolver::method() const { return implementation_->method(); }
std::string LinearSolver::description() const { return implementation_->description(); }
bool LinearSolver::repeatable() const { return implementation_->repeatable(); }

} // namespace recoil::linalg
