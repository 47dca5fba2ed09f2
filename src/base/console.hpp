#pragma once

#include <cstdio>
#include <string_view>

/// The terminal of the process, shared by log lines and the progress line at its foot: a line is written
/// where the progress line stood, which is then drawn again below. Thread safe.
namespace recoil::console {

/// Writes `line` and a line end to `stream` (stdout or stderr) at once.
void write_line(std::FILE* stream, std::string_view line);
/// Replaces the progress line; empty wipes it. Nothing happens unless shows_status().
void set_status(std::string_view status);
/// Lets the progress line appear where standard output is a terminal, also through mpirun.
void allow_status(bool allowed);
bool shows_status();

} // namespace recoil::console
