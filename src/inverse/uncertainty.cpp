#include "recoil/inverse/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/inverse/fit_statistics.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::inverse {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Free = std::vector<Index>; ///< numbers of the free variables

Free free_variables(const FitSolution& solution) {
  Free free;
  for (Index i = 0; i < solution.factor.cols(); ++i)
    if (!solution.at_bound[static_cast<std::size_t>(i)]) free.push_back(i);
  return free;
}

void estimate_variance(const FitSolution& solution, std::size_t num_free, Uncertainty& result) {
  const std::size_t m = solution.data_count;
  result.degrees_of_freedom = m > num_free ? m - num_free : 0;
  result.quantile = normal_quantile();
  if (solution.has_deviations) {
    if (solution.deviation_freedom > 0 && std::isfinite(solution.deviation_freedom))
      result.quantile = student_quantile(solution.deviation_freedom);
    return;
  }
  if (result.degrees_of_freedom == 0)
    throw InputError(fmt::format("{} data leave nothing to estimate their deviations from after a fit of {} "
                                 "variables: state the deviations, or fit fewer variables",
                                 m, num_free));
  result.variance = solution.squares / static_cast<double>(result.degrees_of_freedom);
  result.quantile = student_quantile(static_cast<double>(result.degrees_of_freedom));
}

/// Entries of free variables in a matrix of all.
MatrixXd spread(const MatrixXd& of_free, const Free& free, Index n) {
  MatrixXd all = MatrixXd::Constant(n, n, std::numeric_limits<double>::quiet_NaN());
  all(free, free) = of_free;
  return all;
}

MatrixXd correlations_of(const MatrixXd& covariance) {
  const VectorXd inverse = covariance.diagonal().cwiseSqrt().cwiseInverse();
  MatrixXd correlations = inverse.asDiagonal() * covariance * inverse.asDiagonal();
  // Rounding must not lead out of what correlations are.
  correlations = correlations.cwiseMax(-1).cwiseMin(1);
  correlations.diagonal().setOnes();
  return correlations;
}

/// The part of the largest singular value that rounding leaves in those that are zero.
double rounding_of(const Free& free) {
  return static_cast<double>(free.size()) * std::numeric_limits<double>::epsilon();
}

std::vector<UnidentifiableDirection> find_unidentifiable(const FitSolution& solution, const Free& free,
                                                         double deviation) {
  const MatrixXd& factor = solution.data_factor.size() > 0 ? solution.data_factor : solution.factor;
  MatrixXd by_ranges = factor(Eigen::all, free);
  for (Index i = 0; i < by_ranges.cols() && !solution.ranges.empty(); ++i)
    by_ranges.col(i) *= solution.ranges[static_cast<std::size_t>(free[static_cast<std::size_t>(i)])];
  const linalg::SingularValues svd = linalg::singular_values(by_ranges);
  const VectorXd& singular = svd.values;
  const double rounding = rounding_of(free) * singular[0];
  std::vector<UnidentifiableDirection> found;
  for (Index k = singular.size() - 1; k >= 0 && singular[k] <= std::max(deviation, rounding); --k) {
    UnidentifiableDirection& direction = found.emplace_back();
    direction.shares.assign(static_cast<std::size_t>(solution.factor.cols()), 0.0);
    for (std::size_t i = 0; i < free.size(); ++i)
      direction.shares[static_cast<std::size_t>(free[i])] = std::pow(svd.V(static_cast<Index>(i), k), 2);
    direction.deviation_ratio = singular[0] / std::max(singular[k], rounding);
    direction.deviation = singular[k] > rounding ? deviation / singular[k] : HUGE_VAL;
  }
  return found;
}

} // namespace

Uncertainty estimate_uncertainty(const FitSolution& solution) {
  const Free free = free_variables(solution);
  const Index n = solution.factor.cols();
  Uncertainty result;
  estimate_variance(solution, free.size(), result);
  MatrixXd covariance, correlations;
  if (!free.empty()) {
    const linalg::SingularValues svd = linalg::singular_values(solution.factor(Eigen::all, free));
    if (svd.values[0] == 0)
      throw InputError("none of the free variables changes a residual: the data say nothing about them");
    const VectorXd singular = svd.values.cwiseMax(rounding_of(free) * svd.values[0]);
    const MatrixXd root = svd.V * singular.cwiseInverse().asDiagonal();
    covariance = result.variance * root * root.transpose();
    correlations = correlations_of(covariance);
    result.unidentifiable = find_unidentifiable(solution, free, std::sqrt(result.variance));
  }
  result.covariance = spread(covariance, free, n);
  result.correlations = spread(correlations, free, n);
  for (Index i = 0; i < n; ++i) result.deviations.push_back(std::sqrt(result.covariance(i, i)));
  return result;
}

std::array<double, 2> physical_interval(double z, double deviation, double quantile,
                                        const std::function<double(double)>& to_physical) {
  const double low = to_physical(z - quantile * deviation), high = to_physical(z + quantile * deviation);
  return {std::min(low, high), std::max(low, high)};
}

} // namespace recoil::inverse
