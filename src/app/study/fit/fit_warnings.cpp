#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/study/fit/fit_verdict.hpp"
#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"

namespace recoil::app {

namespace {

using Block = DesignSpace::Block;

/// act(specification, block, number of the value in the block, number of the variable).
template <class Act>
void for_each_value(const Study& study, const DesignSpace& space, Act act) {
  for (const Block& block : space.blocks())
    for (std::size_t i = 0; block.is_replicated && i < block.size(); ++i)
      act(study.parameters[block.parameter], block, i, block.first + i);
}

std::string in_unit(double value, const ParameterSpec& spec) {
  const std::string unit = unit_of(spec);
  return fmt::format("{:.3g}{}", value, unit == "1" ? "" : " " + unit);
}

/// What was known of a value before there were data.
std::string known_before(const ParameterSpec& spec) {
  if (spec.prior) return "its prior";
  return spec.bounds
             ? fmt::format("its bounds [{:g}, {:g}] and its size", (*spec.bounds)[0], (*spec.bounds)[1])
             : "its size";
}

std::string place_of(const ObjectiveSpec& spec, const NamedResidual& one) {
  const auto files = spec.files();
  const std::string file = files.empty() ? spec.name : files.front().string();
  return one.line > 0 ? fmt::format("{}:{}", file, one.line) : file;
}

/// Whether the first one is more than three times as far off as the next one.
bool stands_alone(const std::vector<NamedResidual>& worst) {
  return worst.size() < 2 || std::abs(worst[0].residual) > 3 * std::abs(worst[1].residual);
}

/// By how much two designs differ, in the larger of 1 % of the units of the variables and 3 deviations.
double distance(std::span<const double> a, std::span<const double> b, std::span<const double> unit,
                const inverse::Uncertainty& uncertainty) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double deviation = std::isfinite(uncertainty.deviations[i]) ? 3 * uncertainty.deviations[i] : 0;
    largest = std::max(largest, std::abs(a[i] - b[i]) / unit[i] / std::max(0.01, deviation));
  }
  return largest;
}

/// Minima are as good as each other where chi^2 differs by no more than this, or by this share of s^2.
constexpr double same_chi_squared = 3.84;

/// Share of a direction from which on a value is named for it.
constexpr double named_share = 0.05, main_share = 0.5;

/// Values of a parameter in the table on the console.
constexpr std::size_t most_in_table = 20;

} // namespace

void warn_of_outliers(const Study& study, const std::vector<ExperimentResiduals>& residuals,
                      FitWarnings& warnings) {
  for_each_objective(study, residuals, [&](const ObjectiveSpec& spec, const ObjectiveResiduals& found) {
    if (found.outliers == 0) return;
    GlobalIndex shown = 0;
    for (const NamedResidual& one : found.worst) {
      if (std::abs(one.residual) <= ObjectiveResiduals::far) continue;
      std::string advice;
      if (spec.loss)
        advice = "; the loss leaves it little weight";
      else if (shown == 0 && stands_alone(found.worst))
        advice = "; it stands alone: correct the row or take it out, or give the objective a `loss`";
      ++shown;
      warnings.add({"outlier",
                    fmt::format("'{}': {}{} at {:g} {} is {:.3g} standard deviations off{}", spec.name,
                                one.point.empty() ? "" : one.point + ", ", one.component, one.time,
                                study.units.time, one.residual, advice),
                    place_of(spec, one)});
    }
    if (shown < found.outliers)
      warnings.add({"outlier",
                    fmt::format("'{}': {} more residuals are above {:g} standard deviations", spec.name,
                                found.outliers - shown, ObjectiveResiduals::far),
                    spec.files().empty() ? "" : spec.files().front().string()});
  });
}

