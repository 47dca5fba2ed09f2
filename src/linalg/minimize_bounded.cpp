#include "recoil/linalg/minimize_bounded.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>

#include <petsctao.h>

#include "linalg/hessian_model.hpp"
#include "linalg/solver_options.hpp"
#include "recoil/base/error.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

namespace {

using TaoHandle = UniqueHandle<PetscTraits<Tao, TaoDestroy>>;
/// Pairs of steps and gradient differences that quasi-Newton keeps. An evaluation costs more than many of
/// them, and with Tao's default of 5 Rosenbrock's function of 20 variables takes ten times the evaluations.
constexpr PetscInt history_size = 40;

using Stop = std::function<std::string(const Iterate&)>;

std::span<const double> view(const double* values, std::size_t size) { return {values, size}; }

VecHandle vector_of(std::span<const double> values) {
  VecHandle vector;
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, static_cast<PetscInt>(values.size()), vector.put()));
  double* entries = nullptr;
  RECOIL_PETSC(VecGetArrayWrite(vector.get(), &entries));
  std::ranges::copy(values, entries);
  RECOIL_PETSC(VecRestoreArrayWrite(vector.get(), &entries));
  return vector;
}

/// Norm of the gradient without the components that point out of the bounds.
double projected_norm(const BoundedFunction& function, std::span<const double> x, std::span<const double> g) {
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool at_lower = x[i] <= function.lower[i] && g[i] > 0;
    const bool at_upper = x[i] >= function.upper[i] && g[i] < 0;
    if (!at_lower && !at_upper) squares += g[i] * g[i];
  }
  return std::sqrt(squares);
}

/// What Tao's callbacks see. Tao minimises `scale` times the function.
class Context {
public:
  Context(const BoundedFunction& function, const Stop& stop, std::vector<double> start, DescentMethod method)
      : function_(function), stop_(stop), method_(method), x_(std::move(start)), gradient_(x_.size()) {
    value_ = function_.value(x_);
    if (!std::isfinite(value_))
      throw InputError("the objective has no finite value at the start of the optimisation");
    function_.gradient(x_, gradient_);
    has_gradient_ = true;
    scale_ = first_scale(projected_norm(function_, x_, gradient_));
    iterate_ = x_;
    iterate_value_ = value_;
  }

  double scale() const { return scale_; }
  /// The last step of a trust region has been accepted although the value, but for rounding, stays.
  bool is_lost() const { return is_lost_; }

  double value_at(std::span<const double> x) {
    move_to(x);
    if (std::isfinite(value_)) return scale_ * value_;
    // The line search of quasi-Newton takes infinite values; conjugate gradients need finite ones near those
    // of the iterate, from which they then rise as the square of the distance to twice its value; the trust
    // region needs finite ones that no step is accepted with.
    if (method_ == DescentMethod::conjugate_gradients) return scale_ * (iterate_value_ + rise());
    return method_ == DescentMethod::gauss_newton ? 1e300 : std::numeric_limits<double>::infinity();
  }

  void gradient_at(std::span<const double> x, std::span<double> result) {
    move_to(x);
    if (!std::isfinite(value_)) return extend_gradient(result);
    if (!has_gradient_) function_.gradient(x_, gradient_);
    has_gradient_ = true;
    std::ranges::transform(gradient_, result.begin(), [this](double g) { return scale_ * g; });
  }

  bool is_to_stop(int iteration, std::span<const double> x) {
    std::vector<double> scaled(x.size());
    gradient_at(x, scaled);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - iterate_[i]) * (x[i] - iterate_[i]);
    iterate_.assign(x.begin(), x.end());
    is_lost_ = method_ == DescentMethod::gauss_newton && iteration > 0 && value_ >= iterate_value_;
    iterate_value_ = value_;
    reason_ = stop_(
        {iteration, iterate_, value_, projected_norm(function_, iterate_, gradient_), std::sqrt(squares)});
    return !reason_.empty();
  }

  /// Runs a callback; what it throws must not pass through Tao.
  template <class Work>
  PetscErrorCode guarded(Work work) {
    try {
      work();
      return 0;
    } catch (...) {
      thrown_ = std::current_exception();
      return PETSC_ERR_USER;
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  BoundedMinimum result() const { return {iterate_, iterate_value_, reason_, !reason_.empty()}; }

private:
  /// Tolerances of the trust region are those of values about 1.
  double first_scale(double norm) const {
    if (method_ == DescentMethod::gauss_newton) return value_ != 0 ? 1 / std::abs(value_) : 1;
    if (norm == 0) return 1;
    return value_ != 0 ? 2 * std::abs(value_) / (norm * norm) : 1 / norm;
  }
  double rise() const { return std::max(std::abs(iterate_value_), std::numeric_limits<double>::min()); }
  void extend_gradient(std::span<double> result) const {
    double squares = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) squares += (x_[i] - iterate_[i]) * (x_[i] - iterate_[i]);
    for (std::size_t i = 0; i < x_.size(); ++i)
      result[i] = scale_ * 2 * rise() * (x_[i] - iterate_[i]) / squares;
  }
  void move_to(std::span<const double> x) {
    if (std::ranges::equal(x, x_)) return;
    x_.assign(x.begin(), x.end());
    has_gradient_ = false;
    value_ = function_.value(x_);
  }

  const BoundedFunction& function_;
  const Stop& stop_;
  DescentMethod method_;
  double scale_ = 1;
  std::vector<double> x_; ///< of the last evaluation
  double value_ = 0;
  std::vector<double> gradient_;
  bool has_gradient_ = false;
  std::vector<double> iterate_;
  double iterate_value_ = 0;
  bool is_lost_ = false;
  std::string reason_;
  std::exception_ptr thrown_;
};

