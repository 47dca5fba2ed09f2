#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace recoil {

/// Runs another program to its end, with what it prints in the file `output`, and returns its exit status, or
/// 128 + the signal that ended it. It is looked for in PATH unless its name has a slash, and gets the
/// environment of this process without what an MPI launcher has put there, so that it does not take itself
/// for a rank. @throws InputError where there is no such program, FileError where `output` cannot be written.
int run_program(const std::vector<std::string>& command, const std::filesystem::path& output);

} // namespace recoil
