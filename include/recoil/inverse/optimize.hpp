#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/minimize_bounded.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::inverse {

/// How a least-squares objective J = |r|^2 gives its J_r = dr/dx to Gauss-Newton.
enum class HessianForm {
  none,    ///< not at all
  matrix,  ///< as a triangular factor, for few variables
  products ///< by products of H = 2 J_r'J_r with directions, for fields
};

/// A function of design variables, which all ranks hold and evaluate together. What they evaluate is
/// collective and the same on every rank; what it throws, it throws on every rank.
class DesignObjective {
public:
  virtual ~DesignObjective() = default;
  /// J(x); infinite where x has no solution.
  virtual double value(std::span<const double> x) = 0;
  /// dJ/dx. @pre value(x) is finite.
  virtual std::vector<double> gradient(std::span<const double> x) = 0;
  virtual HessianForm hessian_form() const { return HessianForm::none; }
  /// The triangular_factor() of [J_r r], (n + 1) x (n + 1). @pre hessian_form() is `matrix`; x is the last
  /// one that gradient() was asked for at, though value() may have been asked for elsewhere since.
  virtual Eigen::MatrixXd residual_factor(std::span<const double> x);
  /// H d. @pre as for residual_factor(), where hessian_form() is `products`.
  virtual std::vector<double> hessian_product(std::span<const double> x, std::span<const double> d);
  /// Whether there is an approximate inverse P of H, symmetric and positive definite. @pre the variables have
  /// no bounds where there is one.
  virtual bool has_preconditioner() const { return false; }
  /// P r, n numbers. @pre has_preconditioner(). Not collective.
  virtual std::vector<double> precondition(std::span<const double> r) const;
};

/// The variables of an optimisation. An optimiser sees x / unit.
struct DesignVariables {
  std::vector<double> start, lower, upper; ///< infinite where there is no bound
  std::vector<double> unit;                ///< typical sizes of changes
};

/// Where an optimisation ends, besides where `on_iterate` ends it.
struct StopRules {
  int max_iterations = 100;
  /// Tolerance of convergence. Of Gauss-Newton with a matrix: of the cosine of the angle between r and its
  /// derivatives, linalg::Iterate::largest_cosine. Of all other methods, of the gradient by x / unit,
  /// relative to its norm at the start; Gauss-Newton with a matrix ends there, too, if r has fallen to
  /// nothing but what runs leave unsolved, so that cosines stay large: where no more than
  /// negligible_whole_step is to go; or if J is flat [Dennis and Schnabel 1983, section 7.2]: where the
  /// gradient is at most this share of J as well.
  double gradient_tolerance = 1e-6;
  static constexpr double negligible_whole_step = 1e-4; ///< of x / unit
  double step_tolerance = 1e-8;                         ///< of the change of x / unit in an iteration
  double objective_tolerance = -std::numeric_limits<double>::infinity(); ///< of J itself
  /// Where J is chi^2 of so many data, that is |r|^2 in standard deviations, it ends once J is at most
  /// data_count: what remains is the size of the noise (Morozov's discrepancy principle). 0: it does not.
  std::size_t data_count = 0;
  /// `on_iterate` knows r in the standard deviations of its data, and ends where no step changes it by more
  /// than these: the gradient at the start is no measure then.
  bool ends_at_noise = false;
};

/// Shown the start and every iterate, with x as DesignObjective has it and the gradient and the step of
/// x / unit; says why to end there, or nothing. Collective; the answer of the first rank counts.
using OnIterate = std::function<std::string(const linalg::Iterate&)>;

/// Minimises an objective between bounds, by linalg::minimize_bounded() on the first rank (Gauss-Newton with
/// steps of two units at first, then no more than twice as long as the step before), while the others
/// wait for what it asks all of them to evaluate: the iterates depend on the values of the objective alone,
/// whatever the number of ranks. The result is that of every rank. Collective. @throws InputError where the
/// objective has no value at the start; what its members and `on_iterate` throw.
linalg::BoundedMinimum optimize(const parallel::Communicator& comm, DesignObjective& objective,
                                const DesignVariables& variables, linalg::DescentMethod method,
                                const StopRules& rules, const OnIterate& on_iterate);

} // namespace recoil::inverse
