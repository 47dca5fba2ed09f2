#pragma once

#include "recoil/app/scene/keys.hpp"
#include "recoil/app/study/base/entries.hpp"

/// From resolved JSON to a typed Study, part by part. All throw InputError where values contradict each other
/// or name what is not there.
namespace recoil::app {

/// What a study may hold; built once.
const KeyTable& study_keys();

void build_parameters(const Item& list, Study& study);

/// Checks between the parts that need no scene.
void check_study(Study& study);

} // namespace recoil::app
