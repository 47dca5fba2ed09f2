#pragma once

#include "app/study/fit/fit_report.hpp"

namespace recoil::app {

/// Intervals by the profile likelihood (inverse::find_profile()) of the values that the study asks for, at
/// the end of a least-squares fit of at most StudyObjective::most_factored variables: the member `profile` of
/// fit.json, by names as in `correlations`. Points have the rise of chi^2 where there are deviations, else of
/// |r|^2 / s^2. A value whose profile cannot be found is left out, with a warning. Collective. @throws
/// InputError as inverse::estimate_uncertainty(); Error after a signal.
Json write_profiles(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                    const FittedDesign& fit);

} // namespace recoil::app
