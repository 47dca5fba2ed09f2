#include "recoil/linalg/linear_solver.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "linalg/method_choice.hpp"
#include "linalg/preconditioned_solver.hpp"
#include "linalg/sum_matrix.hpp"
#include "recoil/base/phases.hpp"

namespace recoil::linalg {

namespace {

/// Condition up to which the inverses of the diagonal blocks, of which a set-up costs nothing and an
/// iteration one product with the matrix, beat multigrid (docs/performance.md, Implicit bonded particles).
constexpr double condition_of_blocks = 1000;
/// The same beside multigrid whose set-up serves for many sequences.
constexpr double condition_beside_reference = 100;

/// Whether the pattern of `matrix` has a place for every block of `stiff`. Collective.
bool fits(const BlockMatrix& matrix, const StencilMatrix& stiff) {
  return matrix.layout().comm->all(find_extras(matrix.layout(), matrix.graph(), stiff.rows()).empty());
}

} // namespace

struct LinearSolver::Implementation {
  PreconditionedSolver::Settings settings;
  LinearSolverOptions options;        ///< with the method that was chosen
  std::optional<MethodChoice> choice; ///< empty where the method is given
  std::unique_ptr<PreconditionedSolver> solver;
  std::unique_ptr<PreconditionedSolver> fallback; ///< for matrices that multigrid cannot solve with
  double condition = 0;                           ///< of the matrices of the sequence
  bool method_is_chosen = false;                  ///< for the matrix that the sequence begins with
  const BlockMatrix* matrix = nullptr;
  const StencilMatrix* stiff = nullptr;
  std::unique_ptr<StencilMatrix> no_terms; ///< stands for them in a reference
  MakeNearNullSpace near_null_space;

  Implementation(std::shared_ptr<const VectorLayout> layout, LinearSolverOptions given);
  std::unique_ptr<PreconditionedSolver> make_solver() const;
  LinearMethod choose_method(const StencilMatrix* stiff_terms, double most_of_blocks);
  /// What the next solve has to renew first, a change from multigrid to factors included.
  Renewal due();
  /// Notes whether multigrid took longer for a solve than factors would have.
  void compare_with_factors(const LinearResult& result);
  void change_method(const StencilMatrix* stiff_terms, double most_of_blocks = condition_of_blocks);
  RefreshPolicy& policy() { return solver->policy(); }
};

LinearSolver::Implementation::Implementation(std::shared_ptr<const VectorLayout> layout,
                                             LinearSolverOptions given)
    : settings{std::move(layout), given.prefix, given.stiff_name, user_options(given.prefix),
               given.coarse_space},
      options(std::move(given)) {
  if (options.method == LinearMethod::automatic) {
    choice.emplace(settings.layout, options.dimension);
    options.method = choice->before_matrix();
  }
  const std::string plain = settings.prefix + settings.stiff_name + "_plain";
  if (std::ranges::any_of(settings.user_options, [&](const auto& option) { return option.first == plain; }))
    options.stiff_terms = StiffTerms::assembled;
  solver = make_solver();
}

std::unique_ptr<PreconditionedSolver> LinearSolver::Implementation::make_solver() const {
  if (options.method != LinearMethod::direct && options.stiff_terms == StiffTerms::two_level)
    return make_two_level_solver(settings, options.method);
  return std::make_unique<PreconditionedSolver>(settings, options.method);
}

LinearMethod LinearSolver::Implementation::choose_method(const StencilMatrix* stiff_terms,
                                                         double most_of_blocks) {
  if (!choice) return options.method;
  if (policy().prefers_factors()) return LinearMethod::direct;
  const LinearMethod method = (*choice)(matrix->shared_graph(), stiff_terms);
  return method == LinearMethod::amg && condition <= most_of_blocks ? LinearMethod::block_jacobi : method;
}

void LinearSolver::Implementation::change_method(const StencilMatrix* stiff_terms, double most_of_blocks) {
  const LinearMethod method = choose_method(stiff_terms, most_of_blocks);
  if (std::exchange(options.method, method) == method) return;
  const HierarchyRecord record = policy().record();
  solver = make_solver();
  policy().restore(record);
}

Renewal LinearSolver::Implementation::due() {
  const bool changes = choice && options.method == LinearMethod::amg && policy().prefers_factors();
  return changes ? Renewal::everything : policy().due();
}

void LinearSolver::Implementation::compare_with_factors(const LinearResult& result) {
  if (choice && options.method == LinearMethod::amg && choice->factors_faster_than(result.iterations))
    policy().prefer_factors();
}

LinearSolver::LinearSolver(std::shared_ptr<const VectorLayout> layout, LinearSolverOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(layout), std::move(options))) {}
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;
LinearSolver::~LinearSolver() = default;

void LinearSolver::begin_sequence(double condition) {
  implementation_->condition = condition;
  implementation_->method_is_chosen = false;
  implementation_->policy().begin_sequence();
}
bool LinearSolver::sequence_begins() const { return implementation_->policy().sequence_begins(); }
LinearMethod LinearSolver::method() const { return implementation_->options.method; }

bool LinearSolver::repeatable() const {
  const auto& settings = implementation_->settings;
  return are_repeatable(settings.user_options, settings.layout->comm->size());
}

