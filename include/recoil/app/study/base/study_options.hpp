#pragma once

#include <filesystem>

#include "recoil/app/run/console.hpp"

namespace recoil::app {

/// What the command line says of a command that works on a study.
struct StudyOptions {
  std::filesystem::path study, output;
  std::filesystem::path restart; ///< folder to continue; replaces `study` and `output`
  bool check = false;            ///< of gradient(): compare with differences of whole runs
  ConsoleOptions console;
};

} // namespace recoil::app
