#pragma once

#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/solvers/async_contact/model.hpp"

namespace recoil::app {

/// Lets prescribed vertices of a model, which are at `rest` without motion, follow an entry of the scene: in
/// straight lines between the multiples of `step`, where they are as the entry says. Sets their positions and
/// velocities at the start and adds scripts for later. Vertices that move as one share a script.
/// @throws InputError where a formula has no finite value.
void add_motion(const DirichletEntry& entry, const TimeSpec& time, double step,
                const std::vector<LocalIndex>& vertices, const std::vector<Eigen::Vector3d>& rest,
                solvers::async_contact::Model& model);

} // namespace recoil::app
