#pragma once

#include <filesystem>
#include <string>

#include "recoil/app/run/console.hpp"

namespace recoil::app {

/// What the command line says of a command that works on a study.
struct StudyOptions {
  std::filesystem::path study, output;
  /// The JSON text, on the first rank, of a study that has no file; `study` then stands for it in messages,
  /// and relative paths start from the current folder.
  std::string text;
  std::filesystem::path restart; ///< folder to continue; replaces `study` and `output`
  bool check = false;            ///< of gradient(): compare with differences of whole runs
  ConsoleOptions console;
};

} // namespace recoil::app
