#include "app/study/fit/fit_insight.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "recoil/app/run/csv_table.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/inverse/linear_model.hpp"

namespace recoil::app {

namespace {

/// Variables that are taken for known.
std::vector<bool> held_variables(const DesignSpace& space, const std::vector<double>& x) {
  const inverse::DesignVariables variables = space.variables();
  std::vector<bool> held;
  for (std::size_t i = 0; i < x.size(); ++i)
    held.push_back(x[i] <= variables.lower[i] || x[i] >= variables.upper[i]);
  return held;
}

std::vector<std::string> names_of_values(const Study& study, const DesignSpace& space) {
  std::vector<std::string> names;
  for (const DesignSpace::Block& block : space.blocks())
    for (std::size_t i = 0; i < block.size(); ++i) names.push_back(name_of_value(study, block, i));
  return names;
}

/// dq/dx of every variable.
std::vector<double> slopes(const Study& study, const DesignSpace& space, const std::vector<double>& x) {
  std::vector<double> result;
  for (const DesignSpace::Block& block : space.blocks())
    for (std::size_t i = block.first; i < block.first + block.size(); ++i)
      result.push_back(study.parameters[block.parameter].scale.slope(x[i]));
  return result;
}

/// The covariance root W by x, in the variables' own units.
Eigen::MatrixXd root_of(const DesignSpace& space, const FittedDesign& fit, double variance) {
  const Eigen::Index n = std::ssize(fit.x);
  inverse::FitSolution solution;
  solution.factor = fit.factors.all.topLeftCorner(n, n);
  solution.at_bound = held_variables(space, fit.x);
  return inverse::covariance_root(solution, variance);
}

double finite_or(double value, double other) { return std::isfinite(value) ? value : other; }

} // namespace

Json describe_information(const FittedDesign& fit, double values) {
  const auto m = static_cast<double>(fit.data);
  // Unknown standard deviations are fitted, too: factors of theirs, or their common size.
  const double count =
      fit.is_chi_squared ? values + static_cast<double>(fit.deviations.values.size()) : values + 1;
  const double deviance = fit.has_estimated_deviations() ? fit.objective
                          : fit.is_chi_squared           ? fit.squares
                                                         : m * std::log(fit.squares / m);
  Json json{{"values", count}, {"data", fit.data}, {"deviance", deviance}, {"aic", deviance + 2 * count}};
  json["aicc"] =
      m > count + 1 ? Json(deviance + 2 * count + 2 * count * (count + 1) / (m - count - 1)) : Json(nullptr);
  json["bic"] = deviance + count * std::log(m);
  return json;
}

Json describe_sensitivity(const Study& study, const StudyObjective& objective, const FittedDesign& fit) {
  const DesignSpace& space = objective.space();
  const std::vector<Eigen::MatrixXd>& parts = fit.factors.experiments;
  const std::vector<double> values = space.values(fit.x), slope = slopes(study, space, fit.x);
  const std::size_t n = values.size();
  std::vector<double> information(n, 0.0);
  for (const Eigen::MatrixXd& part : parts)
    for (std::size_t i = 0; i < n && part.size() > 0; ++i)
      information[i] += part.col(static_cast<Eigen::Index>(i)).squaredNorm();
  Json json{{"names", names_of_values(study, space)}};
  for (std::size_t e = 0; e < parts.size(); ++e) {
    if (parts[e].size() == 0) continue;
    Json& entry = json["experiments"][study.experiments[e].name];
    const auto data = static_cast<double>(std::max<GlobalIndex>(1, objective.num_data_of(e)));
    for (std::size_t i = 0; i < n; ++i) {
      const double norm = parts[e].col(static_cast<Eigen::Index>(i)).norm();
      const double change =
          0.01 * std::abs(values[i] / slope[i]); // of the variable by a percent of its value
      entry["per_percent"].push_back(finite_or(norm * change / std::sqrt(data), 0));
      entry["share"].push_back(information[i] > 0 ? norm * norm / information[i] : 0.0);
    }
  }
  return json;
}

Json describe_cross_validation(const Study& study, const StudyObjective& objective, const FittedDesign& fit) {
  std::vector<Eigen::MatrixXd> parts;
  std::vector<std::size_t> numbers;
  for (std::size_t e = 0; e < fit.factors.experiments.size(); ++e)
    if (fit.factors.experiments[e].size() > 0) {
      parts.push_back(fit.factors.experiments[e]);
      numbers.push_back(e);
    }
  if (parts.size() < 2) return nullptr;
  const auto left_out =
      inverse::leave_one_out(parts, objective.prior_factor(fit.x), held_variables(objective.space(), fit.x));
  Json json;
  double predicted = 0, squares = 0;
  GlobalIndex data = 0;
  bool is_whole = true;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const GlobalIndex own = objective.num_data_of(numbers[k]);
    json["experiments"][study.experiments[numbers[k]].name] = {
        {"data", own},
        {"chi_squared", left_out[k].squares},
        {"predicted", left_out[k].predicted ? Json(*left_out[k].predicted) : Json(nullptr)}};
    is_whole = is_whole && left_out[k].predicted.has_value();
    predicted += left_out[k].predicted.value_or(0);
    squares += left_out[k].squares;
    data += own;
  }
  json["data"] = data;
  json["chi_squared"] = squares;
  json["predicted"] = is_whole ? Json(predicted) : Json(nullptr);
  if (fit.has_estimated_deviations()) {
    double deviance = predicted;
    for (const std::size_t e : numbers) {
      const std::vector<GlobalIndex> of_factors = objective.data_of_factors_in(e);
      for (std::size_t k = 0; k < of_factors.size(); ++k)
        deviance += 2 * static_cast<double>(of_factors[k]) * std::log(fit.deviations.values[k]);
    }
    json["deviance"] = is_whole ? Json(deviance) : Json(nullptr);
  }
  return json;
}