std::size_t size_of(Vec x) {
  PetscInt size = 0;
  RECOIL_PETSC(VecGetLocalSize(x, &size));
  return static_cast<std::size_t>(size);
}

template <class Act>
void with_entries(Vec x, Act act) {
  const double* entries = nullptr;
  RECOIL_PETSC(VecGetArrayRead(x, &entries));
  act(view(entries, size_of(x)));
  RECOIL_PETSC(VecRestoreArrayRead(x, &entries));
}

PetscErrorCode evaluate_value(Tao, Vec x, PetscReal* value, void* context) {
  auto& at = *static_cast<Context*>(context);
  return at.guarded([&] { with_entries(x, [&](auto entries) { *value = at.value_at(entries); }); });
}

PetscErrorCode evaluate_gradient(Tao, Vec x, Vec gradient, void* context) {
  auto& at = *static_cast<Context*>(context);
  return at.guarded([&] {
    double* result = nullptr;
    RECOIL_PETSC(VecGetArrayWrite(gradient, &result));
    with_entries(x, [&](auto entries) { at.gradient_at(entries, {result, entries.size()}); });
    RECOIL_PETSC(VecRestoreArrayWrite(gradient, &result));
  });
}

PetscErrorCode test_convergence(Tao tao, void* context) {
  auto& at = *static_cast<Context*>(context);
  return at.guarded([&] {
    PetscInt iteration = 0;
    Vec x = nullptr;
    TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
    RECOIL_PETSC(TaoGetConvergedReason(tao, &reason));
    if (reason != TAO_CONTINUE_ITERATING) return; // no iterate: a trust region without a step
    RECOIL_PETSC(TaoGetIterationNumber(tao, &iteration));
    RECOIL_PETSC(TaoGetSolution(tao, &x));
    bool stop = false;
    with_entries(x, [&](auto entries) { stop = at.is_to_stop(static_cast<int>(iteration), entries); });
    if (stop) RECOIL_PETSC(TaoSetConvergedReason(tao, TAO_CONVERGED_USER));
    // It would accept such steps for ever.
    if (!stop && at.is_lost()) RECOIL_PETSC(TaoSetConvergedReason(tao, TAO_CONVERGED_STEPTOL));
  });
}

/// Why Tao itself has ended.
std::string describe(TaoConvergedReason reason) {
  switch (reason) {
  case TAO_DIVERGED_LS_FAILURE:
    return "no step along the search direction makes the objective smaller: it is as small as its gradient "
           "allows, or the gradient is not exact enough";
  case TAO_CONVERGED_STEPTOL:
  case TAO_DIVERGED_TR_REDUCTION:
    return "the step has become too small";
  default:
    return std::string("Tao ended with ") + TaoConvergedReasons[reason];
  }
}

PetscErrorCode evaluate_hessian(Tao, Vec x, Mat, Mat, void* context) {
  auto& model = *static_cast<HessianModel*>(context);
  return model.guarded([&] { with_entries(x, [&](auto entries) { model.move_to(entries); }); });
}

