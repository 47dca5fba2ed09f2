#include "recoil/inverse/optimize.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "inverse/shared_work.hpp"
#include "recoil/base/error.hpp"

namespace recoil::inverse {

namespace {

using linalg::BoundedMinimum;
using linalg::Iterate;

/// What the first rank asks all ranks for.
enum class Request : int { value, gradient, factor, hessian_product, iterate };

/// What the first rank asks all ranks to evaluate.
class SharedEvaluations {
public:
  SharedEvaluations(const parallel::Communicator& comm, DesignObjective& objective,
                    const OnIterate& on_iterate)
      : objective_(objective), on_iterate_(on_iterate),
        shared_(comm, [this](std::span<const double> request) { evaluate(request); }) {}
  SharedEvaluations(const SharedEvaluations&) = delete;
  SharedEvaluations& operator=(const SharedEvaluations&) = delete;

  SharedWork& shared() { return shared_; }
  /// On the first rank.
  void ask(Request request, const std::vector<double>& x, Iterate at = {}) {
    std::vector<double> head{static_cast<double>(request),
                             static_cast<double>(at.iteration),
                             at.value,
                             at.gradient_norm,
                             at.step,
                             at.largest_cosine,
                             at.whole_step};
    head.insert(head.end(), x.begin(), x.end());
    shared_.ask(std::move(head));
  }

  const DesignObjective& objective() const { return objective_; }
  double value() const { return value_; }
  /// The gradient, the factor or the product, whatever was asked for last.
  const std::vector<double>& derivative() const { return derivative_; }
  const std::string& reason() const { return reason_; }

private:
  static constexpr std::size_t head_size = 7; ///< of a request, before x

  void evaluate(std::span<const double> request) {
    const std::span<const double> x = request.subspan(head_size);
    switch (static_cast<Request>(request[0])) {
    case Request::value:
      value_ = objective_.value(x);
      break;
    case Request::gradient:
      derivative_ = objective_.gradient(x);
      break;
    case Request::factor: {
      const Eigen::MatrixXd R = objective_.residual_factor(x);
      derivative_.assign(R.data(), R.data() + R.size());
      break;
    }
    case Request::hessian_product:
      derivative_ = objective_.hessian_product(x.first(x.size() / 2), x.subspan(x.size() / 2));
      break;
    case Request::iterate:
      reason_ = on_iterate_(
          {static_cast<int>(request[1]), x, request[2], request[3], request[4], request[5], request[6]});
      break;
    }
  }

