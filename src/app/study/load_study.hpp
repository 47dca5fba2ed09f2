#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recoil/app/simulation/interrupts.hpp"
#include "recoil/app/simulation/load_geometry.hpp"
#include "recoil/app/study/read_study.hpp"

namespace recoil::app {

/// A study with its scenes, checked against each other.
struct LoadedStudy {
  StudyFile file;
  std::vector<LoadedScene> scenes;
  std::vector<std::filesystem::path> files; ///< that the runs read
  std::vector<std::string> warnings;
};

/// Reads a study and its scenes, whose output is that of set_output_for_sweep(). Collective. @throws
/// InputError on every rank, Error of ExitCode::interrupted.
LoadedStudy load_study(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const Interrupts& interrupts);

} // namespace recoil::app