bool LinearSolver::begin_with_reference(const BlockMatrix& matrix, double key,
                                        const std::function<void()>& assemble,
                                        const MakeNearNullSpace& near_null_space,
                                        const StencilMatrix* stiff) {
  Implementation& own = *implementation_;
  if (!sequence_begins() || !own.policy().may_use_reference()) return false;
  own.matrix = &matrix;
  // Blocks are weighed against a hierarchy whose set-up serves for many sequences.
  own.change_method(stiff, condition_beside_reference);
  own.method_is_chosen = stiff != nullptr;
  if (own.options.method != LinearMethod::amg || own.solver->is_factorization()) return false;
  if (stiff != nullptr && !fits(matrix, *stiff)) {
    own.policy().give_reference_up();
    return false;
  }
  const bool renews = stiff != nullptr && !stiff->empty();
  const bool is_needed = own.policy().needs_reference(key, renews);
  if (is_needed) {
    assemble();
    const PhaseScope phase(Phase::preconditioner);
    if (stiff != nullptr && !own.no_terms)
      own.no_terms = std::make_unique<StencilMatrix>(own.settings.layout);
    const StencilMatrix* none = stiff == nullptr ? nullptr : own.no_terms.get();
    if (!own.solver->take_reference(matrix, near_null_space, none, key)) {
      own.policy().give_reference_up();
      own.policy().begin_sequence();
      return true;
    }
  }
  own.policy().hold_reference(renews, stiff == nullptr);
  return is_needed;
}

HierarchyRecord LinearSolver::hierarchy_record() const { return implementation_->policy().record(); }
void LinearSolver::restore(const HierarchyRecord& record) { implementation_->policy().restore(record); }

void LinearSolver::update(const BlockMatrix& matrix, MakeNearNullSpace near_null_space,
                          const StencilMatrix* stiff) {
  implementation_->matrix = &matrix;
  implementation_->near_null_space = std::move(near_null_space);
  implementation_->stiff = stiff;
  implementation_->policy().matrix_changed();
}

void LinearSolver::prepare(Renewal what) {
  Implementation& own = *implementation_;
  RECOIL_ASSERT(own.matrix != nullptr);
  if (what == Renewal::nothing) return;
  const PhaseScope phase(Phase::preconditioner);
  if (what != Renewal::everything) {
    own.solver->refresh(own.stiff, what);
    return;
  }
  if (!std::exchange(own.method_is_chosen, false)) own.change_method(own.stiff);
  own.solver->rebuild(*own.matrix, own.near_null_space, own.stiff);
}

LinearResult LinearSolver::solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations) {
  const PhaseScope phase(Phase::krylov);
  Implementation& own = *implementation_;
  prepare(own.due());
  const int limit = own.policy().iteration_limit(relative_tolerance, max_iterations);
  LinearResult result = own.solver->solve(b, x, relative_tolerance, limit);
  if (own.policy().gives_up(result)) {
    const int spent = result.iterations;
    prepare(Renewal::operators);
    result = own.solver->solve(b, x, relative_tolerance, max_iterations);
    result.iterations += spent;
  }
  own.policy().solved(result, relative_tolerance);
  own.compare_with_factors(result);
  return result;
}

LinearResult LinearSolver::solve_stationary(const Vector& b, Vector& x, double relative_tolerance,
                                            int max_iterations) {
  const PhaseScope phase(Phase::krylov);
  Implementation& own = *implementation_;
  prepare(own.due());
  PreconditionedSolver* direct = own.solver.get();
  LinearResult result = direct->solve(b, x, relative_tolerance, max_iterations);
  if (result.outcome == LinearOutcome::converged) return result;
  if (own.options.method != LinearMethod::direct) {
    if (!own.fallback)
      own.fallback = std::make_unique<PreconditionedSolver>(own.settings, LinearMethod::direct);
    direct = own.fallback.get();
    direct->rebuild(*own.matrix, own.near_null_space, own.stiff);
    result = direct->solve(b, x, relative_tolerance, max_iterations);
  }
  // Near folds conjugate gradients lose positive curvature to rounding, although the factor is definite.
  if (result.outcome != LinearOutcome::indefinite) return result;
  return direct->solve_indefinite(b, x, relative_tolerance);
}

LinearResult LinearSolver::solve_indefinite(const Vector& b, Vector& x, double relative_tolerance) {
  if (implementation_->solver->has_indefinite_factor())
    return implementation_->solver->solve_indefinite(b, x, relative_tolerance);
  x.fill(0);
  LinearResult result;
  result.outcome = LinearOutcome::indefinite;
  return result;
}

std::string LinearSolver::description() const {
  std::string text;
  for (const auto& [name, value] : implementation_->settings.user_options)
    text += " -" + name + (value.empty() ? "" : " " + value);
  if (!text.empty()) text = ", PETSc options" + text;
  const LinearSolverOptions& options = implementation_->options;
  if (options.method == LinearMethod::direct)
    return "sparse Cholesky factorisation checked by conjugate gradients" + text;
  const std::string stiff = options.stiff_terms == StiffTerms::assembled
                                ? options.stiff_name + " terms assembled"
                                : "exact solves on " + options.stiff_name + " nodes around it";
  const std::string preconditioner =
      options.method == LinearMethod::amg ? "smoothed-aggregation multigrid (GAMG)" : "the diagonal blocks";
  return "conjugate gradients with " + preconditioner + ", " + stiff + text;
}

} // namespace recoil::linalg
