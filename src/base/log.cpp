#include "recoil/base/log.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <fcntl.h>

#include "base/console.hpp"
#include "base/posix_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/option_names.hpp"

namespace recoil {

namespace {

namespace level = spdlog::level;

struct LevelName {
  level::level_enum spdlog_level;
  const char* name;
};
/// In the order of LogLevel.
constexpr LevelName levels[] = {
    {level::debug, "debug"}, {level::info, "info"}, {level::warn, "warning"}, {level::err, "error"}};

const LevelName& level_of(LogLevel level) { return levels[static_cast<std::size_t>(level)]; }

// A sink's own level decides; lines come from spdlog without line ends and go to the shared console.
class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit ConsoleSink(bool one_stream) : one_stream_(one_stream) {}

private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const bool serious = !one_stream_ && message.level >= level::warn;
    std::string line = !serious ? "" : message.level == level::warn ? "warning: " : "error: ";
    line.append(message.payload.data(), message.payload.size());
    console::write_line(serious ? stderr : stdout, line);
  }
  void flush_() override {}

  bool one_stream_;
};

// Writes every line through to the file. A disk that is full costs lines of the log, not the run: the first
// failure is told on the console, and later lines are tried again.
class FileSink : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit FileSink(const std::filesystem::path& path)
      : spdlog::sinks::base_sink<std::mutex>(
            std::make_unique<spdlog::pattern_formatter>("%Y-%m-%d %H:%M:%S.%e %l: %v")),
        path_(path), file_(open_to_append(path)) {
    if (!file_) throw FileError("cannot open the log file '" + path.string() + "': " + std::strerror(errno));
  }
  ~FileSink() override { std::fclose(file_); }

private:
  /// Not through a link, which may lead out of the folder of the run.
  static std::FILE* open_to_append(const std::filesystem::path& path) {
    posix::Descriptor file = posix::open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
    return file.ok() ? ::fdopen(file.release(), "a") : nullptr;
  }

  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    errno = 0;
    const bool written =
        std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fflush(file_) == 0;
    if (written || warned_) {
      std::clearerr(file_);
      return;
    }
    console::write_line(stderr, "warning: cannot write the log file '" + path_.string() +
                                    "': " + std::strerror(errno) + "; the run continues without it");
    warned_ = true;
    std::clearerr(file_);
  }
  void flush_() override {}

  std::filesystem::path path_;
  std::FILE* file_;
  bool warned_ = false;
};

struct State {
  std::shared_ptr<spdlog::logger> console, file;
  bool json_lines = false;
};

std::shared_ptr<spdlog::logger> make_logger(std::shared_ptr<spdlog::sinks::sink> sink,
                                            level::level_enum lowest) {
  auto logger = std::make_shared<spdlog::logger>("recoil", std::move(sink));
  logger->set_level(lowest);
  return logger;
}

bool takes(const std::shared_ptr<spdlog::logger>& logger, level::level_enum message_level) {
  return logger && logger->should_log(message_level);
}

std::shared_ptr<const State>& state_slot() {
  static auto* slot = new std::shared_ptr<const State>([] {
    auto state = std::make_shared<State>();
    state->console = make_logger(std::make_shared<ConsoleSink>(false), level::warn);
    return state;
  }());
  return *slot;
}
/// Texts of log_warning_once().
struct Told {
  std::mutex mutex;
  std::set<std::string, std::less<>> messages;
};
Told& told() {
  static auto* told = new Told;
  return *told;
}

std::shared_ptr<const State> current_state() { return std::atomic_load(&state_slot()); }

// Length of the well-formed UTF-8 sequence at `text[i]`, 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const auto follows = [&](std::size_t k) { return (byte(k) & 0xc0u) == 0x80u; };
  const unsigned first = byte(i), second = byte(i + 1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(i + 1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second >= 0xa0;
    return follows(i + 1) && follows(i + 2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool overlong = first == 0xf0 && second < 0x90, too_large = first == 0xf4 && second >= 0x90;
    return follows(i + 1) && follows(i + 2) && follows(i + 3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

void append_json_string(std::string& line, std::string_view text) {
  line += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      line += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      line += {'\\', c};
    } else if (c == '\n') {
      line += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      line += code;
    } else {
      line += text.substr(i, length);
    }
    i += length ? length : 1;
  }
  line += '"';
}

std::string to_text(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string plain_value(const LogField& field) {
  if (const auto* flag = std::get_if<bool>(&field.value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&field.value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&field.value)) return to_text(*real, 6);
  return std::get<std::string>(field.value);
}

std::string plain_line(std::string_view message, LogFields fields) {
  std::string line(message);
  for (const LogField& field : fields)
    line.append(" ").append(field.key).append("=").append(plain_value(field));
  return line;
}

std::string json_line(const char* level_name, std::string_view message, LogFields fields) {
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  char time[32];
  std::snprintf(time, sizeof time, "%.3f", now);
  std::string line = "{\"time\":" + std::string(time) + ",\"level\":\"" + level_name + "\",\"message\":";
  append_json_string(line, message);
  for (const LogField& field : fields) {
    line += ',';
    append_json_string(line, field.key);
    line += ':';
    const auto* real = std::get_if<double>(&field.value);
    if (real && std::isfinite(*real))
      line += to_text(*real, 17);
    else if (real || std::holds_alternative<std::string>(field.value)) // JSON knows no infinity
      append_json_string(line, plain_value(field));
    else
      line += plain_value(field);
  }
  return line + "}";
}

} // namespace

void initialize_log(const LogOptions& options) {
  auto state = std::make_shared<State>();
  state->json_lines = options.json_lines;
  console::allow_status(options.rank == 0 && !options.quiet && !options.json_lines);
  if (options.rank == 0) {
    const auto lowest = level_of(options.level).spdlog_level;
    state->console = make_logger(std::make_shared<ConsoleSink>(options.json_lines),
                                 options.quiet ? std::max(lowest, level::warn) : lowest);
    if (!options.file.empty()) state->file = make_logger(std::make_shared<FileSink>(options.file), lowest);
  }
  std::atomic_store(&state_slot(), std::shared_ptr<const State>(std::move(state)));
  const std::lock_guard lock(told().mutex);
  told().messages.clear();
}

void log_message(LogLevel log_level, std::string_view text, LogFields fields) {
  const auto state = current_state();
  const auto& [level, name] = level_of(log_level);
  if (!takes(state->console, level) && !takes(state->file, level)) return;
  const std::string message = name_options(text);
  if (takes(state->console, level))
    state->console->log(level, spdlog::string_view_t(state->json_lines ? json_line(name, message, fields)
                                                                       : plain_line(message, fields)));
  if (takes(state->file, level)) state->file->log(level, spdlog::string_view_t(plain_line(message, fields)));
}

void log_warning_once(std::string_view message) {
  {
    const std::lock_guard lock(told().mutex);
    if (!told().messages.emplace(message).second) return;
  }
  log_warning(message);
}

bool log_shows(LogLevel log_level) {
  const auto state = current_state();
  const auto level = level_of(log_level).spdlog_level;
  return takes(state->console, level) || takes(state->file, level);
}

} // namespace recoil
