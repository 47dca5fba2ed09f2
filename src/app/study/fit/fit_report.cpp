#include "app/study/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/app/run/csv_table.hpp"
#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/log.hpp"
#include "recoil/inverse/fit_statistics.hpp"
#include "recoil/inverse/profile.hpp"

namespace recoil::app {

namespace {

using Block = DesignSpace::Block;

std::vector<double> part(const Block& block, std::span<const double> values) {
  const auto of_block = values.subspan(block.first, block.size());
  return {of_block.begin(), of_block.end()};
}

/// NaN has no place in JSON.
Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json rows_of(const Eigen::MatrixXd& matrix) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    Json& row = rows.emplace_back(Json::array());
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(number_or_null(matrix(i, j)));
  }
  return rows;
}

/// What of an interval is between the bounds of a value.
std::array<double, 2> between_bounds(const ParameterSpec& spec, std::size_t component,
                                     std::array<double, 2> interval) {
  if (const auto bounds = spec.bounds_of(component))
    for (double& end : interval)
      if (!std::isnan(end)) end = std::clamp(end, (*bounds)[0], (*bounds)[1]);
  return interval;
}

/// The fit as the statistics see it, by x / unit.
inverse::FitSolution solution_of(const DesignSpace& space, const FittedDesign& fit) {
  const inverse::DesignVariables variables = space.variables();
  const Eigen::Index n = std::ssize(fit.x);
  const Eigen::Map<const Eigen::VectorXd> unit(variables.unit.data(), n);
  inverse::FitSolution solution;
  solution.factor = fit.factors.all.topLeftCorner(n, n) * unit.asDiagonal();
  solution.data_factor = fit.factors.data.topLeftCorner(n, n) * unit.asDiagonal();
  solution.squares = fit.squares;
  solution.data_count = fit.data;
  solution.has_deviations = fit.is_chi_squared;
  solution.deviation_freedom = fit.deviations.of_variables;
  solution.ranges = space.ranges(fit.x);
  for (Eigen::Index i = 0; i < n; ++i) {
    solution.at_bound.push_back(fit.x[i] <= variables.lower[i] || fit.x[i] >= variables.upper[i]);
    solution.ranges[i] /= unit[i];
  }
  return solution;
}

/// Deviation and interval of the values of a parameter.
void add_intervals(const ParameterSpec& spec, const Block& block, const FittedDesign& fit,
                   const std::vector<double>& unit, const inverse::Uncertainty& uncertainty, Json& entry) {
  std::vector<Json> deviations, intervals;
  std::vector<std::string> cut;
  for (std::size_t i = block.first; i < block.first + block.size(); ++i) {
    const double deviation = uncertainty.deviations[i] * unit[i];
    const auto interval = inverse::physical_interval(fit.x[i], deviation, uncertainty.quantile,
                                                     [&](double z) { return spec.scale.value(z); });
    deviations.push_back(number_or_null(std::abs(spec.scale.slope(fit.x[i])) * deviation));
    const auto [low, high] = between_bounds(spec, (i - block.first) % block.components, interval);
    intervals.push_back(Json::array({number_or_null(low), number_or_null(high)}));
    cut.push_back(low != interval[0] && high != interval[1] ? "both"
                  : low != interval[0]                      ? "low"
                  : high != interval[1]                     ? "high"
                                                            : "");
    if (std::isnan(interval[0]) || std::isnan(interval[1])) cut.back() = "";
  }
  entry["sd"] = value_or_list(deviations);
  entry["interval"] = value_or_list(intervals);
  if (std::ranges::any_of(cut, [](const std::string& side) { return !side.empty(); }))
    entry["interval_cut"] = value_or_list(cut);
}

Json describe_profile(const inverse::Profile& profile, const ParameterSpec& spec, double level,
                      double variance) {
  Json entry;
  for (const inverse::ProfileEnd& end : profile.ends) {
    entry["interval"].push_back(end.value ? Json(spec.scale.value(*end.value)) : Json(nullptr));
    entry["at_bound"].push_back(end.at_bound);
  }
  entry["level"] = level / variance;
  for (const inverse::ProfilePoint& point : profile.points)
    entry["points"].push_back(
        Json::array({spec.scale.value(point.value),
                     std::isfinite(point.rise) ? Json(point.rise / variance) : Json(nullptr)}));
  return entry;
}

