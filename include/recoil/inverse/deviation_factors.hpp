#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

namespace recoil::inverse {

/// Data whose standard deviations are known but for a factor that they share.
struct DeviationGroup {
  /// Triangular factor of [J_k r_k], their weighted residuals and derivatives by the n variables in the
  /// deviations that are stated: n + 1 columns.
  Eigen::MatrixXd factor;
  double data = 0; ///< m_k
};

/// m (ln(chi^2 / m) + 1), the least over s of m ln s^2 + chi^2 / s^2: minus twice the logarithm of the
/// likelihood of m data with the sum of squares chi^2 and the factor that suits them best, but for what does
/// not depend on that. Its derivative by chi^2 is 1 / s^2, and it is concave: where Gauss-Newton's model of
/// chi^2 / s^2 falls, with s^2 = chi^2 / m at the start of the step, this falls at least as much, so that
/// its steps are those of iteratively reweighted least squares. @pre chi_squared, data > 0.
double concentrated_deviance(double chi_squared, double data);

/// Factors of standard deviations at the end of a fit.
struct DeviationFactors {
  std::vector<double> values;             ///< s_k
  std::vector<double> data;               ///< m_k
  std::vector<double> degrees_of_freedom; ///< m_k - n_k
  Eigen::MatrixXd shares; ///< c_ik / C_ii by variable i, 0 at a bound, and group k: its part in the variance
  /// The least over the variables of Satterthwaite's degrees of freedom of their variances [Satterthwaite
  /// 1946, Biometrics Bulletin 2, 110]: C_ii^2 / sum_k (c_ik^2 / (m_k - n_k)), c_ik the part of group k in
  /// C_ii. Infinite where no group has a part.
  double of_variables = 0;
};

/// s_k^2 = |r_k|^2 / (m_k - n_k) with n_k the trace of J_k C J_k' / s_k^2, the part of the data k in the
/// variables, C = (sum_k J_k'J_k / s_k^2 + K'K)^-1 [Foerstner 1979, Allgemeine Vermessungs-Nachrichten 86,
/// 446; of linear models the restricted maximum likelihood of Patterson and Thompson 1971, Biometrika 58,
/// 545]. With one group and nothing else |r|^2 / (m - n). Not collective.
/// @param known rows of [K r], residuals whose deviations are known, may have none. @param at_bound variables
/// that are taken for known. @pre all data, |r_k| > 0; m_k is larger than the number of variables that change
/// a residual of the group.
DeviationFactors estimate_deviation_factors(std::span<const DeviationGroup> groups,
                                            const Eigen::MatrixXd& known, const std::vector<bool>& at_bound);

/// By how much the least deviance over all other variables, concentrated over the factors, rises where a
/// variable of a linear model is q of its standard deviations from the fit: sum_k m_k ln(1 + q^2 w_k / (m_k -
/// n_k)) + q^2 (1 - sum_k w_k), w_k its shares. Exact with one group; with several but for the misfit of each
/// along the variable, which cancel in the sum. With q of an interval it is the level of that interval's
/// profile.
double deviance_rise(const DeviationFactors& factors, std::size_t variable, double q);

} // namespace recoil::inverse
