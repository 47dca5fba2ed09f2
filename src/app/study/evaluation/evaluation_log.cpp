#include "recoil/app/study/evaluation/evaluation_log.hpp"

#include <algorithm>
#include <cerrno>
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

constexpr const char* summand_ending = ".summands.jsonl";

/// The place of an array in its file [bytes], and its checksum.
struct ArrayPlace {
  std::uintmax_t offset = 0, size = 0;
  std::uint32_t crc32 = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ArrayPlace, offset, size, crc32)

  std::uintmax_t end() const { return offset + size; }
};

std::uintmax_t bytes_in(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return 0;
  if (error) throw FileError(path.string() + ": cannot be read: " + error.message());
  return size;
}

/// Returns where the bytes begin. They are on the disk before this ends.
std::uintmax_t add_bytes(const fs::path& path, std::span<const std::byte> bytes) {
  const std::uintmax_t begin = bytes_in(path);
  if (!append_to_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
    throw FileError(path.string() + ": cannot be written: " + std::strerror(errno));
  fsync_file(path);
  return begin;
}

void cut(const fs::path& path, std::uintmax_t size) {
  if (bytes_in(path) == size) return;
  std::error_code error;
  fs::resize_file(path, size, error);
  if (error) throw FileError(path.string() + ": cannot be shortened: " + error.message());
}

/// An array is on the disk before the line that names it: one that is not whole was damaged.
void require_whole(const fs::path& path, const ArrayPlace& array) {
  if (array.end() <= bytes_in(path) && file_crc32(path, array.offset, array.size) == array.crc32) return;
  throw FileError(
      fmt::format("{}: the array at byte {} is damaged. Put a sound copy of the file in its place, "
                  "or remove it and the file with the lines beside it: what they hold is then "
                  "evaluated again",
                  path.string(), array.offset));
}

} // namespace

std::string name_of_numbers(std::span<const double> x) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte byte : std::as_bytes(x))
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

void add_logged(const fs::path& path, const EvaluatedAt& at, const char* what, LoggedResult result,
                double wall_seconds) {
  const auto bytes = std::as_bytes(std::span(result.numbers));
  const ArrayPlace array{add_bytes(EvaluationLog::array_file(path), bytes), bytes.size(), crc32(bytes)};
  Line line = std::move(result.about);
  line["array"] = array;
  line["x"] = name_of_numbers(at.design);
  line["experiment"] = at.experiment;
  line["what"] = what;
  line["wall_s"] = wall_seconds;
  const std::string text = seal(line.dump()) + '\n';
  add_bytes(path, std::as_bytes(std::span(text)));
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

fs::path EvaluationLog::summand_file(const fs::path& folder, int group) {
  return folder / fmt::format("{}{}", group, summand_ending);
}

fs::path EvaluationLog::array_file(fs::path file) { return file.replace_extension(".arrays"); }

void EvaluationLog::read() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error))
    if (entry.path().extension() == ".jsonl") read_rest(entry.path());
  if (error) throw FileError(folder_.string() + ": cannot be listed: " + error.message());
}

void EvaluationLog::read_rest(const fs::path& path) {
  Sizes& sizes = sizes_[path];
  const fs::path arrays = array_file(path);
  std::ifstream file(path, std::ios::binary);
  file.seekg(sizes.lines);
  std::string line;
  while (std::getline(file, line)) {
    const std::optional<Line> content = file.eof() ? std::nullopt : unseal(line);
    if (!content) {
      if (file.peek() != std::ifstream::traits_type::eof())
        throw FileError(fmt::format("{}: the line at byte {} is damaged. Put a sound copy of the file in its "
                                    "place, or remove this line and all after it: what they hold is then "
                                    "evaluated again",
                                    path.string(), sizes.lines));
      break;
    }
    if (content->contains("array")) { // else of an earlier version: it is evaluated again
      const auto array = content->at("array").get<ArrayPlace>();
      require_whole(arrays, array);
      sizes.arrays = array.end();
      places_[{content->at("x"), content->at("experiment"), content->at("what")}] = {path, sizes.lines};
    }
    wall_seconds_ = std::max<double>(wall_seconds_, content->at("wall_s"));
    sizes.lines += line.size() + 1;
  }
  file.close();
  cut(path, sizes.lines);
  cut(arrays, sizes.arrays);
}

void EvaluationLog::drop_summands() {
  const auto is_of_summands = [](const fs::path& path) {
    return path.filename().string().ends_with(summand_ending);
  };
  std::erase_if(places_, [&](const auto& place) { return is_of_summands(place.second.file); });
  std::erase_if(sizes_, [&](const auto& read) {
    const fs::path& file = read.first;
    if (!is_of_summands(file)) return false;
    // Lines without their arrays would be damage.
    for (const fs::path& path : {file, array_file(file)}) {
      std::error_code error;
      fs::remove(path, error);
      if (error) throw FileError(path.string() + ": cannot be removed: " + error.message());
    }
    return true;
  });
}

std::optional<LoggedResult> EvaluationLog::find_logged(const EvaluatedAt& at, const char* what) const {
  const auto found = places_.find({name_of_numbers(at.design), at.experiment, what});
  if (found == places_.end()) return {};
  const auto& [path, offset] = found->second;
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  std::string line;
  std::getline(file, line);
  const std::optional<Line> content = unseal(line);
  if (!content) throw FileError(path.string() + ": cannot be read back, or was changed meanwhile");
  const auto array = content->at("array").get<ArrayPlace>();
  LoggedResult result{*content, std::vector<double>(array.size / sizeof(double))};
  const auto bytes = std::as_writable_bytes(std::span(result.numbers));
  std::ifstream numbers(array_file(path), std::ios::binary);
  numbers.seekg(array.offset);
  numbers.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  if (!numbers || crc32(bytes) != array.crc32)
    throw FileError(array_file(path).string() + ": cannot be read back, or was changed meanwhile");
  return result;
}

} // namespace recoil::app