Json describe_next_experiments(const Study& study, StudyObjective& objective, const FittedDesign& fit,
                               const inverse::Uncertainty& uncertainty) {
  const std::vector<CandidateFactor> candidates = objective.candidate_factors(fit.x, fit.deviations.values);
  const DesignSpace& space = objective.space();
  const Eigen::Index n = std::ssize(fit.x);
  const std::vector<bool> held = held_variables(space, fit.x);
  const std::vector<double> slope = slopes(study, space, fit.x), ranges = space.ranges(fit.x);
  const std::vector<std::string> names = names_of_values(study, space);
  std::vector<std::pair<double, Json>> entries;
  for (const CandidateFactor& candidate : candidates) {
    Json entry{{"experiment", study.experiments[candidate.experiment].name}};
    double nats = -HUGE_VAL;
    if (candidate.failure.empty()) {
      const inverse::Gain gain = inverse::information_gain(
          fit.factors.all.topLeftCorner(n, n), candidate.factor, ranges, held, uncertainty.variance);
      nats = gain.nats;
      entry["gain"] = nats;
      entry["data"] = objective.num_data_of(candidate.experiment);
      for (std::size_t i = 0; i < names.size(); ++i) {
        const double sd = std::abs(slope[i]) * gain.deviations[i];
        entry["sd"][names[i]] = std::isfinite(sd) ? Json(sd) : Json(nullptr);
      }
    } else {
      entry["failure"] = candidate.failure;
    }
    entries.emplace_back(nats, std::move(entry));
  }
  std::ranges::stable_sort(entries, std::ranges::greater(), [](const auto& entry) { return entry.first; });
  Json json = Json::array();
  for (auto& [nats, entry] : entries) json.push_back(std::move(entry));
  if (!json.empty() && json[0].contains("gain"))
    log_info(fmt::format("the next experiment that would tell most is '{}': {:.3g} nats",
                         json[0]["experiment"].get<std::string>(), json[0]["gain"].get<double>()));
  return json;
}

