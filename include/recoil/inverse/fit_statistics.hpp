#pragma once

#include <cstddef>

namespace recoil::inverse {

/// 97.5 % quantile of the standard normal distribution: half the width of a 95 % interval in deviations.
double normal_quantile();

/// The same of Student's t distribution. @pre degrees_of_freedom > 0
double student_quantile(std::size_t degrees_of_freedom);

/// Probability that chi^2 of as many degrees of freedom is as far out, to the side on which it is, times two:
/// small where a model does not fit within the deviations of the data, and where it fits better than
/// those allow. @pre degrees_of_freedom > 0
double chi_squared_p_value(double chi_squared, std::size_t degrees_of_freedom);

} // namespace recoil::inverse
