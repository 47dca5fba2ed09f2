#pragma once

#include "app/scene/keys.hpp"

namespace recoil::app {

std::span<const Key> parameter_keys();
std::span<const Key> objective_keys();
/// The rest: experiments, markers, sweep and check.
std::span<const Key> experiment_keys();
std::span<const Key> marker_keys();
std::span<const Key> sweep_keys();

/// What a study may hold; built once.
const KeyTable& study_keys();

} // namespace recoil::app
