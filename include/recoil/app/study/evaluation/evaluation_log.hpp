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

// Results name what they are, and the member that is logged as an array next to the JSON of the others, if
// there is one.

template <class Result>
concept HasArray = requires {
  Result::array;
};

/// What the forward run of an experiment has come to at a design.
struct ExperimentValue {
  static constexpr const char* what = "value";
  double objective = 0;
  std::vector<double> terms; ///< weighted, in the order of the study
  std::string failure;       ///< why there is no value; empty if there is one
  double seconds = 0;
  GlobalIndex newton_iterations = 0;
  std::string run, near; ///< files of this known run and of the one that it started near; empty for none
  static constexpr auto array = &ExperimentValue::terms;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(ExperimentValue, objective, failure, seconds, newton_iterations,
                                              run, near)
};

/// What is in the way of its rest shape from another design to this one; logged under both, this one first.
struct ExperimentPath {
  static constexpr const char* what = "path";
  std::string failure;                ///< empty where nothing is
  GlobalIndex rest_intersections = 0; ///< of its surfaces
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(ExperimentPath, failure, rest_intersections, seconds)
};

/// What the sweep through that run has come to.
struct ExperimentGradient {
  static constexpr const char* what = "gradient";
  std::vector<double> by_values; ///< of DesignSpace
  std::string failure;           ///< why there is none; empty if there is one
  double seconds = 0;
  static constexpr auto array = &ExperimentGradient::by_values;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentGradient, failure, seconds)
};

/// What a tangent-linear and a reverse sweep through it have come to, of a design and a direction: J'J d with
/// J = dr/dq.
struct ExperimentProduct : ExperimentGradient {
  static constexpr const char* what = "product";
};

/// The sum of the products of all experiments.
struct ProductSum {
  static constexpr const char* what = "sum";
  static constexpr int experiment = -1; ///< stands for all
  std::vector<double> by_values;        ///< of DesignSpace
  std::vector<double> seconds;          ///< by experiment
  static constexpr auto array = &ProductSum::by_values;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ProductSum, seconds)
};

/// What tangent-linear sweeps through that run have come to.
struct ExperimentFactor {
  static constexpr const char* what = "factor";
  /// The upper triangular factors of [dr/dx r], r the residuals and x the variables, column by column: one of
  /// all data, or one of each part of them that shares a factor on its standard deviations.
  std::vector<double> columns;
  std::string failure; ///< why there is none; empty if there is one
  double seconds = 0;
  static constexpr auto array = &ExperimentFactor::columns;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentFactor, failure, seconds)
};

/// The residuals of an experiment, of all ranks.
struct ExperimentRows {
  static constexpr const char* what = "rows";
  std::vector<double> columns; ///< r
  std::string failure;         ///< why there are none; empty if there are
  double seconds = 0;
  static constexpr auto array = &ExperimentRows::columns;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentRows, failure, seconds)
};

/// Their derivatives, too: [dr/dx r] column by column.
struct ExperimentJacobian : ExperimentRows {
  static constexpr const char* what = "jacobian";
};

/// The bits of numbers in short: FNV-1a with 64 bits.
std::string name_of_numbers(std::span<const double> x);

/// What is being evaluated: a design, with the direction of a product or the start of a path behind it, and
/// the number of an experiment.
struct EvaluatedAt {
  std::span<const double> design;
  int experiment = 0;
};

/// A result as it is logged: `numbers` as bytes, the rest as JSON.
struct LoggedResult {
  nlohmann::json about;
  std::vector<double> numbers;
};

/// Adds a result to the log of a group of ranks, which holds every evaluation that it has finished: the
/// numbers to the array file beside `file`, then a line "crc32 json" with their place and CRC-32 to `file`.
/// On one rank. @throws FileError where they cannot be written and forced to the disk.
void add_logged(const std::filesystem::path& file, const EvaluatedAt& at, const char* what,
                LoggedResult result, double wall_seconds);

template <class Result>
void add_evaluation(const std::filesystem::path& file, const EvaluatedAt& at, const Result& result,
                    double wall_seconds) {
  LoggedResult logged{result, {}};
  if constexpr (HasArray<Result>) logged.numbers = result.*Result::array;
  add_logged(file, at, Result::what, std::move(logged), wall_seconds);
}

/// What the files of all groups in a folder hold, those of earlier processes among them, so that an
/// optimisation that continues repeats nothing. Designs are known by their bits. On one rank.
class EvaluationLog {
public:
  /// Makes the folder, or reads what is there. What a process that was killed has left half written at the
  /// ends of the files is removed. @throws FileError, also where something before it is damaged.
  explicit EvaluationLog(std::filesystem::path folder);
  /// Reads what has been added since. @pre no writer is at work. @throws FileError.
  void read();

  /// @throws FileError where a result cannot be read again.
  template <class Result>
  std::optional<Result> find(const EvaluatedAt& at) const {
    std::optional<LoggedResult> logged = find_logged(at, Result::what);
    if (!logged) return {};
    auto result = logged->about.get<Result>();
    if constexpr (HasArray<Result>) result.*Result::array = std::move(logged->numbers);
    return result;
  }

  /// Forgets and removes what the summand files of all groups hold, whose sum has been added. @pre as read().
  /// @throws FileError.
  void drop_summands();

  static std::filesystem::path file_of_group(const std::filesystem::path& folder, int group);
  /// For what is only needed until its sum is there.
  static std::filesystem::path summand_file(const std::filesystem::path& folder, int group);
  /// The file with the numbers of the results in a file of a group.
  static std::filesystem::path array_file(std::filesystem::path file);
  /// Wall time of all processes until the last line [s].
  double wall_seconds() const { return wall_seconds_; }

private:
  /// Design, experiment and what was evaluated there.
  using Key = std::tuple<std::string, int, std::string>;
  struct Place {
    std::filesystem::path file;
    std::uintmax_t offset;
  };
  /// How much of a file and its array file has been read.
  struct Sizes {
    std::uintmax_t lines = 0, arrays = 0;
  };

  void read_rest(const std::filesystem::path& path);
  std::optional<LoggedResult> find_logged(const EvaluatedAt& at, const char* what) const;

  std::filesystem::path folder_;
  std::map<Key, Place> places_;
  std::map<std::filesystem::path, Sizes> sizes_;
  double wall_seconds_ = 0;
};

} // namespace recoil::app
