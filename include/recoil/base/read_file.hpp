#pragma once

#include <filesystem>
#include <string>

namespace recoil {

/// The content of a file. @throws FileError with the path and the system's reason ("Permission denied"). Not
/// collective.
std::string read_file(const std::filesystem::path& path);

} // namespace recoil
