#pragma once

#include <string>
#include <vector>

#include "app/study/gradient_report.hpp"

namespace recoil::app {

/// What keeps the gradient of an experiment from being that of its scene: a barrier stiffness that was
/// adaptive and is `frozen`, and steps that are solved loosely, with the parameters whose derivatives this
/// changes noticeably. Collective.
std::vector<std::string> gradient_warnings(const Study& study, const GradientStages& stages,
                                           const nlohmann::ordered_json& frozen);

} // namespace recoil::app
