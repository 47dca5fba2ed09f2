#pragma once

#include <string>

namespace recoil {

/// "1.2.3", from the CMake project.
std::string version();

/// One line on how this binary was built: version, compiler, build type and options. Holds no time or path,
/// so equal sources give equal binaries.
std::string build_info();

} // namespace recoil
