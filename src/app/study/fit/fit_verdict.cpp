#include "app/study/fit/fit_verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/log.hpp"
#include "recoil/inverse/fit_statistics.hpp"

namespace recoil::app {

namespace {

std::string named(Verdict::Is is) {
  if (is == Verdict::Is::converged) return "converged";
  return is == Verdict::Is::not_converged ? "not_converged" : "bad_fit";
}

std::string why_not_converged(Ending ending, const std::string& reason, const std::filesystem::path& result) {
  const auto again = [&](const char* key) {
    return reason + ", and the fit has not converged; fit again with a larger optimizer/" + key +
           ", from these values: give each parameter \"initial\": {\"file\": " +
           Json(std::filesystem::absolute(result).string()).dump() + "}";
  };
  if (ending == Ending::iteration_limit) return again("max_iterations");
  if (ending == Ending::time_limit) return again("time_budget");
  return "the optimisation has stalled (" + reason +
         "): the derivatives promise a smaller objective still; look for runs that fail near the values, "
         "solve "
         "the steps of the scenes more exactly, or start from other values";
}

int place_of_first_digit(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))); }
/// Without a power of ten.
bool is_written_out(double value) { return value == 0 || (std::abs(value) < 1e6 && std::abs(value) >= 1e-4); }

/// To a decimal place. Adding zero takes the sign of a rounded -0 away.
std::string rounded(double value, int place) {
  const double unit = std::pow(10.0, place);
  if (!is_written_out(value))
    return fmt::format("{:.{}e}", value, std::max(0, place_of_first_digit(value) - place));
  return fmt::format("{:.{}f}", std::round(value / unit) * unit + 0.0, std::max(0, -place));
}

std::string chi_squared_in_words(const JudgedSquares& squares, double p) {
  std::string text = fmt::format("chi^2 {:.6g} of {} data and {:.4g} fitted values, p {:.2g}",
                                 squares.chi_squared - squares.outlier_squares,
                                 squares.data - squares.outliers, squares.values, p);
  if (squares.outliers > 0)
    text += fmt::format(" ({} data more than {:g} sd off are left to the loss)", squares.outliers,
                        ObjectiveResiduals::far);
  return text;
}

/// "2 of 3 starts ended here, 1 at another minimum"
std::string starts_in_words(const std::vector<int>& starts) {
  const auto count = [&](auto is) { return std::ranges::count_if(starts, is); };
  const auto here = count([](int minimum) { return minimum == 1; });
  if (here == std::ssize(starts)) return fmt::format("all {} starts ended here", here);
  std::string text = fmt::format("{} of {} starts ended here", here, starts.size());
  const int others = std::ranges::max(starts) - 1;
  if (others > 0)
    text += fmt::format(", {} at {}", count([](int minimum) { return minimum > 1; }),
                        others == 1 ? "another minimum" : fmt::format("{} other minima", others));
  if (const auto none = count([](int minimum) { return minimum == 0; }); none > 0)
    text += fmt::format(", {} at no minimum", none);
  return text;
}

} // namespace

FitWarnings::FitWarnings(const std::vector<std::string>& told_of_study) {
  for (const std::string& text : told_of_study) warnings_.push_back({"study", text, ""});
}

void FitWarnings::add(FitWarning warning) {
  log_warning(warning.place.empty() ? warning.message : warning.place + ": " + warning.message);
  warnings_.push_back(std::move(warning));
}

Json FitWarnings::describe() const {
  Json list = Json::array();
  for (const FitWarning& one : warnings_) {
    Json& entry = list.emplace_back(Json{{"code", one.code}, {"message", one.message}});
    if (!one.place.empty()) entry["place"] = one.place;
  }
  return list;
}

