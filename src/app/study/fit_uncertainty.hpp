#pragma once

#include <span>

#include <Eigen/Core>
#include <nlohmann/json.hpp>

#include "app/study/design_space.hpp"
#include "recoil/inverse/uncertainty.hpp"

namespace recoil::app {

/// Where a least-squares fit of a study has ended, as statistics see it.
struct FittedDesign {
  std::vector<double> x;       ///< variables of DesignSpace
  Eigen::MatrixXd factor;      ///< of [dr/dx r], (n + 1) x (n + 1), priors included
  double squares = 0;          ///< |r|^2, priors included
  GlobalIndex data = 0;        ///< number of residuals, priors included
  bool is_chi_squared = false; ///< |r|^2 is the chi^2 of data in their standard deviations
};

/// The statistics of a fit, in units of the variables, x / unit. @throws InputError as
/// inverse::estimate_uncertainty(). Not collective.
inverse::Uncertainty uncertainty_of(const DesignSpace& space, const FittedDesign& fit);

/// What they say in physical units: adds `chi_squared`, `data`, `p_value` where it is known,
/// `correlations` and `unidentifiable` to
/// fit.json, and `sd` and `interval` to its parameters.
void add_uncertainty(const Study& study, const DesignSpace& space, const FittedDesign& fit,
                     const inverse::Uncertainty& uncertainty, nlohmann::ordered_json& result);

/// The name of every variable: of its parameter, with an index where that has several.
std::vector<std::string> names_of_variables(const Study& study, const DesignSpace& space);

} // namespace recoil::app
