#pragma once

#include <cstddef>
#include <span>

namespace recoil::inverse {

/// 97.5 % quantile of the standard normal distribution: half the width of a 95 % interval in deviations.
double normal_quantile();

/// The quantile of Student's t distribution. @pre degrees_of_freedom > 0
double student_quantile(double degrees_of_freedom);

/// The quantile of chi^2 below which is the share `probability`. @pre degrees_of_freedom > 0
double chi_squared_quantile(double probability, double degrees_of_freedom);

/// Probability that chi^2 of as many degrees of freedom is as far out, to the side on which it is, times two:
/// small where a model does not fit within the deviations of the data, and where it fits better than
/// those allow. @pre degrees_of_freedom > 0
double chi_squared_p_value(double chi_squared, std::size_t degrees_of_freedom);

/// Runs of equal signs in a series.
struct RunsTest {
  std::size_t positive = 0, negative = 0; ///< zeros do not count
  std::size_t runs = 0;
  /// Two-sided probability of as many runs, or fewer, or more, of independent signs. 1 where there is but one
  /// sign, on which the test says nothing.
  double p_value = 1;
};

/// Test of Wald and Wolfowitz (1940) on the order of a series of residuals: a model that is wrong somewhere
/// leaves long stretches of one sign. Of the exact distribution of the number of runs given the numbers of
/// signs, P(2k) = 2 C(p-1, k-1) C(n-1, k-1) / C(p+n, p), P(2k+1) = (C(p-1, k) C(n-1, k-1) + C(p-1, k-1)
/// C(n-1, k)) / C(p+n, p).
RunsTest runs_test(std::span<const double> residuals);

} // namespace recoil::inverse
