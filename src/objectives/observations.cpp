#include "recoil/objectives/observations.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "objectives/time_tolerance.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::objectives {

namespace {

std::string read_everywhere(const parallel::Communicator& comm, const std::filesystem::path& path) {
  std::string text;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      throw InputError(path.string() + ":1: is a folder, not a CSV file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(path.string() + ":1: the file does not exist or cannot be read");
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) throw InputError(path.string() + ":1: the file cannot be read");
  });
  comm.broadcast(text);
  // Spreadsheets begin UTF-8 with a mark.
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// A CSV file without quotes, line by line.
class CsvReader {
public:
  CsvReader(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {}

  /// The cells of the next line that is not the empty rest of the file; false at its end.
  bool next(std::vector<std::string_view>& cells) {
    cells.clear();
    if (trimmed_rest_is_empty()) return false;
    const auto end = std::min(text_.find('\n', position_), text_.size());
    std::string_view line = std::string_view(text_).substr(position_, end - position_);
    position_ = std::min(end + 1, text_.size());
    ++line_;
    for (;;) {
      const auto comma = line.find(',');
      cells.push_back(trimmed(line.substr(0, comma)));
      if (comma == std::string_view::npos) return true;
      line.remove_prefix(comma + 1);
    }
  }

  double number(std::string_view cell, std::string_view column) const {
    std::string_view digits = cell;
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
      fail("'" + std::string(cell) + "' in column '" + std::string(column) + "' is not a finite number");
    return value;
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(name_ + ":" + std::to_string(std::max(line_, 1)), message);
  }
  const std::string& name() const { return name_; }

private:
  bool trimmed_rest_is_empty() const { return text_.find_first_not_of(" \t\r\n", position_) == text_.npos; }

  std::string text_, name_;
  std::size_t position_ = 0;
  int line_ = 0;
};

std::string joined(const std::vector<std::string_view>& cells) {
  std::string text;
  for (const std::string_view cell : cells) text += (text.empty() ? "" : ",") + std::string(cell);
  return text;
}

/// Checks the header; true if it ends with sd.
template <int dim>
bool read_header(CsvReader& reader, bool with_marker, const std::array<std::string_view, 3>& observed,
                 std::vector<std::string_view>& columns) {
  std::vector<std::string_view> expected{"time"};
  if (with_marker) expected.push_back("marker");
  expected.insert(expected.end(), observed.begin(), observed.begin() + dim);
  std::vector<std::string_view> given;
  reader.next(given);
  columns = expected;
  if (given == expected) return false;
  columns.push_back("sd");
  if (given == columns) return true;
  reader.fail("the header is '" + joined(given) + "' but must be '" + joined(expected) + "' or '" +
              joined(columns) + "'" + (dim > 1 ? " in " + std::to_string(dim) + "D" : ""));
}

template <int dim>
using Sample = typename Track<dim>::Sample;

/// Adds one row to a track; coordinates start at `first`.
template <int dim>
void add_row(const CsvReader& reader, const std::vector<std::string_view>& columns,
             const std::vector<std::string_view>& cells, std::size_t first, bool with_sd, Track<dim>& track) {
  const double time = reader.number(cells[0], columns[0]);
  if (!track.times.empty() && !(time > track.times.back()))
    reader.fail("time " + std::string(cells[0]) + " does not come after the time before it" +
                (first > 1 ? " of this marker" : "") + "; times must increase");
  Sample<dim> sample{{}, 1};
  for (std::size_t i = 0; i < dim; ++i)
    sample.position[i] = reader.number(cells[first + i], columns[first + i]);
  if (with_sd) sample.sd = reader.number(cells.back(), columns.back());
  if (!(sample.sd > 0)) reader.fail("sd is " + std::string(cells.back()) + "; it must be positive");
  track.times.push_back(time);
  track.samples.push_back(sample);
}

void check_width(const CsvReader& reader, const std::vector<std::string_view>& columns,
                 const std::vector<std::string_view>& cells) {
  if (cells.size() != columns.size())
    reader.fail("the row has " + std::to_string(cells.size()) + " columns, the header " +
                std::to_string(columns.size()));
}

} // namespace

template <int dim>
typename Track<dim>::Sample Track<dim>::at(double time) const {
  RECOIL_ASSERT(!samples.empty());
  if (times.empty()) return samples.front();
  const double first = times.front(), last = times.back();
  const double tolerance = time_tolerance(times);
  if (!(time >= first - tolerance && time <= last + tolerance)) {
    std::ostringstream text;
    text.precision(12);
    text << "no observation at time " << time << " s; they run from " << first << " s to " << last << " s";
    throw InputError(origin, text.str());
  }
  const auto after = std::upper_bound(times.begin(), times.end(), time);
  if (after == times.begin()) return samples.front();
  if (after == times.end()) return samples.back();
  const std::size_t i = after - times.begin();
  const double share = (time - times[i - 1]) / (times[i] - times[i - 1]);
  return {(1 - share) * samples[i - 1].position + share * samples[i].position,
          (1 - share) * samples[i - 1].sd + share * samples[i].sd};
}

template <int dim>
Track<dim> read_track(const parallel::Communicator& comm, const std::filesystem::path& path,
                      const std::array<std::string_view, 3>& observed) {
  CsvReader reader(read_everywhere(comm, path), path.string());
  std::vector<std::string_view> columns, cells;
  const bool with_sd = read_header<dim>(reader, false, observed, columns);
  Track<dim> track{reader.name(), {}, {}};
  while (reader.next(cells)) {
    check_width(reader, columns, cells);
    add_row<dim>(reader, columns, cells, 1, with_sd, track);
  }
  if (track.times.empty()) reader.fail("no observation follows the header");
  return track;
}

template <int dim>
std::map<std::string, Track<dim>> read_marker_tracks(const parallel::Communicator& comm,
                                                     const std::filesystem::path& path,
                                                     const std::vector<std::string>& markers) {
  CsvReader reader(read_everywhere(comm, path), path.string());
  std::vector<std::string_view> columns, cells;
  const bool with_sd = read_header<dim>(reader, true, {"x", "y", "z"}, columns);
  std::map<std::string, Track<dim>> tracks;
  for (const std::string& marker : markers)
    tracks[marker] = Track<dim>{reader.name() + ", marker '" + marker + "'", {}, {}};
  while (reader.next(cells)) {
    check_width(reader, columns, cells);
    const auto found = tracks.find(std::string(cells[1]));
    if (found == tracks.end())
      reader.fail("marker '" + std::string(cells[1]) + "' is not defined" + did_you_mean(cells[1], markers));
    add_row<dim>(reader, columns, cells, 2, with_sd, found->second);
  }
  for (const std::string& marker : markers)
    if (tracks[marker].times.empty()) reader.fail("no observation of marker '" + marker + "'");
  return tracks;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template struct Track<dim>;                                                                                \
  template Track<dim> read_track(const parallel::Communicator&, const std::filesystem::path&,                \
                                 const std::array<std::string_view, 3>&);                                    \
  template std::map<std::string, Track<dim>> read_marker_tracks(                                             \
      const parallel::Communicator&, const std::filesystem::path&, const std::vector<std::string>&);
template struct Track<1>;
template Track<1> read_track(const parallel::Communicator&, const std::filesystem::path&,
                             const std::array<std::string_view, 3>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
