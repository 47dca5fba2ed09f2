#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/study/fit/fit_report.hpp"

/// What the Jacobian at the end of a least-squares fit tells beside deviations: of few variables, to first
/// order around the fit.
namespace recoil::app {

/// Akaike's and the Bayesian information criterion, for comparisons of models by the same data: the member
/// `information` of fit.json. With standard deviations -2 ln L is |r|^2 but for a constant of the data, else
/// m ln(|r|^2 / m) with a variance that is fitted, too. Not collective.
Json describe_information(const FittedDesign& fit, double values);

/// How much experiments say of values: the member `sensitivity`, `per_percent` the root mean square change of
/// the residuals of an experiment by one percent of a value, `share` its part of J'J of the value.
/// @param parts the factors of the experiments. Not collective.
Json describe_sensitivity(const Study& study, const StudyObjective& objective, const FittedDesign& fit);

/// Cross-validation by experiments: the member `cross_validation`; null with fewer than two of them. Not
/// collective.
Json describe_cross_validation(const Study& study, const StudyObjective& objective, const FittedDesign& fit);

/// The candidates for the next experiment, the one that tells most first: the member `next_experiments`;
/// empty where there are none. Runs each of them and its tangent-linear sweeps. Collective.
Json describe_next_experiments(const Study& study, StudyObjective& objective, const FittedDesign& fit,
                               const inverse::Uncertainty& uncertainty);

/// Writes samples.csv into `root`: values drawn from the normal distribution of the variables around the fit,
/// within their bounds. The member `samples`. Collective. @throws InputError on every rank where the data
/// leave a combination open, or nearly all of what is drawn lies beyond bounds.
Json write_samples(const parallel::Communicator& world, const Study& study, const DesignSpace& space,
                   const FittedDesign& fit, const inverse::Uncertainty& uncertainty,
                   const std::filesystem::path& root);

/// Writes bands.csv into `root`: what every observation is at the fit, its standard deviation by that of the
/// values, the 95 % band of the curve and that of a new observation. The member `bands`. Collective.
/// @throws InputError as write_samples(); Error where a run fails.
Json write_bands(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                 const FittedDesign& fit, const inverse::Uncertainty& uncertainty,
                 const std::filesystem::path& root);

} // namespace recoil::app
