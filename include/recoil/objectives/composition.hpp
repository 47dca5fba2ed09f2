#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::objectives {

/// Times that are the same in decimals differ by less than this [s]: those of states are sums of steps,
/// observed and chosen ones are written by people. `times` ascend.
inline double time_tolerance(std::span<const double> times) {
  return 1e-9 * std::max(std::abs(times.front()), std::abs(times.back()));
}

/// Trapezoid over all states.
struct WholeTime {};
/// The last state.
struct FinalState {};
/// The sum over some states by their numbers; 0 is the initial one.
struct ChosenSteps {
  std::vector<GlobalIndex> steps;
};
/// The sum over some times [s], linear between the two states around each.
struct ChosenTimes {
  std::vector<double> times;
};
using TimeSelection = std::variant<WholeTime, FinalState, ChosenSteps, ChosenTimes>;

/// The weights w_i of the states at `times` (strictly increasing) in sum_i w_i J(state i): those of
/// the trapezoidal rule for an integral, one for chosen states. @throws InputError for an integral over fewer
/// than two states, empty selections, and steps and times that are not there. Not collective.
std::vector<double> state_weights(const TimeSelection& selection, std::span<const double> times);

/// One term of a study: weight * (sum_i w_i J(state i))^power.
struct Term {
  std::string where; ///< the place that messages name
  double weight = 1;
  double power = 1;
  TimeSelection time = WholeTime{};
};

/// The weighted sum of terms over the states of a trajectory, and its derivative by the value of each term at
/// each state; that is known when all states have been seen. Not collective; the same on all ranks if the
/// values are.
class Composition {
public:
  /// @param times of the states that objectives see: the initial one and the ends of nominal steps.
  /// @throws InputError as state_weights(), naming the term.
  Composition(std::vector<Term> terms, std::span<const double> times);

  std::size_t num_terms() const { return terms_.size(); }
  std::size_t num_states() const { return num_states_; }
  const Term& term(std::size_t term) const { return terms_[term]; }
  /// w_i of a term; where it is zero, neither the value nor the derivative is needed.
  double weight(std::size_t term, std::size_t state) const { return weights_[term][state]; }
  /// Takes J(state i) of a term.
  void set(std::size_t term, std::size_t state, double value);

  /// weight * sum^power of a term, and of all terms together.
  /// @throws InputError where a power of a negative sum is not defined. @pre all needed values are set.
  double value(std::size_t term) const;
  double value() const;
  /// d value() / dJ_term(state i) = weight power sum^(power - 1) w_i.
  /// @throws InputError where the power has no derivative: a sum of zero and power < 1.
  double factor(std::size_t term, std::size_t state) const;

  /// What keeps a term from being a sum of squares where its objective is one: a power, a negative weight;
  /// empty if nothing does.
  std::string obstacle_to_squares(std::size_t term) const;
  /// Whether a term counts each of its states once, as it is.
  bool counts_once(std::size_t term) const;
  /// sqrt(weight w_i), the factor of the residuals of a term at a state: value(term) is the sum of the
  /// squares of all. @pre nothing keeps the term from that.
  double residual_factor(std::size_t term, std::size_t state) const;

private:
  double sum(std::size_t term) const;

  std::vector<Term> terms_;
  std::size_t num_states_;
  std::vector<std::vector<double>> weights_, values_;
};

} // namespace recoil::objectives
