#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recoil/objectives/composition.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::objectives {

/// Evaluates the objectives with a weight at state i of a trajectory and notes their values in `composition`;
/// objective k belongs to term k. Collective.
template <int dim>
void observe(const std::vector<std::unique_ptr<Objective<dim>>>& objectives, std::size_t i,
             const ObservedState& state, Composition& composition) {
  for (std::size_t k = 0; k < objectives.size(); ++k)
    if (composition.weight(k, i) != 0) composition.set(k, i, objectives[k]->value(state));
}

/// Adds the derivatives of composition.value() by state i, by the displacement its step started from and, at
/// fixed states, by the physical quantities there; after all states have been observed. Collective.
template <int dim>
void add_derivatives(const std::vector<std::unique_ptr<Objective<dim>>>& objectives, std::size_t i,
                     const ObservedState& state, const Composition& composition, std::span<double> du,
                     std::span<double> dv, std::span<double> previous_du,
                     parameters::PhysicalGradient<dim>& g) {
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    const double factor = composition.factor(k, i);
    if (factor == 0) continue;
    if (!objectives[k]->depends_on_step() || !objectives[k]->is_least_squares()) {
      objectives[k]->add_derivatives(state, factor, du, dv, g);
      continue;
    }
    std::vector<double> y = objectives[k]->residuals(state);
    for (double& entry : y) entry *= 2 * factor;
    objectives[k]->add_residual_products(state, y, du, dv, g);
    objectives[k]->add_previous_products(state, y, previous_du);
  }
}

/// Why the terms together are not |r|^2, with the place of the first that is no sum of squares; empty if they
/// are. Not collective.
template <int dim>
std::string why_not_least_squares(const std::vector<std::unique_ptr<Objective<dim>>>& objectives,
                                  const Composition& composition) {
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    const std::string obstacle =
        objectives[k]->is_least_squares()
            ? composition.obstacle_to_squares(k)
            : "an objective of type " + std::string(objectives[k]->name()) + " is not a sum of squares";
    if (!obstacle.empty()) return composition.term(k).where + ": " + obstacle;
  }
  return "";
}

/// Whether |r|^2 is the chi^2 of data. Not collective.
template <int dim>
bool is_chi_squared(const std::vector<std::unique_ptr<Objective<dim>>>& objectives,
                    const Composition& composition) {
  for (std::size_t k = 0; k < objectives.size(); ++k)
    if (!objectives[k]->has_deviations() || !composition.counts_once(k)) return false;
  return true;
}

/// act(objective, factor) for all terms with residuals at state i, which are factor times those of the
/// objective; in their order.
template <int dim, class Act>
void for_each_residual_term(const std::vector<std::unique_ptr<Objective<dim>>>& objectives, std::size_t i,
                            const Composition& composition, Act act) {
  for (std::size_t k = 0; k < objectives.size(); ++k)
    if (const double factor = composition.residual_factor(k, i); factor != 0) act(*objectives[k], factor);
}

/// How many residuals this rank has at state i. Not collective.
/// @pre why_not_least_squares() says nothing; here and below.
template <int dim>
std::size_t num_residuals(const std::vector<std::unique_ptr<Objective<dim>>>& objectives, std::size_t i,
                          const Composition& composition) {
  std::size_t count = 0;
  for_each_residual_term<dim>(objectives, i, composition, [&](const Objective<dim>& objective, double) {
    count += objective.num_residuals();
  });
  return count;
}

/// observe() by residuals: the value of a term is the sum of their squares over the ranks of `comm`. Returns
/// the residuals of this rank at state i, num_residuals() of them, whose squares sum up to
/// composition.value() over all states and ranks: sqrt(weight w_i) r, terms in their order. Collective.
template <int dim>
std::vector<double> observe_residuals(const parallel::Communicator& comm,
                                      const std::vector<std::unique_ptr<Objective<dim>>>& objectives,
                                      std::size_t i, const ObservedState& state, Composition& composition) {
  std::vector<double> rows;
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    if (composition.weight(k, i) == 0) continue;
    const std::vector<double> of_term = objectives[k]->residuals(state);
    double squares = 0;
    for (const double r : of_term) squares += r * r;
    composition.set(k, i, comm.sum(squares));
    if (const double factor = composition.residual_factor(k, i); factor != 0)
      for (const double r : of_term) rows.push_back(factor * r);
  }
  return rows;
}

/// The change of the residuals along du, dv and that of the displacement at the start of the step (owned
/// entries, then ghosts) and dq. Collective.
template <int dim>
std::vector<double> residual_tangent(const std::vector<std::unique_ptr<Objective<dim>>>& objectives,
                                     std::size_t i, const ObservedState& state,
                                     const Composition& composition, std::span<const double> du,
                                     std::span<const double> dv, std::span<const double> previous_du,
                                     const parameters::PhysicalDirection<dim>& dq) {
  std::vector<double> rows;
  for_each_residual_term<dim>(objectives, i, composition, [&](Objective<dim>& objective, double factor) {
    std::vector<double> change = objective.residual_tangent(state, du, dv, dq);
    if (objective.depends_on_step())
      std::ranges::transform(change, objective.previous_tangent(state, previous_du), change.begin(),
                             std::plus());
    for (const double dr : change) rows.push_back(factor * dr);
  });
  return rows;
}

/// Adds the transpose for the rows `y` of this state: as add_derivatives() of y' r. Collective.
template <int dim>
void add_residual_products(const std::vector<std::unique_ptr<Objective<dim>>>& objectives, std::size_t i,
                           const ObservedState& state, const Composition& composition,
                           std::span<const double> y, std::span<double> du, std::span<double> dv,
                           std::span<double> previous_du, parameters::PhysicalGradient<dim>& g) {
  std::size_t begin = 0;
  for_each_residual_term<dim>(objectives, i, composition, [&](Objective<dim>& objective, double factor) {
    const auto part = y.subspan(begin, objective.num_residuals());
    std::vector<double> scaled(part.begin(), part.end());
    for (double& entry : scaled) entry *= factor;
    objective.add_residual_products(state, scaled, du, dv, g);
    objective.add_previous_products(state, scaled, previous_du);
    begin += scaled.size();
  });
}

} // namespace recoil::objectives
