#pragma once

#include <filesystem>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/study/study.hpp"

namespace recoil::app {

/// The files beside study and scene that the gradient of an experiment depends on: meshes, material data,
/// modes, observations and references; of a run folder its manifest, which holds the digests of the rest.
std::vector<std::filesystem::path> input_files(const Study& study, int experiment, const Scene& scene);

} // namespace recoil::app
