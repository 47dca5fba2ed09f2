#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "app/study/study_objective.hpp"

namespace recoil::app {

/// Values of all parameters, in physical units, beside those at the start: the member `parameters` of
/// fit.json; of fields the array in fit.h5. Not collective.
nlohmann::ordered_json describe_fitted_parameters(const Study& study, const DesignSpace& space,
                                                  std::span<const double> x);

/// Writes fit.h5 aside, then in its place: an array named after each parameter with one value per element or
/// vertex, a row per element or vertex of all bodies in file order, NaN where it has no value. No effect
/// where there is none. Collective. @throws FileError on every rank.
void write_fitted_fields(const parallel::Communicator& world, const Study& study, const DesignSpace& space,
                         std::span<const double> x, const std::filesystem::path& path);

/// history.csv: a row per iteration of each start.
class FitHistory {
public:
  FitHistory(const Study& study, const DesignSpace& space, std::filesystem::path path);
  /// Adds a row, and replaces the file; starts count from 1. On one rank. @throws FileError.
  void add(std::int64_t start, const linalg::Iterate& at, const StudyObjective& objective);

private:
  const DesignSpace& space_;
  std::filesystem::path path_;
  std::string text_;
};

} // namespace recoil::app
