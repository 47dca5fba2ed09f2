#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "recoil/base/error.hpp"

namespace recoil {

/// A program that run_program() has ended because it took too long; the exit code is that of bad input.
class TimeLimitError : public Error {
public:
  explicit TimeLimitError(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

/// Runs another program to its end, with what it prints in the file `output`, and returns its exit status, or
/// 128 + the signal that ended it. It is looked for in PATH unless its name has a slash, and gets the
/// environment of this process without what an MPI launcher has put there, so that it does not take itself
/// for a rank. It leads a process group of its own, which is ended (SIGTERM, SIGKILL 2 s later) when a signal
/// comes to this process or the program works longer than `time_limit` [s].
/// @throws InputError where there is no such program, FileError where `output` cannot be written or is a
/// link, Error of ExitCode::interrupted after a signal of InterruptSignals or of the terminal (which then
/// also takes its usual effect), TimeLimitError.
int run_program(const std::vector<std::string>& command, const std::filesystem::path& output,
                double time_limit = std::numeric_limits<double>::infinity());

} // namespace recoil
