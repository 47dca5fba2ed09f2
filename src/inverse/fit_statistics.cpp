#include "recoil/inverse/fit_statistics.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace recoil::inverse {

constexpr double upper_end = 0.975;

double normal_quantile() { return boost::math::quantile(boost::math::normal(), upper_end); }

double student_quantile(std::size_t degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(static_cast<double>(degrees_of_freedom)), upper_end);
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

} // namespace recoil::inverse
