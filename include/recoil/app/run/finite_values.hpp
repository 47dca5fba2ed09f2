#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "recoil/base/expression.hpp"
#include "recoil/base/types.hpp"

namespace recoil::app {

/// `value` of a formula of the scene, if it is a finite number. Not collective.
/// @param what noun for the message, e.g. "traction"
/// @param component 0, 1, 2 for x, y, z; none for a scalar
/// @throws InputError at `where` with point and time.
double require_finite(double value, const std::string& where, const char* what, std::optional<int> component,
                      const ExpressionPoint& point);

/// Checks rows of an array as they come from a file, `columns` numbers each, `first_row` the first. Not
/// collective. @throws InputError at `where` with file, array and row of the first number that is not finite.
void require_finite_rows(std::span<const double> values, int columns, GlobalIndex first_row,
                         const std::string& where, const std::filesystem::path& file,
                         const std::string& array);

} // namespace recoil::app