void warn_of_mixed_deviations(const Study& study, const std::vector<bool>& has_deviations,
                              FitWarnings& warnings) {
  const auto is_data = [&](std::size_t k) { return study.objectives[k]->type->observes; };
  bool some_have = false;
  for (std::size_t k = 0; k < has_deviations.size(); ++k) some_have |= is_data(k) && has_deviations[k];
  for (std::size_t k = 0; some_have && k < has_deviations.size(); ++k)
    if (const ObjectiveSpec& spec = *study.objectives[k]; is_data(k) && !has_deviations[k] && !spec.sd_factor)
      warnings.add(
          {"missing_sd",
           fmt::format("'{}' has data without `sd`, which count as if it were 1 SI unit, beside others "
                       "with it: the weights between them are arbitrary, and chi^2 is not judged; "
                       "give the file a column `sd`",
                       spec.name),
           spec.files().front().string()});
}

void warn_of_parameters(const Study& study, const DesignSpace& space, std::span<const double> x,
                        const inverse::Uncertainty& uncertainty, FitWarnings& warnings) {
  const inverse::DesignVariables variables = space.variables();
  const std::vector<double> values = space.values(x);
  std::vector<bool> is_open(x.size(), false);
  for (const inverse::UnidentifiableDirection& direction : uncertainty.unidentifiable) {
    std::string shares, before;
    int count = 0;
    for_each_value(study, space,
                   [&](const ParameterSpec& spec, const Block& block, std::size_t i, std::size_t v) {
                     if (direction.shares[v] > main_share) is_open[v] = true;
                     if (direction.shares[v] < named_share) return;
                     ++count;
                     shares += (shares.empty() ? "" : " and ") + name_of_value(study, block, i);
                     before = known_before(spec);
                   });
    if (count == 0) continue;
    const std::string sd =
        std::isfinite(direction.deviation)
            ? fmt::format(
                  "they leave a standard deviation {:.3g} times as large as what is known without them",
                  direction.deviation)
            : "none of them depends on it, beside what is known without them";
    const std::string message =
        count == 1
            ? fmt::format(
                  "{} cannot be known from these data: {}, by {}; hold it, give it a prior, or measure "
                  "more",
                  shares, sd, before)
            : fmt::format("the data leave a combination of {} open: {}; hold one of them, or measure more",
                          shares, sd);
    warnings.add({"open_direction", message, ""});
  }
  for_each_value(
      study, space, [&](const ParameterSpec& spec, const Block& block, std::size_t i, std::size_t v) {
        const std::string name = name_of_value(study, block, i);
        if (spec.is_held(i % block.components)) return;
        if (x[v] <= variables.lower[v] || x[v] >= variables.upper[v])
          warnings.add(
              {"at_bound",
               fmt::format("{} is at its bound, {}: the data would move it further, and its uncertainty is "
                           "not known",
                           name, in_unit(values[v], spec)),
               spec.where.of("bounds")});
        const double slope = std::abs(spec.scale.slope(x[v])) * variables.unit[v];
        const double sd = slope * uncertainty.deviations[v];
        if (is_open[v] || !std::isfinite(sd)) return;
        const auto bounds = spec.bounds_of(i % block.components);
        if (bounds && sd > (*bounds)[1] - (*bounds)[0])
          warnings.add(
              {"sd_above_bounds",
               fmt::format("{}: the standard deviation, {}, is larger than the distance of the bounds", name,
                           in_unit(sd, spec)),
               spec.where.entry});
        else if (sd > std::max(std::abs(values[v]), slope))
          warnings.add({"sd_above_value",
                        fmt::format("{}: the standard deviation, {}, is larger than the value, {}", name,
                                    in_unit(sd, spec), in_unit(values[v], spec)),
                        spec.where.entry});
      });
}

