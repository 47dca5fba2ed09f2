#include "recoil/inverse/linear_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "recoil/base/error.hpp"
#include "recoil/inverse/residual_factor.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::inverse {

namespace {

std::vector<Eigen::Index> free_of(const std::vector<bool>& at_bound) {
  std::vector<Eigen::Index> free;
  for (std::size_t i = 0; i < at_bound.size(); ++i)
    if (!at_bound[i]) free.push_back(static_cast<Eigen::Index>(i));
  return free;
}

/// The triangular factor of rows, at least as many as columns.
Eigen::MatrixXd square_factor(const Eigen::MatrixXd& rows) {
  Eigen::MatrixXd padded = Eigen::MatrixXd::Zero(std::max(rows.rows(), rows.cols()), rows.cols());
  padded.topRows(rows.rows()) = rows;
  return triangular_factor(padded);
}

/// Whether a triangular factor leaves a combination of its variables open, whatever their units: a column
/// that is all but a combination of those before it.
bool is_open(const Eigen::MatrixXd& R) {
  constexpr double rounding = 1e-10;
  for (Eigen::Index i = 0; i < R.cols(); ++i)
    if (!(std::abs(R(i, i)) > rounding * R.col(i).norm())) return true;
  return false;
}

/// R^-1.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& R) {
  return R.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(R.rows(), R.cols()));
}

Eigen::MatrixXd stacked(const Eigen::MatrixXd& above, const Eigen::MatrixXd& below) {
  Eigen::MatrixXd all(above.rows() + below.rows(), above.cols());
  all << above, below;
  return all;
}

} // namespace

Eigen::MatrixXd covariance_root(const FitSolution& solution, double variance) {
  const std::vector<Eigen::Index> free = free_of(solution.at_bound);
  Eigen::MatrixXd root = Eigen::MatrixXd::Zero(solution.factor.cols(), std::ssize(free));
  if (free.empty()) return root;
  const Eigen::MatrixXd R = square_factor(solution.factor(Eigen::all, free));
  if (is_open(R))
    throw InputError(
        "the data leave a combination of the values open (`unidentifiable`), so that they have no "
        "distribution: hold one of them, give it a prior, or measure more");
  root(free, Eigen::all) = std::sqrt(variance) * inverse_of(R);
  return root;
}

std::vector<LeftOut> leave_one_out(std::span<const Eigen::MatrixXd> parts, const Eigen::MatrixXd& prior,
                                   const std::vector<bool>& at_bound) {
  std::vector<Eigen::Index> columns = free_of(at_bound);
  const Eigen::Index n = std::ssize(columns);
  columns.push_back(std::ssize(at_bound)); // the residuals
  std::vector<LeftOut> result;
  for (std::size_t e = 0; e < parts.size(); ++e) {
    Eigen::MatrixXd rows = prior.rows() > 0 ? Eigen::MatrixXd(prior(Eigen::all, columns))
                                            : Eigen::MatrixXd(0, std::ssize(columns));
    for (std::size_t other = 0; other < parts.size(); ++other)
      if (other != e) rows = stacked(rows, parts[other](Eigen::all, columns));
    const Eigen::MatrixXd own = parts[e](Eigen::all, columns), R = square_factor(rows);
    LeftOut& left = result.emplace_back();
    left.squares = own.col(n).squaredNorm();
    const Eigen::MatrixXd of_variables = R.topLeftCorner(n, n);
    if (is_open(of_variables)) continue;
    const Eigen::VectorXd change =
        -of_variables.triangularView<Eigen::Upper>().solve(Eigen::VectorXd(R.col(n).head(n)));
    left.predicted = (own.leftCols(n) * change + own.col(n)).squaredNorm();
  }
  return result;
}

Gain information_gain(const Eigen::MatrixXd& known, const Eigen::MatrixXd& candidate,
                      std::span<const double> ranges, const std::vector<bool>& at_bound, double variance) {
  const std::vector<Eigen::Index> free = free_of(at_bound);
  const Eigen::Index n = std::ssize(free);
  Gain gain;
  gain.deviations.assign(at_bound.size(), std::numeric_limits<double>::quiet_NaN());
  if (n == 0) return gain;
  // In units of the ranges, where what is known without data is the identity.
  Eigen::VectorXd size(n);
  for (Eigen::Index k = 0; k < n; ++k) size[k] = ranges[static_cast<std::size_t>(free[k])];
  const auto by_ranges = [&](const Eigen::MatrixXd& factor) {
    return Eigen::MatrixXd(factor(Eigen::all, free) * (size / std::sqrt(variance)).asDiagonal());
  };
  const Eigen::MatrixXd before = by_ranges(known),
                        after = square_factor(stacked(before, by_ranges(candidate)));
  const Eigen::MatrixXd without_data = Eigen::MatrixXd::Identity(n, n);
  const auto half_log_det = [&](const Eigen::MatrixXd& factor) {
    const Eigen::MatrixXd R = square_factor(stacked(factor, without_data));
    return R.diagonal().cwiseAbs().array().log().sum();
  };
  gain.nats = half_log_det(after) - half_log_det(before);
  if (is_open(after)) return gain;
  const Eigen::MatrixXd root = size.asDiagonal() * inverse_of(after);
  for (Eigen::Index k = 0; k < n; ++k)
    gain.deviations[static_cast<std::size_t>(free[k])] = root.row(k).norm();
  return gain;
}

std::vector<double> standard_normal(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  // In (0, 1], by the 53 bits that a double has.
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11) + 1) * 0x1p-53; };
  std::vector<double> numbers;
  while (numbers.size() < count) {
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * std::numbers::pi * uniform();
    numbers.push_back(radius * std::cos(angle));
    if (numbers.size() < count) numbers.push_back(radius * std::sin(angle));
  }
  return numbers;
}

} // namespace recoil::inverse
