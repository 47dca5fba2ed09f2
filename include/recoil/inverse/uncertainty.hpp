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
};

/// A direction of the variables of which the data say little.
struct UnidentifiableDirection {
  std::vector<double> shares; ///< squares of the components by variable, whose sum is 1
  double deviation_ratio = 0; ///< standard deviation along it over that of the best determined direction
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

/// Largest ratio of a singular value to the largest at which a direction is called unidentifiable: it is then
/// a thousand times less certain than the best determined one.
constexpr double unidentifiable_ratio = 1e-3;

/// Statistics of the linearised model at a solution by the singular values of the columns of R that belong to
/// free variables (n counts those alone); R'R is never formed. Singular values below n epsilon times the
/// largest are zero but for rounding and taken for that much: deviations along them are large, and finite.
/// Intervals are of the normal distribution with deviations, of Student's t with m - n degrees of freedom
/// without. Not collective. @throws InputError where s^2 is to be estimated from no more data than variables,
/// and where no free variable changes a residual.
Uncertainty estimate_uncertainty(const FitSolution& solution);

/// 95 % interval of the physical value of a variable, T(z - q d) to T(z + q d) with deviation d and quantile
/// q, where `to_physical` is T, monotone (exp for a logarithmic variable): formed where the model is closer
/// to linear, it cannot leave the range of T. NaN where d is.
std::array<double, 2> physical_interval(double z, double deviation, double quantile,
                                        const std::function<double(double)>& to_physical);

} // namespace recoil::inverse