std::string end_in_words(const Json& entry, int side) {
  const Json& end = entry["interval"][side];
  if (!end.is_null()) return fmt::format("{:.6g}", end.get<double>());
  return entry["at_bound"][side].get<bool>() ? "its bound" : "unknown";
}

} // namespace

std::string name_of_value(const Study& study, const Block& block, std::size_t i) {
  const std::string& name = study.parameters[block.parameter].name;
  return block.size() == 1 ? name : fmt::format("{}[{}]", name, i);
}

inverse::Uncertainty uncertainty_of(const DesignSpace& space, const FittedDesign& fit) {
  return inverse::estimate_uncertainty(solution_of(space, fit));
}

Json describe_sd_factors(const Study& study, const StudyObjective& objective, const FittedDesign& fit) {
  const std::vector<GlobalIndex> data = objective.data_of_factors();
  Json result;
  for (std::size_t k = 0; k < study.sd_factors.size(); ++k) {
    const double s = fit.deviations.values[k], freedom = fit.deviations.degrees_of_freedom[k];
    const auto end = [&](double probability) {
      return s * std::sqrt(freedom / inverse::chi_squared_quantile(probability, freedom));
    };
    Json& entry = result[study.sd_factors[k]];
    entry = {{"value", s},
             {"sd", s / std::sqrt(2 * freedom)},
             {"interval", {end(0.975), end(0.025)}},
             {"data", data[k]},
             {"degrees_of_freedom", freedom}};
    for (const auto& spec : study.objectives)
      if (spec->sd_factor == static_cast<int>(k) && objective.dropped()[spec->experiment] == 0)
        entry["objectives"].push_back(spec->name);
  }
  return result;
}

bool is_without_data(const DesignSpace& space, const FittedDesign& fit) {
  const inverse::FitSolution solution = solution_of(space, fit);
  for (std::size_t i = 0; i < fit.x.size(); ++i)
    if (!solution.at_bound[i] && !solution.factor.col(i).isZero(0)) return false;
  return true;
}

inverse::Uncertainty uncertainty_without_data(const DesignSpace& space, const FittedDesign& fit) {
  const inverse::FitSolution solution = solution_of(space, fit);
  const Eigen::Index n = std::ssize(fit.x);
  inverse::Uncertainty result;
  result.quantile = inverse::normal_quantile();
  result.covariance = Eigen::MatrixXd::Constant(n, n, std::numeric_limits<double>::quiet_NaN());
  result.correlations = result.covariance;
  for (std::size_t i = 0; i < fit.x.size(); ++i) {
    const bool at_bound = solution.at_bound[i];
    result.deviations.push_back(at_bound ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL);
    if (at_bound) continue;
    std::vector<double> shares(fit.x.size(), 0.0);
    shares[i] = 1;
    result.unidentifiable.push_back({shares, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL});
  }
  return result;
}

Json describe_fitted_parameters(const Study& study, const DesignSpace& space, std::span<const double> x) {
  const std::vector<double> values = space.values(x);
  const inverse::DesignVariables variables = space.variables();
  Json result;
  for (int p = 0; p < std::ssize(study.parameters); ++p) {
    const ParameterSpec& spec = study.parameters[p];
    const Block& block = space.block_of(p);
    Json& entry = result[spec.name];
    entry["unit"] = unit_of(spec);
    if (!block.is_replicated) {
      entry["file"] = "fit.h5";
      entry["dataset"] = study.parameters[block.parameter].name;
      continue;
    }
    std::vector<bool> at_bound, held;
    for (std::size_t i = block.first; i < block.first + block.size(); ++i) {
      held.push_back(spec.is_held((i - block.first) % block.components));
      at_bound.push_back(!held.back() && (x[i] <= variables.lower[i] || x[i] >= variables.upper[i]));
    }
    entry["value"] = value_or_list(part(block, values));
    entry["initial"] = value_or_list(part(block, space.start_values()));
    entry["at_bound"] = value_or_list(at_bound);
    if (!spec.held.empty()) entry["held"] = value_or_list(held);
    if (!block.names.empty()) entry["bodies"] = block.names;
  }
  return result;
}

