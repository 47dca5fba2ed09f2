#pragma once

#include <string>

#include "recoil/app/scene/read_scene.hpp"
#include "recoil/app/study/study.hpp"

namespace recoil::app {

/// Replaces the output of a scene by what the sweep of `study` needs.
void set_output_for_sweep(const Study& study, Scene& scene);

/// The resolved scene of `file` with the output and the barrier stiffness that its `scene` has now; the
/// values of parameters are not in it.
std::string scene_as_run(const SceneFile& file);

} // namespace recoil::app
