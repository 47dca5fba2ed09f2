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

namespace recoil::app {

/// What the forward run of an experiment has come to at a design.
struct ExperimentValue {
  double objective = 0;
  std::vector<double> terms; ///< weighted, in the order of the study
  std::string failure;       ///< why there is no value; empty if there is one
  double seconds = 0;
};

/// What the sweep through that run has come to.
struct ExperimentGradient {
  std::vector<double> by_values; ///< of DesignSpace
  std::string failure;           ///< why there is none; empty if there is one
  double seconds = 0;
};

/// Writes down every evaluation of an experiment when it is finished, in a file of one group of ranks: a line
/// "crc32 json" each. On one rank.
class EvaluationWriter {
public:
  explicit EvaluationWriter(std::filesystem::path file) : file_(std::move(file)) {}
  /// @throws FileError where the line cannot be written and forced to the disk.
  void add(std::span<const double> x, int experiment, const ExperimentValue& value,
           double wall_seconds) const;
  void add(std::span<const double> x, int experiment, const ExperimentGradient& gradient,
           double wall_seconds) const;

private:
  void append(nlohmann::json line) const;
  std::filesystem::path file_;
};

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
  std::optional<ExperimentValue> find_value(std::span<const double> x, int experiment) const;
  std::optional<ExperimentGradient> find_gradient(std::span<const double> x, int experiment) const;

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
  std::optional<nlohmann::json> find(const Key& key) const;

  std::filesystem::path folder_;
  std::map<Key, Place> places_;
  std::map<std::filesystem::path, std::uintmax_t> sizes_; ///< of what has been read
  double wall_seconds_ = 0;
};

} // namespace recoil::app
