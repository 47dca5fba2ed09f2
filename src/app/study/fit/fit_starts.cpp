#include "app/study/fit/fit_starts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recoil/inverse/sobol.hpp"

namespace recoil::app {

namespace {

/// Why a fit has one start unless its study says how many; empty where it has more.
std::string why_one_start(const Study& study, const DesignSpace& space, linalg::DescentMethod method) {
  if (method != linalg::DescentMethod::gauss_newton) return "the method is not Gauss-Newton";
  if (space.num_variables() > most_spread_variables)
    return fmt::format("there are more than {} values", most_spread_variables);
  for (const ParameterSpec& parameter : study.parameters) {
    if (parameter.tie) continue;
    if (parameter.basis) return fmt::format("'{}' is a shape", parameter.name);
    if (!parameter.is_bounded()) return fmt::format("'{}' has no bounds", parameter.name);
  }
  return "";
}

} // namespace

FitStarts find_starts(const Study& study, const DesignSpace& space, linalg::DescentMethod method) {
  FitStarts result{{space.variables().start}, ""};
  int count = study.optimizer.starts.value_or(1);
  if (!study.optimizer.starts) {
    const std::string why_one = why_one_start(study, space, method);
    if (why_one.empty()) {
      count = most_automatic_starts;
      result.about = fmt::format("{} starts, as all values have bounds; optimizer/starts 1 does with that of "
                                 "the study",
                                 count);
    } else if (std::ranges::any_of(study.parameters, [](const auto& one) { return one.is_bounded(); })) {
      result.about = "one start, since " + why_one + "; optimizer/starts says how many";
    }
  }
  if (count > 1)
    for (const std::vector<double>& shares :
         inverse::sobol_points(count - 1, space.num_variables(), study.optimizer.seed))
      result.points.push_back(space.between_bounds(shares));
  return result;
}

RankDivision divide_ranks(const Study& study, int ranks, int starts) {
  const int all = std::min(ranks, study.optimizer.groups.value_or(ranks));
  RankDivision result;
  if (study.optimizer.on_failure != FailedRun::drop) result.parts = std::min(starts, all);
  result.groups_per_part = std::min<int>(all / result.parts, std::ssize(study.experiments));
  return result;
}

std::filesystem::path evaluations_of_start(const std::filesystem::path& fit, std::size_t start) {
  const std::filesystem::path folder = fit / "evaluations";
  return start == 0 ? folder : folder / fmt::format("start-{}", start + 1);
}

} // namespace recoil::app