/// What Tao has no functions for. Trials that measure a first radius cost evaluations; the model gives one.
/// A variable is active where it is at its bound and no sooner: with all of them active, this Tao takes a
/// step it has never computed. A change of f below `epsilon` is taken for what the model has predicted. With
/// half the radius after a rejected step Rosenbrock's function takes half the evaluations of Tao's quarter. A
/// radius of 1e-8 changes f by so little that noise hides it: smaller ones would waste evaluations.
const OptionList trust_region_options{{"recoil_opt_tao_bnk_init_type", "direction"},
                                      {"recoil_opt_tao_bnk_as_type", "none"},
                                      {"recoil_opt_tao_bnk_alpha1", "0.5"},
                                      {"recoil_opt_tao_bnk_min_radius", "1e-8"},
                                      {"recoil_opt_tao_bnk_epsilon", "1e-15"}};

void set_up_trust_region(Tao tao, HessianModel& model) {
  RECOIL_PETSC(TaoSetHessian(tao, model.matrix(), model.matrix(), evaluate_hessian, &model));
  KSP ksp = nullptr;
  PC pc = nullptr;
  RECOIL_PETSC(TaoGetKSP(tao, &ksp));
  RECOIL_PETSC(KSPGetPC(ksp, &pc));
  RECOIL_PETSC(PCSetType(pc, model.is_dense() ? PCJACOBI : PCNONE));
  // Rounding makes conjugate gradients take more products than there are variables.
  RECOIL_PETSC(KSPSetTolerances(ksp, model.is_dense() ? 1e-12 : 1e-2, 0, PETSC_DEFAULT, 1000));
}

TaoType type_of(DescentMethod method) {
  if (method == DescentMethod::gauss_newton) return TAOBNTR;
  return method == DescentMethod::quasi_newton ? TAOBQNLS : TAOBNCG;
}

TaoHandle make_tao(DescentMethod method, Context& context, HessianModel* model) {
  TaoHandle tao;
  RECOIL_PETSC(TaoCreate(PETSC_COMM_SELF, tao.put()));
  RECOIL_PETSC(TaoSetOptionsPrefix(tao.get(), "recoil_opt_"));
  RECOIL_PETSC(TaoSetType(tao.get(), type_of(method)));
  if (model != nullptr) set_up_trust_region(tao.get(), *model);
  if (method == DescentMethod::quasi_newton) {
    // The one search of Tao's that shortens its step where the function is infinite. Conjugate gradients
    // hardly get on with it: their steps have to be lengthened, too.
    TaoLineSearch search = nullptr;
    RECOIL_PETSC(TaoGetLineSearch(tao.get(), &search));
    RECOIL_PETSC(TaoLineSearchSetType(search, TAOLINESEARCHARMIJO));
  }
  RECOIL_PETSC(TaoSetObjective(tao.get(), evaluate_value, &context));
  RECOIL_PETSC(TaoSetGradient(tao.get(), nullptr, evaluate_gradient, &context));
  RECOIL_PETSC(TaoSetConvergenceTest(tao.get(), test_convergence, &context));
  RECOIL_PETSC(TaoSetMaximumIterations(tao.get(), std::numeric_limits<int>::max()));
  if (method == DescentMethod::quasi_newton) {
    Mat B = nullptr;
    RECOIL_PETSC(TaoGetLMVMMatrix(tao.get(), &B));
    RECOIL_PETSC(MatLMVMSetHistorySize(B, history_size));
  }
  const ScopedOptions options(model != nullptr ? trust_region_options : OptionList{});
  RECOIL_PETSC(TaoSetFromOptions(tao.get()));
  return tao;
}

} // namespace

BoundedMinimum minimize_bounded(const BoundedFunction& function, std::vector<double> start,
                                DescentMethod method, const Stop& stop) {
  for (std::size_t i = 0; i < start.size(); ++i)
    start[i] = std::clamp(start[i], function.lower[i], function.upper[i]);
  const VecHandle lower = vector_of(function.lower), upper = vector_of(function.upper), x = vector_of(start);
  Context context(function, stop, std::move(start), method);
  std::optional<HessianModel> model;
  if (method == DescentMethod::gauss_newton) model.emplace(function, context.scale());
  const TaoHandle tao = make_tao(method, context, model ? &*model : nullptr);
  RECOIL_PETSC(TaoSetVariableBounds(tao.get(), lower.get(), upper.get()));
  RECOIL_PETSC(TaoSetSolution(tao.get(), x.get()));
  const PetscErrorCode code = [&] {
    const QuietErrors quiet;
    return TaoSolve(tao.get());
  }();
  context.rethrow();
  if (model) model->rethrow();
  RECOIL_PETSC(code);
  BoundedMinimum result = context.result();
  if (!result.is_asked) {
    TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
    RECOIL_PETSC(TaoGetConvergedReason(tao.get(), &reason));
    result.reason = describe(reason);
  }
  return result;
}

} // namespace recoil::linalg