  DesignObjective& objective_;
  const OnIterate& on_iterate_;
  SharedWork shared_;
  double value_ = 0;
  std::vector<double> derivative_;
  std::string reason_;
};

std::vector<double> times(std::span<const double> a, std::span<const double> b) {
  std::vector<double> product(a.size());
  std::ranges::transform(a, b, product.begin(), std::multiplies<>());
  return product;
}

std::vector<double> in_units(std::span<const double> x, const DesignVariables& variables) {
  std::vector<double> z(x.size());
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] / variables.unit[i];
  return z;
}

/// Values from those in units of the ranges; rounding must not lead out of the bounds.
std::vector<double> from_units(std::span<const double> z, const DesignVariables& variables) {
  std::vector<double> x(z.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::clamp(z[i] * variables.unit[i], variables.lower[i], variables.upper[i]);
  return x;
}

/// Why the rules find the optimisation at its end at an iterate, or nothing.
std::string apply(const StopRules& rules, const Iterate& at, double first_gradient_norm) {
  if (at.value <= rules.objective_tolerance)
    return fmt::format("the objective is at most {:g}", rules.objective_tolerance);
  if (rules.data_count > 0 && at.value <= static_cast<double>(rules.data_count))
    return fmt::format("chi^2 is at most the number of data, {}: what remains is noise", rules.data_count);
  const bool has_model = std::isfinite(at.largest_cosine);
  const bool is_near = !rules.ends_at_noise && at.whole_step <= StopRules::negligible_whole_step;
  const bool is_flat = at.gradient_norm <= rules.gradient_tolerance * at.value;
  if (at.gradient_norm <= rules.gradient_tolerance * first_gradient_norm &&
      (!has_model || is_near || is_flat))
    return fmt::format("the gradient is at most {:g} of that at the start", rules.gradient_tolerance);
  if (at.largest_cosine <= rules.gradient_tolerance)
    return fmt::format("the cosines between the residuals and their derivatives are at most {:g}",
                       rules.gradient_tolerance);
  if (at.iteration > 0 && at.step <= rules.step_tolerance)
    return fmt::format("the step is at most {:g}", rules.step_tolerance);
  return "";
}

/// How far the first step of Gauss-Newton may go, in units: where its linear model knows least about a
/// variable its steps are longest.
constexpr double first_reach = 2;

/// How far a step may go with products: so far at first, then twice as far as the step before.
class Reach {
public:
  explicit Reach(std::vector<double> start) : iterate_(std::move(start)) {}
  bool includes(std::span<const double> z) const { return distance(z) <= reach_; }
  void move_to(std::span<const double> z) {
    reach_ = std::max(first_reach, 2 * distance(z));
    iterate_.assign(z.begin(), z.end());
  }

private:
  double distance(std::span<const double> z) const {
    double largest = 0;
    for (std::size_t i = 0; i < z.size(); ++i) largest = std::max(largest, std::abs(z[i] - iterate_[i]));
    return largest;
  }
  std::vector<double> iterate_;
  double reach_ = first_reach;
};

/// The objective as a function of x / unit; infinite beyond `reach`, if there is one.
linalg::BoundedFunction in_units(SharedEvaluations& work, const DesignVariables& variables, HessianForm form,
                                 const std::optional<Reach>& reach) {
  const std::vector<double>& unit = variables.unit;
  linalg::BoundedFunction function{in_units(variables.lower, variables), in_units(variables.upper, variables),
                                   [&](std::span<const double> z) {
                                     if (reach && !reach->includes(z))
                                       return std::numeric_limits<double>::infinity();
                                     work.ask(Request::value, from_units(z, variables));
                                     return work.value();
                                   },
                                   [&](std::span<const double> z, std::span<double> gradient) {
                                     work.ask(Request::gradient, from_units(z, variables));
                                     std::ranges::copy(times(work.derivative(), unit), gradient.begin());
                                   }};
  if (form == HessianForm::matrix) {
    function.reach = first_reach;
    function.residual_factor = [&](std::span<const double> z) {
      work.ask(Request::factor, from_units(z, variables));
      std::vector<double> R = work.derivative();
      for (std::size_t i = 0; i < z.size() * (z.size() + 1); ++i) R[i] *= unit[i / (z.size() + 1)];
      return R;
    };
  }
  if (form == HessianForm::products)
    function.hessian_product = [&](std::span<const double> z, std::span<const double> d,
                                   std::span<double> product) {
      std::vector<double> x_and_d = from_units(z, variables);
      std::ranges::copy(times(d, unit), std::back_inserter(x_and_d));
      work.ask(Request::hessian_product, x_and_d);
      std::ranges::copy(times(work.derivative(), unit), product.begin());
    };
  if (work.objective().has_preconditioner())
    function.preconditioner = [&](std::span<const double> r, std::span<double> z) {
      // By x / unit, H is unit H unit.
      const std::vector<double> by_x = in_units(r, variables);
      std::ranges::copy(in_units(work.objective().precondition(by_x), variables), z.begin());
    };
  return function;
}

BoundedMinimum minimize(SharedEvaluations& work, const DesignVariables& variables, HessianForm form,
                        linalg::DescentMethod method, const StopRules& rules) {
  std::optional<Reach> reach;
  if (method == linalg::DescentMethod::gauss_newton && form == HessianForm::products)
    reach.emplace(in_units(variables.start, variables));
  const linalg::BoundedFunction function = in_units(work, variables, form, reach);
  double first_gradient_norm = 0;
  bool is_at_limit = false;
  const auto stop = [&](const Iterate& at) {
    if (at.iteration == 0) first_gradient_norm = at.gradient_norm;
    if (reach) reach->move_to(at.x);
    work.ask(Request::iterate, from_units(at.x, variables), at);
    if (!work.reason().empty()) return work.reason();
    if (std::string reason = apply(rules, at, first_gradient_norm); !reason.empty()) return reason;
    is_at_limit = at.iteration >= rules.max_iterations;
    return is_at_limit ? fmt::format("{} iterations are done", at.iteration) : "";
  };
  BoundedMinimum found = minimize_bounded(function, in_units(variables.start, variables), method, stop);
  found.x = from_units(found.x, variables);
  found.is_at_limit = is_at_limit;
  return found;
}

} // namespace

Eigen::MatrixXd DesignObjective::residual_factor(std::span<const double>) {
  throw InputError("this objective has no residuals that few variables change");
}

std::vector<double> DesignObjective::hessian_product(std::span<const double>, std::span<const double>) {
  throw InputError("this objective has no products of its second derivatives");
}

std::vector<double> DesignObjective::precondition(std::span<const double>) const {
  throw InputError("this objective has no approximate inverse of its second derivatives");
}

BoundedMinimum optimize(const parallel::Communicator& comm, DesignObjective& objective,
                        const DesignVariables& variables, linalg::DescentMethod method,
                        const StopRules& rules, const OnIterate& on_iterate) {
  SharedEvaluations work(comm, objective, on_iterate);
  BoundedMinimum found;
  work.shared().lead([&] { found = minimize(work, variables, objective.hessian_form(), method, rules); });
  comm.broadcast(found.x);
  comm.broadcast(found.reason);
  std::vector<double> numbers{found.value, found.is_asked ? 1.0 : 0.0, found.is_at_limit ? 1.0 : 0.0};
  comm.broadcast(numbers);
  found.value = numbers[0];
  found.is_asked = numbers[1] != 0;
  found.is_at_limit = numbers[2] != 0;
  return found;
}

} // namespace recoil::inverse
