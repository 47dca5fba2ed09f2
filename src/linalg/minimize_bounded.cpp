#include "recoil/linalg/minimize_bounded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <petsctao.h>

#include "linalg/solver_options.hpp"
#include "linalg/trust_region.hpp"
#include "recoil/base/error.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

bool is_held(const BoundedFunction& function, std::span<const double> x, std::span<const double> g,
             std::size_t i) {
  return (x[i] <= function.lower[i] && g[i] > 0) || (x[i] >= function.upper[i] && g[i] < 0);
}

double projected_norm(const BoundedFunction& function, std::span<const double> x, std::span<const double> g) {
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!is_held(function, x, g, i)) squares += g[i] * g[i];
  return std::sqrt(squares);
}

namespace {

using TaoHandle = UniqueHandle<PetscTraits<Tao, TaoDestroy>>;
/// Pairs of steps and gradient differences that quasi-Newton keeps. An evaluation costs more than many of
/// them, and with Tao's default of 5 Rosenbrock's function of 20 variables takes ten times the evaluations.
constexpr PetscInt history_size = 40;

using Stop = std::function<std::string(const Iterate&)>;

VecHandle vector_of(std::span<const double> values) {
  VecHandle vector;
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, petsc_int(values.size()), vector.put()));
  double* entries = nullptr;
  RECOIL_PETSC(VecGetArrayWrite(vector.get(), &entries));
  std::ranges::copy(values, entries);
  RECOIL_PETSC(VecRestoreArrayWrite(vector.get(), &entries));
  return vector;
}

/// What Tao's callbacks see. Tao minimises `scale` times the function.
class Context {
public:
  CallbackGuard guard;

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

  bool is_to_stop(PetscInt iteration, std::span<const double> x) {
    std::vector<double> scaled(x.size());
    gradient_at(x, scaled);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - iterate_[i]) * (x[i] - iterate_[i]);
    iterate_.assign(x.begin(), x.end());
    is_lost_ = method_ == DescentMethod::gauss_newton && iteration > 0 && value_ >= iterate_value_;
    iterate_value_ = value_;
    reason_ = stop_({static_cast<int>(iteration), iterate_, value_,
                     projected_norm(function_, iterate_, gradient_), std::sqrt(squares)});
    return !reason_.empty();
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
};

/// The Hessian model of a function as PETSc sees it: its products, times a factor. Not collective.
class HessianModel {
public:
  /// @param function, guard must outlive the model
  HessianModel(const BoundedFunction& function, double scale, CallbackGuard& guard)
      : function_(function), scale_(scale), guard_(guard) {
    if (!function.hessian_product)
      throw InputError("Gauss-Newton needs a model of the second derivatives, which only objectives that are "
                       "sums of squares have: choose quasi-Newton or conjugate gradients");
    const PetscInt n = petsc_int(function.lower.size());
    RECOIL_PETSC(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, this, matrix_.put()));
    RECOIL_PETSC(
        MatShellSetOperation(matrix_.get(), MATOP_MULT, reinterpret_cast<void (*)()>(&multiply_shell)));
    RECOIL_PETSC(MatSetOption(matrix_.get(), MAT_SYMMETRIC, PETSC_TRUE));
  }
  HessianModel(const HessianModel&) = delete;
  HessianModel& operator=(const HessianModel&) = delete;

  Mat matrix() const { return matrix_.get(); }

  /// Sets the preconditioner of conjugate gradients: the function's, if it has one.
  void set_up_preconditioner(PC pc) {
    if (!function_.preconditioner) {
      RECOIL_PETSC(PCSetType(pc, PCNONE));
      return;
    }
    RECOIL_PETSC(PCSetType(pc, PCSHELL));
    RECOIL_PETSC(PCShellSetContext(pc, this));
    RECOIL_PETSC(PCShellSetApply(pc, &precondition_shell));
  }

  /// Makes `model`, a HessianModel, that at x.
  static PetscErrorCode evaluate(Tao, Vec x, Mat, Mat, void* model) {
    auto& self = *static_cast<HessianModel*>(model);
    return self.guard_.run([&] { with_entries(x, [&](auto entries) { self.move_to(entries); }); });
  }

