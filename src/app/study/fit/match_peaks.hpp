#pragma once

#include <span>
#include <vector>

#include "recoil/app/study/evaluation/study_objective.hpp"

namespace recoil::app {

/// The variables where strengths of bonds are those at x times observed over simulated peaks of the reaction
/// forces there: of each strength the geometric mean over the forces of the experiments that it acts in, cut
/// to its bounds. All forces are in proportion to strengths until bonds soften, if displacements are. Adds
/// peaks and factors to `report`. Collective. @throws InputError where nothing was observed or simulated,
/// Error where an experiment fails.
std::vector<double> match_peaks(const Study& study, StudyObjective& objective, std::span<const double> x,
                                Json& report);

} // namespace recoil::app
