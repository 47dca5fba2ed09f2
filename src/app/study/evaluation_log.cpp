#include "app/study/evaluation_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;
using Line = nlohmann::json;

std::string seal(const std::string& text) {
  return fmt::format("{:08x} {}", crc32(std::as_bytes(std::span(text))), text);
}

/// What is sealed in a line without its end; nothing if it is not whole.
std::optional<Line> unseal(const std::string& line) {
  if (line.size() < 10) return {};
  const std::string text = line.substr(9);
  if (line != seal(text)) return {};
  return Line::parse(text);
}

/// The bits of a design in short: FNV-1a with 64 bits.
std::string name_of_design(std::span<const double> x) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte byte : std::as_bytes(x))
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

} // namespace

void add_evaluation(const fs::path& path, std::span<const double> design, int experiment, const char* what,
                    Line line, double wall_seconds) {
  line["x"] = name_of_design(design);
  line["experiment"] = experiment;
  line["what"] = what;
  line["wall_s"] = wall_seconds;
  {
    std::ofstream file(path, std::ios::binary | std::ios::app);
    file << seal(line.dump()) << '\n' << std::flush;
    if (!file) throw FileError(path.string() + ": cannot be written: " + std::strerror(errno));
  }
  fsync_file(path);
}

EvaluationLog::EvaluationLog(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) throw FileError(folder_.string() + ": cannot be made: " + error.message());
  read();
}

fs::path EvaluationLog::file_of_group(const fs::path& folder, int group) {
  return folder / fmt::format("{}.jsonl", group);
}

void EvaluationLog::read() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error))
    if (entry.path().extension() == ".jsonl") read_rest(entry.path());
  if (error) throw FileError(folder_.string() + ": cannot be listed: " + error.message());
}

void EvaluationLog::read_rest(const fs::path& path) {
  std::uintmax_t& size = sizes_[path];
  std::ifstream file(path, std::ios::binary);
  file.seekg(size);
  std::string line;
  while (std::getline(file, line)) {
    const std::optional<Line> content = file.eof() ? std::nullopt : unseal(line);
    if (!content) {
      if (file.peek() != std::ifstream::traits_type::eof())
        throw FileError(fmt::format("{}: the line at byte {} is damaged. Put a sound copy of the file in its "
                                    "place, or remove this line and all after it: what they hold is then "
                                    "evaluated again",
                                    path.string(), size));
      break;
    }
    places_[{content->at("x"), content->at("experiment"), content->at("what")}] = {path, size};
    wall_seconds_ = std::max<double>(wall_seconds_, content->at("wall_s"));
    size += line.size() + 1;
  }
  file.close();
  std::error_code error;
  if (fs::file_size(path, error) == size) return;
  fs::resize_file(path, size, error);
  if (error) throw FileError(path.string() + ": cannot be shortened: " + error.message());
}

std::optional<Line> EvaluationLog::find_line(std::span<const double> design, int experiment,
                                             const char* what) const {
  const auto found = places_.find({name_of_design(design), experiment, what});
  if (found == places_.end()) return {};
  const auto& [path, offset] = found->second;
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  std::string line;
  std::getline(file, line);
  std::optional<Line> content = unseal(line);
  if (!content) throw FileError(path.string() + ": cannot be read back, or was changed meanwhile");
  return content;
}

} // namespace recoil::app
