#include "recoil/linalg/linear_solver.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "linalg/method_choice.hpp"
#include "linalg/two_level_solver.hpp"

namespace recoil::linalg {

class LinearSolver::Implementation {
public:
  Implementation(std::shared_ptr<const VectorLayout> layout, LinearSolverOptions options);

  void update(const BlockMatrix& matrix, MakeNearNullSpace near_null_space, const StencilMatrix* stiff);
  void renew(Renewal what);
  LinearResult solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);
  LinearResult solve_stationary(const Vector& b, Vector& x, double relative_tolerance, int max_iterations);
  LinearResult solve_indefinite(const Vector& b, Vector& x, double relative_tolerance) {
    return solver_->solve_indefinite(b, x, relative_tolerance);
  }

  RefreshPolicy& policy() { return solver_->policy(); }
  LinearMethod method() const { return options_.method; }
  std::string description() const;
  bool repeatable() const { return are_repeatable(settings_.user_options, settings_.layout->comm->size()); }

private:
  std::unique_ptr<PreconditionedSolver> make_solver() const;

  PreconditionedSolver::Settings settings_;
  LinearSolverOptions options_;        ///< with the method that was chosen
  std::optional<MethodChoice> choice_; ///< empty where the method is given
  std::unique_ptr<PreconditionedSolver> solver_;
  std::unique_ptr<PreconditionedSolver> fallback_; ///< for matrices that multigrid cannot solve with
  const BlockMatrix* matrix_ = nullptr;
  const StencilMatrix* stiff_ = nullptr;
  MakeNearNullSpace near_null_space_;
};

LinearSolver::Implementation::Implementation(std::shared_ptr<const VectorLayout> layout,
                                             LinearSolverOptions options)
    : settings_{std::move(layout), options.prefix, options.stiff_name, user_options(options.prefix)},
      options_(std::move(options)) {
  if (options_.method == LinearMethod::automatic) {
    choice_.emplace(settings_.layout, options_.dimension);
    options_.method = choice_->before_matrix();
  }
  const std::string plain = settings_.prefix + settings_.stiff_name + "_plain";
  if (std::ranges::any_of(settings_.user_options, [&](const auto& option) { return option.first == plain; }))
    options_.stiff_terms = StiffTerms::assembled;
  solver_ = make_solver();
}

std::unique_ptr<PreconditionedSolver> LinearSolver::Implementation::make_solver() const {
  if (options_.method == LinearMethod::amg && options_.stiff_terms == StiffTerms::two_level)
    return std::make_unique<TwoLevelSolver>(settings_);
  return std::make_unique<PreconditionedSolver>(settings_, options_.method);
}

void LinearSolver::Implementation::update(const BlockMatrix& matrix, MakeNearNullSpace near_null_space,
                                          const StencilMatrix* stiff) {
  matrix_ = &matrix;
  near_null_space_ = std::move(near_null_space);
  stiff_ = stiff;
  policy().matrix_changed();
}

void LinearSolver::Implementation::renew(Renewal what) {
  RECOIL_ASSERT(matrix_ != nullptr);
  if (what == Renewal::nothing) return;
  if (what != Renewal::everything) {
    solver_->refresh(stiff_, what);
    return;
  }
  const LinearMethod method = choice_ ? (*choice_)(matrix_->shared_graph(), stiff_) : options_.method;
  if (std::exchange(options_.method, method) != method) solver_ = make_solver();
  solver_->rebuild(*matrix_, near_null_space_, stiff_);
}

LinearResult LinearSolver::Implementation::solve(const Vector& b, Vector& x, double relative_tolerance,
                                                 int max_iterations) {
  renew(policy().due());
  const int limit = policy().iteration_limit(relative_tolerance, max_iterations);
  LinearResult result = solver_->solve(b, x, relative_tolerance, limit);
  if (policy().gives_up(result)) {
    const int spent = result.iterations;
    renew(Renewal::operators);
    result = solver_->solve(b, x, relative_tolerance, max_iterations);
    result.iterations += spent;
  }
  policy().solved(result, relative_tolerance);
  return result;
}

LinearResult LinearSolver::Implementation::solve_stationary(const Vector& b, Vector& x,
                                                            double relative_tolerance, int max_iterations) {
  renew(policy().due());
  PreconditionedSolver* direct = solver_.get();
  LinearResult result = solver_->solve(b, x, relative_tolerance, max_iterations);
  if (result.outcome == LinearOutcome::converged) return result;
  if (options_.method != LinearMethod::direct) {
    if (!fallback_) fallback_ = std::make_unique<PreconditionedSolver>(settings_, LinearMethod::direct);
    direct = fallback_.get();
    direct->rebuild(*matrix_, near_null_space_, stiff_);
    result = direct->solve(b, x, relative_tolerance, max_iterations);
    if (result.outcome != LinearOutcome::indefinite) return result;
  }
  return direct->solve_indefinite(b, x, relative_tolerance);
}

std::string LinearSolver::Implementation::description() const {
  std::string text;
  for (const auto& [name, value] : settings_.user_options)
    text += " -" + name + (value.empty() ? "" : " " + value);
  if (!text.empty()) text = ", PETSc options" + text;
  if (options_.method == LinearMethod::direct)
    return "sparse Cholesky factorisation checked by conjugate gradients" + text;
  const std::string stiff = options_.stiff_terms == StiffTerms::assembled
                                ? settings_.stiff_name + " terms assembled"
                                : "exact solves on " + settings_.stiff_name + " nodes around it";
  return "conjugate gradients with smoothed-aggregation multigrid (GAMG), " + stiff + text;
}

LinearSolver::LinearSolver(std::shared_ptr<const VectorLayout> layout, LinearSolverOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(layout), std::move(options))) {}
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;
LinearSolver::~LinearSolver() = default;

void LinearSolver::begin_sequence() { implementation_->policy().begin_sequence(); }
bool LinearSolver::sequence_begins() const { return implementation_->policy().sequence_begins(); }
void LinearSolver::update(const BlockMatrix& matrix, MakeNearNullSpace near_null_space,
                          const StencilMatrix* stiff) {
  implementation_->update(matrix, std::move(near_null_space), stiff);
}
void LinearSolver::prepare(Renewal what) { implementation_->renew(what); }
LinearResult LinearSolver::solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations) {
  return implementation_->solve(b, x, relative_tolerance, max_iterations);
}
LinearResult LinearSolver::solve_stationary(const Vector& b, Vector& x, double relative_tolerance,
                                            int max_iterations) {
  return implementation_->solve_stationary(b, x, relative_tolerance, max_iterations);
}
LinearResult LinearSolver::solve_indefinite(const Vector& b, Vector& x, double relative_tolerance) {
  return implementation_->solve_indefinite(b, x, relative_tolerance);
}
LinearMethod LinearSolver::method() const { return implementation_->method(); }
std::string LinearSolver::description() const { return implementation_->description(); }
bool LinearSolver::repeatable() const { return implementation_->repeatable(); }

} // namespace recoil::linalg
