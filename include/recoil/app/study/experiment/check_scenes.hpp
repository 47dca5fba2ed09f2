#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/study/base/study.hpp"

namespace recoil::app {

/// Checks what needs the scenes but not their meshes: bodies, regions, boundary ids and pairs exist, every
/// parameter is used by its experiments and stands for one value there, every objective can be looked at.
/// `scenes[i]` is that of `study.experiments[i]`. Not collective.
/// @return warnings: accepted, but probably not meant.
/// @throws InputError naming the JSON pointer in the study and how to fix it.
std::vector<std::string> check_study_against_scenes(const Study& study, std::span<const Scene> scenes);

/// Checks what needs only the dimensions of the experiments, `dims[i]` of `study.experiments[i]`: numbers of
/// components of initial values, target velocities, markers, boxes, and axes. Not collective.
/// @throws InputError as check_study_against_scenes.
void check_study_dimensions(const Study& study, std::span<const int> dims);

} // namespace recoil::app