void write_fitted_fields(const parallel::Communicator& world, const Study& study, const DesignSpace& space,
                         std::span<const double> x, const std::filesystem::path& path) {
  if (std::ranges::all_of(space.blocks(), &Block::is_replicated)) return;
  const parallel::Communicator alone = world.split(world.rank());
  const std::vector<double> values = space.values(x);
  const auto write = [&](io::Hdf5Writer& file) {
    for (const Block& block : space.blocks()) {
      if (block.is_replicated) continue;
      const ParameterSpec& spec = study.parameters[block.parameter];
      file.write_rows<double>(spec.name, rows_of_block(block, values), block.components);
      file.write_attribute(spec.name, "unit", unit_of(spec));
    }
  };
  parallel::collectively(world, [&] {
    if (world.rank() == 0) write_arrays_aside(alone, path, write);
  });
}

FitHistory::FitHistory(const Study& study, const DesignSpace& space, std::filesystem::path path,
                       std::string& rows)
    : space_(space), path_(std::move(path)),
      header_("start,iteration,objective,gradient_norm,step,evaluations,"
              "gradient_evaluations,wall_s,forward_s,sweep_s"),
      rows_(rows) {
  for (const Block& block : space.blocks())
    for (std::size_t i = 0; block.is_replicated && i < block.size(); ++i)
      header_ += "," + quoted_cell(name_of_value(study, block, i));
  header_ += "\n";
}

void FitHistory::add(std::int64_t start, const linalg::Iterate& at, const StudyObjective& objective) {
  const StudyObjective::Totals& totals = objective.totals();
  rows_ += fmt::format("{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f}", start, at.iteration, at.value,
                       at.gradient_norm, at.step, totals.evaluations, totals.gradient_evaluations,
                       objective.wall_seconds(), totals.forward_seconds, totals.sweep_seconds);
  const std::vector<double> values = space_.values(at.x);
  for (const Block& block : space_.blocks())
    for (std::size_t i = 0; block.is_replicated && i < block.size(); ++i)
      rows_ += fmt::format(",{}", values[block.first + i]);
  add_rows("\n");
}

void FitHistory::add_rows(const std::string& rows) {
  rows_ += rows;
  write_file_atomically(path_, header_ + rows_);
}

void describe_uncertainty(const Study& study, const DesignSpace& space, const FittedDesign& fit,
                          const inverse::Uncertainty& uncertainty, Json& result) {
  const std::vector<double> unit = space.variables().unit;
  std::vector<std::string> names;
  for (const Block& block : space.blocks())
    for (std::size_t i = 0; i < block.size(); ++i) names.push_back(name_of_value(study, block, i));
  for (int p = 0; p < std::ssize(study.parameters); ++p) {
    const Block& block = space.block_of(p);
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
    result["unidentifiable"].push_back({{"direction", shares},
                                        {"sd_ratio", number_or_null(direction.deviation_ratio)},
                                        {"sd_to_range", number_or_null(direction.deviation)}});
  }
}

Json write_profiles(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                    const FittedDesign& fit) {
  const DesignSpace& space = objective.space();
  const inverse::Uncertainty uncertainty = uncertainty_of(space, fit);
  inverse::DesignVariables variables = space.variables();
  variables.start = fit.x;
  objective.use_residuals();
  Json profiles = Json::object();
  for (const int parameter : study.uncertainty.profile) {
    const DesignSpace::Block& block = space.block_of(parameter);
    const ParameterSpec& spec = study.parameters[parameter];
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::string name = name_of_value(study, block, i);
      const double q = uncertainty.quantile;
      const double level = fit.has_estimated_deviations()
                               ? inverse::deviance_rise(fit.deviations, block.first + i, q)
                               : uncertainty.variance * q * q;
      try {
        const inverse::Profile profile =
            inverse::find_profile(world, objective, variables, block.first + i, level);
        const Json& entry = profiles[name] = describe_profile(profile, spec, level, uncertainty.variance);
        log_info(fmt::format("profile of '{}': 95 % interval from {} to {}, by {} fits of the other values",
                             name, end_in_words(entry, 0), end_in_words(entry, 1),
                             profile.points.size() - 1));
      } catch (const Error& error) {
        if (error.code() != ExitCode::no_solution) throw;
        log_warning(fmt::format("no profile of '{}': {}", name, error.what()));
      }
    }
  }
  return profiles;
}

} // namespace recoil::app
