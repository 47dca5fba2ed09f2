#pragma once

#include <string>

namespace recoil::app {

/// True when `given` ("kg/m/s^2", "Pa") is the same SI unit, without a factor, as `expected` (nullptr: no
/// unit).
bool is_si_unit(const std::string& given, const char* expected);

} // namespace recoil::app
