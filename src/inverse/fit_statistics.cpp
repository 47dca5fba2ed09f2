#include "recoil/inverse/fit_statistics.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace recoil::inverse {

namespace {

constexpr double upper_end = 0.975;

/// log C(n, k); minus infinity where there is none.
double log_choose(double n, double k) {
  if (k < 0 || k > n) return -HUGE_VAL;
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// Probability of `runs` runs of p positive and n negative signs.
double runs_probability(double p, double n, std::size_t runs) {
  const auto k = static_cast<double>(runs / 2);
  const double all = log_choose(p + n, p);
  const auto share = [&](double of_positive, double of_negative) {
    return std::exp(log_choose(p - 1, of_positive) + log_choose(n - 1, of_negative) - all);
  };
  return runs % 2 == 0 ? 2 * share(k - 1, k - 1) : share(k, k - 1) + share(k - 1, k);
}

/// @pre there are both signs
double two_sided_p_value(const RunsTest& test) {
  const auto p = static_cast<double>(test.positive), n = static_cast<double>(test.negative);
  double at_most = 0, at_least = 0;
  const std::size_t most = 2 * std::min(test.positive, test.negative) + 1;
  for (std::size_t runs = 2; runs <= most; ++runs) {
    const double probability = runs_probability(p, n, runs);
    if (runs <= test.runs) at_most += probability;
    if (runs >= test.runs) at_least += probability;
  }
  return std::min(1.0, 2 * std::min(at_most, at_least));
}

} // namespace

double normal_quantile() { return boost::math::quantile(boost::math::normal(), upper_end); }

double student_quantile(double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), upper_end);
}

double chi_squared_quantile(double probability, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::chi_squared(degrees_of_freedom), probability);
}

double chi_squared_p_value(double chi_squared, std::size_t degrees_of_freedom) {
  // Far tails overflow in intermediate results; their probability is zero.
  namespace policies = boost::math::policies;
  using Policy = policies::policy<policies::overflow_error<policies::ignore_error>,
                                  policies::evaluation_error<policies::ignore_error>>;
  const boost::math::chi_squared_distribution<double, Policy> distribution(
      static_cast<double>(degrees_of_freedom));
  const double below = boost::math::cdf(distribution, chi_squared),
               above = boost::math::cdf(boost::math::complement(distribution, chi_squared));
  const double tail = std::min(below, above);
  return std::isfinite(tail) ? std::min(1.0, 2 * tail) : 0;
}

RunsTest runs_test(std::span<const double> residuals) {
  RunsTest test;
  double last = 0;
  for (const double residual : residuals) {
    if (residual == 0) continue;
    ++(residual > 0 ? test.positive : test.negative);
    if (last == 0 || (residual > 0) != (last > 0)) ++test.runs;
    last = residual;
  }
  if (test.positive > 0 && test.negative > 0) test.p_value = two_sided_p_value(test);
  return test;
}

} // namespace recoil::inverse
