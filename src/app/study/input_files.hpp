#pragma once

#include <filesystem>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/study/study.hpp"

namespace recoil::app {

/// The files beside study and scene that the forward run of an experiment depends on: meshes, material data
/// and modes.
std::vector<std::filesystem::path> files_of_run(const Study& study, int experiment, const Scene& scene);

/// Those that its gradient depends on: also observations and references; of a run folder its manifest, which
/// holds the digests of the rest.
std::vector<std::filesystem::path> input_files(const Study& study, int experiment, const Scene& scene);

} // namespace recoil::app