JudgedSquares judged_squares(const Study& study, const std::vector<ExperimentResiduals>& residuals,
                             const std::vector<double>& per_objective, const FittedDesign& fit,
                             double values) {
  JudgedSquares result{fit.squares, fit.data, 0, 0, values, ""};
  std::size_t next = 0;
  for_each_objective(study, residuals, [&](const ObjectiveSpec& spec, const ObjectiveResiduals& found) {
    const double in_objective = per_objective[next++];
    if (!spec.loss) return;
    result.chi_squared += found.squares - in_objective;
    result.outlier_squares += found.outlier_squares;
    result.outliers += found.outliers;
  });
  if (fit.has_estimated_deviations())
    result.why_not = "how well the model fits is not judged: standard deviations of data were estimated from "
                     "what it leaves of them";
  else if (!fit.is_chi_squared)
    result.why_not = "how well the model fits is not judged: the objective is not the chi^2 of data in their "
                     "standard deviations, each counted once";
  else if (static_cast<double>(result.data - result.outliers) <= values)
    result.why_not = fmt::format("how well the model fits is not judged: {} data leave nothing to judge {:g} "
                                 "fitted values by",
                                 result.data - result.outliers, values);
  return result;
}

Verdict judge(Ending ending, const std::string& reason, const JudgedSquares& squares,
              const std::filesystem::path& result) {
  Verdict verdict;
  std::string bad;
  if (squares.why_not.empty()) {
    const double degrees = static_cast<double>(squares.data - squares.outliers) - squares.values;
    const double judged = squares.chi_squared - squares.outlier_squares;
    verdict.p_value =
        inverse::chi_squared_p_value(judged, static_cast<std::size_t>(std::max(1.0, std::round(degrees))));
    if (*verdict.p_value < least_p_value)
      bad = judged > degrees ? "the residuals are too large for the standard deviations of the data: wrong "
                               "data, units or standard deviations, a model that lacks something, or a "
                               "minimum that is not the lowest"
                             : "the residuals are too small for the standard deviations of the data: these "
                               "are too large, or the data are smoothed or simulated without noise";
    if (static_cast<double>(squares.outliers) > most_outliers * static_cast<double>(squares.data))
      bad =
          fmt::format("{} of {} data are more than {:g} standard deviations off, too many to be left to the "
                      "loss",
                      squares.outliers, squares.data, ObjectiveResiduals::far);
  }
  if (ending != Ending::converged) {
    verdict.is = Verdict::Is::not_converged;
    verdict.reasons.push_back(why_not_converged(ending, reason, result));
  } else if (!bad.empty()) {
    verdict.is = Verdict::Is::bad_fit;
  }
  if (!bad.empty()) verdict.reasons.push_back(bad);
  if (!squares.why_not.empty()) verdict.reasons.push_back(squares.why_not);
  return verdict;
}

Json describe(const Verdict& verdict, const JudgedSquares& squares) {
  Json json{{"is", named(verdict.is)},
            {"reasons", verdict.reasons},
            {"p_value", verdict.p_value ? Json(*verdict.p_value) : Json(nullptr)}};
  if (verdict.p_value)
    json["judged"] = {{"chi_squared", squares.chi_squared - squares.outlier_squares},
                      {"data", squares.data - squares.outliers},
                      {"values", squares.values},
                      {"left_to_losses", squares.outliers}};
  if (!verdict.starts.empty()) json["minima"] = std::ranges::max(verdict.starts);
  return json;
}

std::string in_words(const Verdict& verdict, const JudgedSquares& squares) {
  std::string text = "verdict: " + named(verdict.is);
  if (verdict.p_value) text += "; " + chi_squared_in_words(squares, *verdict.p_value);
  if (!verdict.starts.empty()) text += "; " + starts_in_words(verdict.starts);
  for (const std::string& reason : verdict.reasons) text += "; " + reason;
  return text;
}

std::string value_with_deviation(double value, std::optional<double> deviation) {
  if (!deviation || !std::isfinite(*deviation) || *deviation <= 0) return fmt::format("{:.6g}", value);
  int place = place_of_first_digit(*deviation); // of the last digit that is kept
  if (*deviation / std::pow(10.0, place) < 3.55) --place;
  if (*deviation > std::abs(value)) {
    const int own = value != 0 ? std::min(place, place_of_first_digit(value)) : place;
    return rounded(value, own) + " ± " + rounded(*deviation, place);
  }
  if (is_written_out(value)) return rounded(value, place) + " ± " + rounded(*deviation, place);
  const int power = place_of_first_digit(value);
  const double scale = std::pow(10.0, power);
  return fmt::format("({} ± {})e{:+03d}", rounded(value / scale, place - power),
                     rounded(*deviation / scale, place - power), power);
}

} // namespace recoil::app
