#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

/// The log of the process: console lines on rank 0, and optionally a file. Before initialize_log, warnings
/// and errors go to the console of every rank. Thread safe; nothing here throws after initialize_log, a full
/// disk included.
namespace recoil {

enum class LogLevel : int { debug, info, warning, error };

struct LogOptions {
  /// Rank of this process; all but 0 are silent and write no file.
  int rank = 0;
  /// The least serious level that is shown and written.
  LogLevel level = LogLevel::info;
  /// File that takes the same lines with time stamps, appended to; none where empty.
  std::filesystem::path file = {};
  /// Console shows warnings and errors only; the file still takes everything.
  bool quiet = false;
  /// Console lines are JSON objects {"time", "level", "message", fields...}, one per line, all on standard
  /// output.
  bool json_lines = false;
};

/// A value that belongs to a message: " key=value" after the text, or a member of the JSON object.
struct LogField {
  template <class Value>
  LogField(std::string_view name, const Value& content) : key(name) {
    if constexpr (std::is_same_v<Value, bool>)
      value = content;
    else if constexpr (std::is_integral_v<Value>)
      value = static_cast<std::int64_t>(content);
    else if constexpr (std::is_floating_point_v<Value>)
      value = static_cast<double>(content);
    else
      value = std::string(content);
  }
  std::string_view key;
  std::variant<bool, std::int64_t, double, std::string> value;
};
using LogFields = std::initializer_list<LogField>;

/// Sets the log up again; the application calls it once it knows rank and options. Plain text puts debug and
/// info lines on standard output, warnings and errors on standard error. @throws FileError when the file
/// cannot be opened (rank 0).
void initialize_log(const LogOptions& options);

/// One message of `level`, formatted by the caller (fmt::format, std::to_string). Not collective.
void log_message(LogLevel level, std::string_view message, LogFields fields = {});
inline void log_debug(std::string_view message, LogFields fields = {}) {
  log_message(LogLevel::debug, message, fields);
}
inline void log_info(std::string_view message, LogFields fields = {}) {
  log_message(LogLevel::info, message, fields);
}
inline void log_warning(std::string_view message, LogFields fields = {}) {
  log_message(LogLevel::warning, message, fields);
}
/// A warning of what is built again and again: only the first of equal ones since initialize_log.
void log_warning_once(std::string_view message);
inline void log_error(std::string_view message, LogFields fields = {}) {
  log_message(LogLevel::error, message, fields);
}

/// True where a message of `level` would go somewhere: guards messages that are costly to format.
bool log_shows(LogLevel level);

} // namespace recoil