std::vector<int> compare_ends(const DesignSpace& space, const std::vector<FoundMinimum>& minima,
                              std::size_t best, const inverse::Uncertainty& uncertainty) {
  const std::vector<double> unit = space.variables().unit;
  const bool has_valley = !uncertainty.unidentifiable.empty();
  const double same = same_chi_squared * uncertainty.variance;
  std::vector<std::size_t> distinct{best};
  std::vector<int> result;
  for (const FoundMinimum& one : minima) {
    const auto is_it = [&](std::size_t k) {
      return distance(one.x, minima[k].x, unit, uncertainty) <= 1 ||
             (has_valley && std::abs(one.objective - minima[k].objective) <= same);
    };
    const auto known = std::isinf(one.objective) ? distinct.end() : std::ranges::find_if(distinct, is_it);
    const auto number = static_cast<int>(known - distinct.begin()) + 1;
    if (known != distinct.end()) {
      result.push_back(number);
    } else if (one.is_end && !std::isinf(one.objective)) {
      distinct.push_back(result.size());
      result.push_back(number);
    } else {
      result.push_back(0);
    }
  }
  return result;
}

void warn_of_minima(const Study& study, const DesignSpace& space, const std::vector<FoundMinimum>& minima,
                    std::size_t best, const inverse::Uncertainty& uncertainty, FitWarnings& warnings) {
  if (!uncertainty.unidentifiable.empty()) return;
  const inverse::DesignVariables variables = space.variables();
  for (std::size_t k = 0; k < minima.size(); ++k) {
    const double rise = minima[k].objective - minima[best].objective;
    if (k == best || !(rise <= same_chi_squared * uncertainty.variance)) continue;
    if (distance(minima[k].x, minima[best].x, variables.unit, uncertainty) <= 1) continue;
    std::string others;
    const std::vector<double> values = space.values(minima[k].x);
    for_each_value(study, space,
                   [&](const ParameterSpec& spec, const Block& block, std::size_t i, std::size_t v) {
                     others += fmt::format("{}{} {}", others.empty() ? "" : ", ",
                                           name_of_value(study, block, i), in_unit(values[v], spec));
                   });
    warnings.add(
        {"several_minima",
         fmt::format("start {} has ended elsewhere, at {}, and fits the data as well (its objective is "
                     "larger by {:.3g}): they do not tell these values apart; measure more, or bound "
                     "the parameters",
                     k + 1, others, rise),
         ""});
    return;
  }
}

std::vector<std::string> fit_table(const Study& study, const Json& result) {
  std::vector<std::string> lines;
  for (const ParameterSpec& spec : study.parameters) {
    const Json& entry = result.at("parameters").at(spec.name);
    if (!entry.contains("value")) {
      lines.push_back(fmt::format("  {}: values in fit.h5", spec.name));
      continue;
    }
    const auto list = [&](const char* key) {
      if (!entry.contains(key)) return Json(Json::array());
      return entry[key].is_array() ? entry[key] : Json(Json::array({entry[key]}));
    };
    const Json values = list("value"), deviations = list("sd"), bounds = list("at_bound");
    if (values.size() > most_in_table) {
      lines.push_back(fmt::format("  {}: {} values in fit.json", spec.name, values.size()));
      continue;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::optional<double> deviation;
      if (i < deviations.size() && deviations[i].is_number()) deviation = deviations[i].get<double>();
      const std::string unit = unit_of(spec);
      lines.push_back(
          fmt::format("  {}{} = {}{}{}", spec.name, values.size() > 1 ? fmt::format("[{}]", i) : "",
                      value_with_deviation(values[i].get<double>(), deviation), unit == "1" ? "" : " " + unit,
                      i < bounds.size() && bounds[i].get<bool>() ? ", at its bound" : ""));
    }
  }
  for (const std::string& name : study.sd_factors)
    if (result.contains("sd_factors"))
      if (const Json& entry = result["sd_factors"][name]; entry.contains("value"))
        lines.push_back(
            fmt::format("  {} (sd_factor) = {}", name,
                        value_with_deviation(entry["value"].get<double>(), entry["sd"].get<double>())));
  return lines;
}

} // namespace recoil::app
