#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "recoil/inverse/optimize.hpp"

namespace recoil::inverse {

/// A point of a profile: how far min J over the other variables lies above the minimum at a value of one.
struct ProfilePoint {
  double value = 0;
  double rise = 0; ///< infinite where J has no value
};

/// Where a profile reaches a level on one side of the minimum.
struct ProfileEnd {
  std::optional<double> value; ///< of the variable; nothing where it does not
  bool at_bound = false;       ///< because of its bound
};

struct Profile {
  std::array<ProfileEnd, 2> ends;   ///< below and above the minimum
  std::vector<ProfilePoint> points; ///< what has been computed, by rising values, the minimum among them
};

/// The interval of a variable z_i of a least-squares fit by its profile likelihood [Venzon and Moolgavkar
/// 1988, Appl. Statist. 37, 87; Bates and Watts 1988, Nonlinear Regression Analysis, 6.1]: all values with
///
///     min over z_j, j != i, of J(z)  <=  J(z^) + level,    J = |r|^2
///
/// It takes no model to be linear, unlike Gauss-Newton's interval, with which it agrees where r is linear,
/// and is the same in any scale of the variable. From Gauss-Newton's end on, z_i is fixed and the others are
/// fitted by Gauss-Newton's method, from where its model at the nearest known point expects them; the
/// next value comes from a secant of sqrt(J - J(z^)), which is nearly linear in z_i, or halves what encloses
/// the end. Ends are known to 1e-3 of their distance from the fit. A value at which J is infinite lies
/// outside. An end that is a hundred times as far as Gauss-Newton's is not looked for.
///
/// @param variables `start` is the fit z^, at which a gradient exists. @param which i.
/// @param level > 0, for a 95 % interval the quantile 3.84 of chi^2 with one degree of freedom where
/// residuals are in standard deviations, else s^2 times the square of Student's quantile.
/// @pre objective.hessian_form() is `matrix`. The values depend on the objective alone, whatever the number
/// of ranks. Collective. @throws Error of ExitCode::no_solution where J turns out smaller than at the fit by
/// more than 1 % of the level; what the objective throws.
Profile find_profile(const parallel::Communicator& comm, DesignObjective& objective,
                     const DesignVariables& variables, std::size_t which, double level);

} // namespace recoil::inverse