private:
  static PetscErrorCode multiply_shell(Mat shell, Vec d, Vec result) {
    HessianModel* self = nullptr;
    if (const PetscErrorCode code = MatShellGetContext(shell, &self)) return code;
    return self->guard_.run([&] {
      map_entries(d, result, [&](auto entries, auto product) { self->multiply(entries, product); });
    });
  }

  /// z = P r / scale.
  static PetscErrorCode precondition_shell(PC pc, Vec r, Vec z) {
    HessianModel* self = nullptr;
    if (const PetscErrorCode code = PCShellGetContext(pc, static_cast<void*>(&self))) return code;
    return self->guard_.run([&] {
      map_entries(r, z, [&](auto entries, auto result) {
        self->function_.preconditioner(entries, result);
        for (double& entry : result) entry /= self->scale_;
      });
    });
  }

  void move_to(std::span<const double> x) {
    x_.assign(x.begin(), x.end());
    products_.clear();
    RECOIL_PETSC(MatAssemblyBegin(matrix_.get(), MAT_FINAL_ASSEMBLY));
    RECOIL_PETSC(MatAssemblyEnd(matrix_.get(), MAT_FINAL_ASSEMBLY));
  }

  /// scale H d.
  void multiply(std::span<const double> d, std::span<double> result) {
    auto known =
        std::ranges::find_if(products_, [&](const auto& p) { return std::ranges::equal(p.first, d); });
    if (known == products_.end()) {
      std::vector<double> product(d.size());
      function_.hessian_product(x_, d, product);
      known = products_.emplace(known, std::vector<double>(d.begin(), d.end()), std::move(product));
    }
    std::ranges::transform(known->second, result.begin(), [this](double value) { return scale_ * value; });
  }

  const BoundedFunction& function_;
  double scale_;
  CallbackGuard& guard_;
  MatHandle matrix_;
  std::vector<double> x_;
  /// Conjugate gradients start with the same directions again when the trust region has become smaller; a
  /// product costs as much as simulations do.
  std::vector<std::pair<std::vector<double>, std::vector<double>>> products_;
};

/// Runs work(context), a callback whose context is a Context.
template <class Work>
PetscErrorCode run_in(void* context, Work work) {
  auto& at = *static_cast<Context*>(context);
  return at.guard.run([&] { work(at); });
}

PetscErrorCode evaluate_value(Tao, Vec x, PetscReal* value, void* context) {
  return run_in(context,
                [&](Context& at) { with_entries(x, [&](auto entries) { *value = at.value_at(entries); }); });
}

PetscErrorCode evaluate_gradient(Tao, Vec x, Vec gradient, void* context) {
  return run_in(context, [&](Context& at) {
    map_entries(x, gradient, [&](auto entries, auto result) { at.gradient_at(entries, result); });
  });
}

PetscErrorCode test_convergence(Tao tao, void* context) {
  return run_in(context, [&](Context& at) {
    PetscInt iteration = 0;
    Vec x = nullptr;
    TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
    RECOIL_PETSC(TaoGetConvergedReason(tao, &reason));
    if (reason != TAO_CONTINUE_ITERATING) return; // no iterate: a trust region without a step
    RECOIL_PETSC(TaoGetIterationNumber(tao, &iteration));
    RECOIL_PETSC(TaoGetSolution(tao, &x));
    bool stop = false;
    with_entries(x, [&](auto entries) { stop = at.is_to_stop(iteration, entries); });
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
  RECOIL_PETSC(TaoSetHessian(tao, model.matrix(), model.matrix(), &HessianModel::evaluate, &model));
  KSP ksp = nullptr;
  PC pc = nullptr;
  RECOIL_PETSC(TaoGetKSP(tao, &ksp));
  RECOIL_PETSC(KSPGetPC(ksp, &pc));
  model.set_up_preconditioner(pc);
  // Rounding makes conjugate gradients take more products than there are variables.
  RECOIL_PETSC(KSPSetTolerances(ksp, 1e-2, 0, PETSC_DEFAULT, 1000));
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
  if (method == DescentMethod::gauss_newton && function.residual_factor)
    return minimize_squares(function, std::move(start), stop);
  const VecHandle lower = vector_of(function.lower), upper = vector_of(function.upper), x = vector_of(start);
  Context context(function, stop, std::move(start), method);
  std::optional<HessianModel> model;
  if (method == DescentMethod::gauss_newton) model.emplace(function, context.scale(), context.guard);
  const TaoHandle tao = make_tao(method, context, model ? &*model : nullptr);
  RECOIL_PETSC(TaoSetVariableBounds(tao.get(), lower.get(), upper.get()));
  RECOIL_PETSC(TaoSetSolution(tao.get(), x.get()));
  const PetscErrorCode code = [&] {
    const QuietErrors quiet;
    return TaoSolve(tao.get());
  }();
  context.guard.rethrow();
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
