#pragma once

#include <optional>
#include <string>

#include "recoil/base/expression.hpp"

namespace recoil::app {

/// `value` of a formula of the scene, if it is a finite number. Not collective.
/// @param what noun for the message, e.g. "traction"
/// @param component 0, 1, 2 for x, y, z; none for a scalar
/// @throws InputError at `where` with point and time.
double require_finite(double value, const std::string& where, const char* what, std::optional<int> component,
                      const ExpressionPoint& point);

} // namespace recoil::app
