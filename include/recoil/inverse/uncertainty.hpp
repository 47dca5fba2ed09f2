#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include <Eigen/Core>

namespace recoil::inverse {

/// Where a least-squares fit has ended, in the n variables that its optimiser saw.
struct FitSolution {
  /// R of the QR decomposition of the Jacobian J of the weighted residuals: n x n, R'R = J'J.
  Eigen::MatrixXd factor;
  double squares = 0;          ///< |r|^2 of the weighted residuals, priors included
  std::size_t data_count = 0;  ///< m, their number
  bool has_deviations = false; ///< residuals are in standard deviations of the data
  std::vector<bool> at_bound;  ///< of the variables: these are taken for known
  /// What is known of the variables without data: a standard deviation each, by bounds, prior or size. Empty:
  /// 1 each.
  std::vector<double> ranges = {};
  /// The factor of the data alone, without priors; of size 0: `factor`.
  Eigen::MatrixXd data_factor = {};
  /// Of deviations that were estimated from the residuals, DeviationFactors::of_variables; 0: the deviations
  /// are known.
  double deviation_freedom = 0;
};

/// A direction of the variables, over their ranges, of which the data say less than is known without them.
struct UnidentifiableDirection {
  std::vector<double> shares; ///< squares of the components by variable, whose sum is 1
  double deviation_ratio = 0; ///< standard deviation along it over that of the best determined direction
  double deviation = 0;       ///< that of the data along it, over the ranges: at least 1, may be infinite
};

/// What a fit says about its variables, in their units.
struct Uncertainty {
  double variance = 1; ///< s^2 of the weighted residuals: 1 with deviations, |r|^2 / (m - n) without
  std::size_t degrees_of_freedom = 0; ///< m - n; 0 also where there are fewer data than variables
  double quantile = 0;                ///< half a 95 % interval in standard deviations
  /// s^2 (R'R)^-1, the deviations that are the roots of its diagonal, and correlations; NaN for variables at
  /// a bound.
  Eigen::MatrixXd covariance;
  std::vector<double> deviations;
  Eigen::MatrixXd correlations;
  std::vector<UnidentifiableDirection> unidentifiable; ///< the least determined first
};

/// Statistics of the linearised model at a solution by the singular values of the columns of R that belong to
/// free variables (n counts those alone); R'R is never formed. Singular values below n epsilon times the
/// largest are zero but for rounding and taken for that much: deviations along them are large, and finite.
/// Directions that the data leave open are singular vectors of the factor of the data by x / ranges: with a
/// singular value of s or less the data alone have a standard deviation there of no less than the range, and
/// halve the variance that was there before at best [Spantini et al. 2015, SIAM J. Sci. Comput. 37, A2451].
/// Intervals are of the normal distribution with deviations, of Student's t with m - n degrees of freedom
/// without; with deviations that were estimated with their `deviation_freedom`. Not collective. @throws
/// InputError where s^2 is to be estimated from no more data than variables,
/// and where no free variable changes a residual.
Uncertainty estimate_uncertainty(const FitSolution& solution);

/// 95 % interval of the physical value of a variable, T(z - q d) to T(z + q d) with deviation d and quantile
/// q, where `to_physical` is T, monotone (exp for a logarithmic variable): formed where the model is closer
/// to linear, it cannot leave the range of T. NaN where d is.
std::array<double, 2> physical_interval(double z, double deviation, double quantile,
                                        const std::function<double(double)>& to_physical);

} // namespace recoil::inverse