Json write_samples(const parallel::Communicator& world, const Study& study, const DesignSpace& space,
                   const FittedDesign& fit, const inverse::Uncertainty& uncertainty,
                   const std::filesystem::path& root) {
  constexpr int most_draws = 100; // per sample that is wanted
  const Eigen::MatrixXd W = root_of(space, fit, uncertainty.variance);
  const inverse::DesignVariables variables = space.variables();
  const auto count = static_cast<std::size_t>(study.uncertainty.samples),
             width = static_cast<std::size_t>(W.cols());
  std::string text;
  for (const std::string& name : names_of_values(study, space))
    text += (text.empty() ? "" : ",") + quoted_cell(name);
  text += "\n";
  std::size_t found = 0;
  // In portions, each with a seed of its own, since most lie within bounds.
  for (std::size_t draw = 0; draw < most_draws && found < count; ++draw) {
    const std::vector<double> z =
        inverse::standard_normal(count * width, static_cast<std::uint64_t>(study.uncertainty.seed) +
                                                    (static_cast<std::uint64_t>(draw) << 32));
    for (std::size_t k = 0; k < count && found < count; ++k) {
      const Eigen::VectorXd change = W * Eigen::Map<const Eigen::VectorXd>(z.data() + k * width, W.cols());
      std::vector<double> x = fit.x;
      bool is_inside = true;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (change[static_cast<Eigen::Index>(i)] == 0) continue;
        x[i] += change[static_cast<Eigen::Index>(i)];
        is_inside = is_inside && x[i] >= variables.lower[i] && x[i] <= variables.upper[i];
      }
      if (!is_inside) continue;
      std::string row;
      for (const double value : space.values(x))
        row += fmt::format("{}{:.12g}", row.empty() ? "" : ",", value);
      text += row + "\n";
      ++found;
    }
  }
  if (found < count)
    throw InputError(
        fmt::format("of the Laplace posterior less than one in {} samples lies within the bounds; a "
                    "normal distribution is no picture of it: look at profiles",
                    most_draws));
  parallel::collectively(world, [&] {
    if (world.rank() == 0) write_file_atomically(root / "samples.csv", text);
  });
  return {{"file", "samples.csv"}, {"count", count}, {"seed", study.uncertainty.seed}};
}

Json write_bands(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                 const FittedDesign& fit, const inverse::Uncertainty& uncertainty,
                 const std::filesystem::path& root) {
  const std::vector<ExperimentBands> bands =
      objective.bands(fit.x, root_of(objective.space(), fit, uncertainty.variance));
  const double s = std::sqrt(uncertainty.variance), q = uncertainty.quantile;
  std::string text = "objective,experiment,point,component,time,line,observed,fitted,sd_of_fit,low,high,"
                     "low_of_new,high_of_new\n";
  std::vector<std::size_t> next(bands.size(), 0);
  std::size_t count = 0;
  for (const auto& spec : study.objectives) {
    const ExperimentBands& of = bands[spec->experiment];
    const std::size_t term = next[spec->experiment]++;
    const double factor =
        spec->sd_factor && fit.has_estimated_deviations() ? fit.deviations.values[*spec->sd_factor] : 1;
    for (const BandRow& row : of.rows) {
      if (row.term != term) continue;
      const double noise = s * factor * row.sd, both = std::hypot(row.deviation, noise);
      text += fmt::format("{},{},{},{},{:.12g},{},{:.12g},{:.12g},{:.6g},{:.9g},{:.9g},{:.9g},{:.9g}\n",
                          quoted_cell(spec->name), quoted_cell(study.experiments[spec->experiment].name),
                          quoted_cell(row.point), quoted_cell(row.component), row.time, row.line,
                          row.observed, row.fitted, row.deviation, row.fitted - q * row.deviation,
                          row.fitted + q * row.deviation, row.fitted - q * both, row.fitted + q * both);
      ++count;
    }
  }
  parallel::collectively(world, [&] {
    if (world.rank() == 0) write_file_atomically(root / "bands.csv", text);
  });
  return {{"file", "bands.csv"}, {"rows", count}};
}

} // namespace recoil::app
