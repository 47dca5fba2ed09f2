#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/inverse/uncertainty.hpp"

/// What follows from the Jacobian at the end of a least-squares fit, without further runs: everything is
/// exact where residuals are linear in the variables, and to first order elsewhere. Not collective.
namespace recoil::inverse {

/// W with W W' = s^2 (R'R)^-1, the covariance of the free variables: n rows, those of variables at a bound
/// zero, and a column per free variable. @throws InputError where the data leave a combination open.
Eigen::MatrixXd covariance_root(const FitSolution& solution, double variance);

/// How a fit without the data of one part, an experiment, would meet these.
struct LeftOut {
  double squares = 0;              ///< |r_e|^2 at the fit of all
  std::optional<double> predicted; ///< at the fit of the others; empty where they leave a variable open
};

/// Cross-validation by parts: x_e minimises the sum over all other parts of |r + J (x - x*)|^2, and of the
/// prior. @param parts triangular factors of [J_e r_e], n + 1 columns each; @param prior rows [W r] of what
/// is known beforehand, may have none; @param at_bound variables that stay.
std::vector<LeftOut> leave_one_out(std::span<const Eigen::MatrixXd> parts, const Eigen::MatrixXd& prior,
                                   const std::vector<bool>& at_bound);

/// What an experiment would add to what is known.
struct Gain {
  double nats = 0; ///< by which the entropy of the posterior falls: half of ln det of the information after
                   ///< over before, which D-optimal designs maximise
  std::vector<double> deviations; ///< of the variables with it; NaN at a bound, and all where some stay open
};

/// @param known factor R of the fit, priors included, n x n. @param candidate factor of [J r] or of J of the
/// experiment, whose first n columns count. @param ranges what is known of the variables without data, a
/// standard deviation each, by which variables that the fit leaves open count, too. @param variance s^2 of
/// the weighted residuals.
Gain information_gain(const Eigen::MatrixXd& known, const Eigen::MatrixXd& candidate,
                      std::span<const double> ranges, const std::vector<bool>& at_bound, double variance);

/// Independent standard normal numbers, the same for a seed on every machine (Box and Muller 1958 of
/// std::mt19937_64).
std::vector<double> standard_normal(std::size_t count, std::uint64_t seed);

} // namespace recoil::inverse
