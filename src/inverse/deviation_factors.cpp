#include "recoil/inverse/deviation_factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "recoil/linalg/dense.hpp"

namespace recoil::inverse {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Of the change of s^2 in an iteration; each one takes an error times n_k / m_k.
constexpr double weighing_tolerance = 1e-12;
constexpr int most_weighings = 1000;

/// W with W W' = C, directions that no residual depends on left out.
MatrixXd covariance_root_of(std::span<const MatrixXd> jacobians, const MatrixXd& known,
                            std::span<const double> squares) {
  const Index n = known.cols();
  Index rows = known.rows();
  for (const MatrixXd& J : jacobians) rows += J.rows();
  MatrixXd all = MatrixXd::Zero(std::max(rows, n), n);
  all.topRows(known.rows()) = known;
  Index first = known.rows();
  for (std::size_t k = 0; k < jacobians.size(); ++k) {
    all.middleRows(first, jacobians[k].rows()) = jacobians[k] / std::sqrt(squares[k]);
    first += jacobians[k].rows();
  }
  // Whatever the units of the variables.
  const VectorXd unit =
      all.colwise().norm().transpose().unaryExpr([](double size) { return size > 0 ? 1 / size : 0.0; });
  const linalg::SingularValues svd = linalg::singular_values(all * unit.asDiagonal());
  const double rounding = static_cast<double>(all.rows()) * std::numeric_limits<double>::epsilon();
  const VectorXd inverse =
      svd.values.unaryExpr([&](double s) { return s > rounding * svd.values[0] ? 1 / s : 0.0; });
  return unit.asDiagonal() * svd.V * inverse.asDiagonal();
}

/// The parts of the groups in the variances of the free variables.
MatrixXd shares_of(std::span<const MatrixXd> jacobians, const MatrixXd& W, std::span<const double> squares) {
  const MatrixXd C = W * W.transpose();
  MatrixXd shares = MatrixXd::Zero(C.cols(), std::ssize(jacobians));
  for (Index i = 0; i < C.cols(); ++i)
    for (std::size_t k = 0; k < jacobians.size() && C(i, i) > 0; ++k)
      shares(i, static_cast<Index>(k)) = (jacobians[k] * C.col(i)).squaredNorm() / squares[k] / C(i, i);
  return shares;
}

double satterthwaite(const MatrixXd& shares, std::span<const double> degrees_of_freedom) {
  double least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < shares.rows(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < degrees_of_freedom.size(); ++k)
      sum += std::pow(shares(i, static_cast<Index>(k)), 2) / degrees_of_freedom[k];
    if (sum > 0) least = std::min(least, 1 / sum);
  }
  return least;
}

} // namespace

double concentrated_deviance(double chi_squared, double data) {
  return data * (std::log(chi_squared / data) + 1);
}

DeviationFactors estimate_deviation_factors(std::span<const DeviationGroup> groups,
                                            const Eigen::MatrixXd& known, const std::vector<bool>& at_bound) {
  const std::size_t count = groups.size();
  std::vector<Index> free;
  for (std::size_t i = 0; i < at_bound.size(); ++i)
    if (!at_bound[i]) free.push_back(static_cast<Index>(i));
  std::vector<MatrixXd> jacobians;
  std::vector<double> of_group, squares;
  for (const DeviationGroup& group : groups) {
    jacobians.emplace_back(group.factor(Eigen::all, free));
    of_group.push_back(group.factor.col(group.factor.cols() - 1).squaredNorm());
    squares.push_back(of_group.back() / group.data);
  }
  const MatrixXd of_known =
      known.rows() > 0 ? MatrixXd(known(Eigen::all, free)) : MatrixXd(0, std::ssize(free));
  DeviationFactors found;
  MatrixXd W(0, 0);
  double change = free.empty() ? 0 : 1;
  for (const DeviationGroup& group : groups) found.data.push_back(group.data);
  found.degrees_of_freedom = found.data;
  for (int iteration = 0; change > weighing_tolerance && iteration < most_weighings; ++iteration) {
    change = 0;
    W = covariance_root_of(jacobians, of_known, squares);
    for (std::size_t k = 0; k < count; ++k) {
      found.degrees_of_freedom[k] = groups[k].data - (jacobians[k] * W).squaredNorm() / squares[k];
      const double next = of_group[k] / found.degrees_of_freedom[k];
      change = std::max(change, std::abs(next / squares[k] - 1));
      squares[k] = next;
    }
  }
  for (const double s : squares) found.values.push_back(std::sqrt(s));
  found.shares = MatrixXd::Zero(std::ssize(at_bound), std::ssize(groups));
  if (!free.empty()) found.shares(free, Eigen::all) = shares_of(jacobians, W, squares);
  found.of_variables = satterthwaite(found.shares, found.degrees_of_freedom);
  return found;
}

double deviance_rise(const DeviationFactors& factors, std::size_t variable, double q) {
  double rise = q * q;
  for (std::size_t k = 0; k < factors.values.size(); ++k) {
    const double squares = q * q * factors.shares(static_cast<Index>(variable), static_cast<Index>(k));
    rise += factors.data[k] * std::log1p(squares / factors.degrees_of_freedom[k]) - squares;
  }
  return rise;
}

} // namespace recoil::inverse
