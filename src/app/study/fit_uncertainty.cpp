#include "app/study/fit_uncertainty.hpp"

#include <cmath>

#include <fmt/format.h>

#include "recoil/inverse/fit_statistics.hpp"

namespace recoil::app {

namespace {

using Json = nlohmann::ordered_json;

/// NaN has no place in JSON.
Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <class Of>
Json value_or_list(std::size_t first, std::size_t count, Of of) {
  if (count == 1) return of(first);
  Json list = Json::array();
  for (std::size_t i = first; i < first + count; ++i) list.push_back(of(i));
  return list;
}

Json rows_of(const Eigen::MatrixXd& matrix) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(number_or_null(matrix(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Deviation and interval of the values of a parameter.
void add_intervals(const ParameterSpec& spec, const DesignSpace::Block& block, const FittedDesign& fit,
                   const std::vector<double>& unit, const inverse::Uncertainty& uncertainty, Json& entry) {
  const auto deviation = [&](std::size_t i) { return uncertainty.deviations[i] * unit[i]; };
  entry["sd"] = value_or_list(block.first, block.size(), [&](std::size_t i) {
    return number_or_null(std::abs(spec.scale.slope(fit.x[i])) * deviation(i));
  });
  entry["interval"] = value_or_list(block.first, block.size(), [&](std::size_t i) {
    const auto interval = inverse::physical_interval(fit.x[i], deviation(i), uncertainty.quantile,
                                                     [&](double z) { return spec.scale.value(z); });
    return Json::array({number_or_null(interval[0]), number_or_null(interval[1])});
  });
}

} // namespace

std::vector<std::string> names_of_variables(const Study& study, const DesignSpace& space) {
  std::vector<std::string> names;
  for (const DesignSpace::Block& block : space.blocks()) {
    const std::string& name = study.parameters[block.parameter].name;
    for (std::size_t i = 0; i < block.size(); ++i)
      names.push_back(block.size() == 1 ? name : fmt::format("{}[{}]", name, i));
  }
  return names;
}

inverse::Uncertainty uncertainty_of(const DesignSpace& space, const FittedDesign& fit) {
  const inverse::DesignVariables variables = space.variables();
  const Eigen::Index n = std::ssize(fit.x);
  const Eigen::Map<const Eigen::VectorXd> unit(variables.unit.data(), n);
  inverse::FitSolution solution;
  solution.factor = fit.factor.topLeftCorner(n, n) * unit.asDiagonal();
  solution.squares = fit.squares;
  solution.data_count = fit.data;
  solution.has_deviations = fit.is_chi_squared;
  for (Eigen::Index i = 0; i < n; ++i)
    solution.at_bound.push_back(fit.x[i] <= variables.lower[i] || fit.x[i] >= variables.upper[i]);
  return inverse::estimate_uncertainty(solution);
}

void add_uncertainty(const Study& study, const DesignSpace& space, const FittedDesign& fit,
                     const inverse::Uncertainty& uncertainty, Json& result) {
  const std::vector<double> unit = space.variables().unit;
  const std::vector<std::string> names = names_of_variables(study, space);
  result["chi_squared"] = fit.squares;
  result["data"] = fit.data;
  if (fit.is_chi_squared && uncertainty.degrees_of_freedom > 0)
    result["p_value"] = inverse::chi_squared_p_value(fit.squares, uncertainty.degrees_of_freedom);
  for (int p = 0; p < std::ssize(study.parameters); ++p) {
    const DesignSpace::Block& block = space.block_of(p);
    const ParameterSpec& owner = study.parameters[block.parameter];
    if (block.is_replicated)
      add_intervals(owner, block, fit, unit, uncertainty, result["parameters"][study.parameters[p].name]);
  }
  result["correlations"] = {{"names", names}, {"matrix", rows_of(uncertainty.correlations)}};
  result["unidentifiable"] = Json::array();
  for (const inverse::UnidentifiableDirection& direction : uncertainty.unidentifiable) {
    Json shares;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (direction.shares[i] > 0.01) shares[names[i]] = direction.shares[i];
    result["unidentifiable"].push_back(
        {{"direction", shares}, {"sd_ratio", number_or_null(direction.deviation_ratio)}});
  }
}

} // namespace recoil::app
