#pragma once

#include "app/study/experiment/experiment_kind.hpp"

namespace recoil::discs {

/// Studies of discs: where their centre of mass goes, by their density and the stiffness of their springs.
app::ExperimentKind experiments_on_discs();

} // namespace recoil::discs
