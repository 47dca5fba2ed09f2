#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <Eigen/Core>

#include "recoil/app/study/evaluation/study_objective.hpp"
#include "recoil/inverse/uncertainty.hpp"

namespace recoil::app {

/// Values of all parameters, in physical units, next to those at the start: the member `parameters` of
/// fit.json; of fields the array in fit.h5. Not collective.
Json describe_fitted_parameters(const Study& study, const DesignSpace& space, std::span<const double> x);

/// Writes fit.h5 aside, then in its place: an array named after each parameter with one value per element or
/// vertex, a row per element or vertex of all bodies in file order, NaN where it has no value. No effect
/// where there is none. Collective. @throws FileError on every rank.
void write_fitted_fields(const parallel::Communicator& world, const Study& study, const DesignSpace& space,
                         std::span<const double> x, const std::filesystem::path& path);

/// history.csv: a row per iteration of each start.
class FitHistory {
public:
  /// Continues `rows`, those on earlier meshes.
  FitHistory(const Study& study, const DesignSpace& space, std::filesystem::path path, std::string& rows);
  /// Adds a row, and replaces the file; starts count from 1. On one rank. @throws FileError.
  void add(std::int64_t start, const linalg::Iterate& at, const StudyObjective& objective);
  /// Adds the rows of another history of the fit, and replaces the file.
  void add_rows(const std::string& rows);

private:
  const DesignSpace& space_;
  std::filesystem::path path_;
  std::string header_;
  std::string& rows_;
};

/// The end of a least-squares fit of a study, as statistics see it.
struct FittedDesign {
  std::vector<double> x;       ///< variables of DesignSpace
  StudyFactors factors;        ///< of [dr/dx r]
  double objective = 0;        ///< its value there
  double squares = 0;          ///< |r|^2, priors included
  GlobalIndex data = 0;        ///< number of residuals, priors included
  bool is_chi_squared = false; ///< |r|^2 is the chi^2 of data in their standard deviations
  /// Factors on standard deviations of data, which r is over, where these were estimated; the objective is
  /// then their deviance.
  inverse::DeviationFactors deviations = {};

  bool has_estimated_deviations() const { return !deviations.values.empty(); }
};

/// The only value, or the i-th of several, of the parameter of a block, as reports name it.
std::string name_of_value(const Study& study, const DesignSpace::Block& block, std::size_t i);

/// The statistics of a fit by x / unit. Not collective. @throws InputError as
/// inverse::estimate_uncertainty().
inverse::Uncertainty uncertainty_of(const DesignSpace& space, const FittedDesign& fit);

/// The statistics of a fit where none of the free variables changes a residual: infinite deviations, and
/// every variable is a direction that the data leave open.
inverse::Uncertainty uncertainty_without_data(const DesignSpace& space, const FittedDesign& fit);
/// The factors on standard deviations of data that were estimated, by name: the member `sd_factors` of
/// fit.json. Their intervals are those of a chi^2 distribution of (m_k - n_k) s_k^2 / sigma_k^2. Not
/// collective.
Json describe_sd_factors(const Study& study, const StudyObjective& objective, const FittedDesign& fit);

/// Whether none of the free variables changes a residual.
bool is_without_data(const DesignSpace& space, const FittedDesign& fit);

/// Writes the statistics of a fit in physical units: `correlations` and `unidentifiable` of fit.json, `sd`,
/// `interval` and `interval_cut` of its parameters. Intervals end at the bounds. Not collective.
void describe_uncertainty(const Study& study, const DesignSpace& space, const FittedDesign& fit,
                          const inverse::Uncertainty& uncertainty, Json& result);

/// Intervals by the profile likelihood (inverse::find_profile()) of the values that the study asks for, at
/// the end of a least-squares fit of at most StudyObjective::most_factored variables: the member `profile` of
/// fit.json, by names as in `correlations`. Points have the rise of chi^2 where there are deviations, else of
/// |r|^2 / s^2. A value whose profile cannot be found is left out, with a warning. Collective. @throws
/// InputError as inverse::estimate_uncertainty(); Error after a signal.
Json write_profiles(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                    const FittedDesign& fit);

/// What data and prior together say of fields at the end x of a fit with the objective `squares`, by
/// inverse::laplace_posterior(): writes into the folder `root` posterior.h5 with a mesh and the arrays
/// `estimate`, `prior_mean`, `prior_sd` and `posterior_sd` for every field with a correlated prior, and
/// posterior-<field>.xdmf for ParaView; gives the member `posterior` of fit.json. Deviations are those of
/// what the optimiser sees, where the scale is log of ln q. Collective. @throws InputError where the
/// objective is no chi^2 or some variable has no prior; FileError; Error after a signal.
Json write_field_posterior(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                           std::span<const double> x, double squares, const std::filesystem::path& root);

} // namespace recoil::app
