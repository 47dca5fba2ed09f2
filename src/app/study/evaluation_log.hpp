#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/base/types.hpp"

namespace recoil::app {

/// What the forward run of an experiment has come to at a design.
struct ExperimentValue {
  static constexpr const char* what = "value";
  double objective = 0;
  std::vector<double> terms; ///< weighted, in the order of the study
  std::string failure;       ///< why there is no value; empty if there is one
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentValue, objective, terms, failure, seconds)
};

/// What the sweep through that run has come to.
struct ExperimentGradient {
  static constexpr const char* what = "gradient";
  std::vector<double> by_values; ///< of DesignSpace
  std::string failure;           ///< why there is none; empty if there is one
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentGradient, by_values, failure, seconds)
};

/// What a tangent-linear and a reverse sweep through it have come to, of a design and a direction: J'J d with
/// J = dr/dq.
struct ExperimentProduct : ExperimentGradient {
  static constexpr const char* what = "product";
};

/// What tangent-linear sweeps through that run have come to.
struct ExperimentFactor {
  static constexpr const char* what = "factor";
  /// The upper triangular factor of [dr/dx r], r the residuals and x the variables, column by column.
  std::vector<double> columns;
  std::string failure; ///< why there is none; empty if there is one
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentFactor, columns, failure, seconds)
};

/// Adds a line "crc32 json" to the file of a group of ranks, which holds every evaluation of an experiment
/// that it has finished; `design`: what the result belongs to. On one rank. @throws FileError where the line
/// cannot be written and forced to the disk.
void add_evaluation(const std::filesystem::path& file, std::span<const double> design, int experiment,
                    const char* what, nlohmann::json result, double wall_seconds);

/// What the files of all groups in a folder hold, those of earlier processes among them, so that an
/// optimisation that continues repeats nothing. Designs are known by their bits. On one rank.
class EvaluationLog {
public:
  /// Makes the folder, or reads what is there. The last line of a file, which a process that was killed may
  /// have left half written, is removed. @throws FileError, also where a line before it is damaged.
  explicit EvaluationLog(std::filesystem::path folder);
  /// Reads what has been added since. @pre no writer is at work. @throws FileError.
  void read();

  /// @throws FileError where a line cannot be read again.
  template <class Result>
  std::optional<Result> find(std::span<const double> design, int experiment) const {
    const auto line = find_line(design, experiment, Result::what);
    return line ? std::optional<Result>(line->template get<Result>()) : std::nullopt;
  }

  static std::filesystem::path file_of_group(const std::filesystem::path& folder, int group);
  /// Wall time of all processes until the last line [s].
  double wall_seconds() const { return wall_seconds_; }

private:
  /// Design, experiment and what was evaluated there.
  using Key = std::tuple<std::string, int, std::string>;
  struct Place {
    std::filesystem::path file;
    std::uintmax_t offset;
  };

  void read_rest(const std::filesystem::path& path);
  std::optional<nlohmann::json> find_line(std::span<const double> design, int experiment,
                                          const char* what) const;

  std::filesystem::path folder_;
  std::map<Key, Place> places_;
  std::map<std::filesystem::path, std::uintmax_t> sizes_; ///< of what has been read
  double wall_seconds_ = 0;
};

} // namespace recoil::app
