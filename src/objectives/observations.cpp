#include "recoil/objectives/observations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "objectives/csv_reader.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/objectives/composition.hpp"
#include "recoil/objectives/displacement_files.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
using Sample = typename Track<dim>::Sample;

/// The columns of what is observed, and of its time and sd.
template <int dim>
class SampleColumns {
public:
  /// Checks the header. @param further columns that the file must have, too.
  /// @param abscissa what rows increase in; no name: add_row() says.
  SampleColumns(CsvReader& reader, const std::vector<Column>& further,
                const std::array<std::string_view, 3>& observed, ColumnKind kind,
                const Column& abscissa = {"time", ColumnKind::time}) {
    std::vector<Column> columns, sds;
    if (!abscissa.name.empty()) columns.push_back(abscissa);
    columns.insert(columns.end(), further.begin(), further.end());
    for (int i = 0; i < dim; ++i) {
      columns.push_back({std::string(observed[i]), kind});
      sds.push_back({"sd_" + std::string(observed[i]), kind});
    }
    reader.expect(columns, dim > 1 ? std::vector<std::vector<Column>>{{{"sd", kind}}, sds}
                                   : std::vector<std::vector<Column>>{{{"sd", kind}}});
    abscissa_ = abscissa.name;
    time_ = abscissa_.empty() ? 0 : reader.find(abscissa_);
    for (int i = 0; i < dim; ++i) {
      observed_[i] = reader.find(std::string(observed[i]));
      sd_[i] = reader.find(reader.has("sd") ? "sd" : sds[i].name);
    }
    with_sd_ = reader.has("sd") || reader.has(sds[0].name);
  }

  /// Adds one row to a track. @param whose " of this marker", where a file holds several tracks.
  void add_row(const CsvReader& reader, const std::string& whose, Track<dim>& track,
               double sd_without_column = 0) const {
    const double time = reader.number(time_);
    if (!track.times.empty()) require_order(reader, whose, track.times, time);
    track.times.push_back(time);
    add_sample(reader, track, sd_without_column);
  }
  /// Adds the row without its time.
  void add_sample(const CsvReader& reader, Track<dim>& track, double sd_without_column = 0) const {
    const double without = sd_without_column > 0 ? 1 / sd_without_column : 1;
    Sample<dim> sample;
    for (int i = 0; i < dim; ++i) {
      const auto seen = reader.number_or_gap(observed_[i]);
      sample.position[i] = seen.value_or(0);
      sample.inverse_sd[i] = !seen ? 0 : with_sd_ ? 1 / sd(reader, sd_[i]) : without;
    }
    track.has_sd = with_sd_ || sd_without_column > 0;
    track.samples.push_back(sample);
    track.lines.push_back(reader.line());
  }

private:
  void require_order(const CsvReader& reader, const std::string& whose, const std::vector<double>& before,
                     double time) const {
    const bool is_second = before.size() == 1;
    const bool may_rise = is_second || before[1] > before[0];
    const bool may_fall = abscissa_ == "displacement" && (is_second || before[1] < before[0]);
    if ((may_rise && time > before.back()) || (may_fall && time < before.back())) return;
    const std::string text(reader.text(time_));
    if (abscissa_ == "time")
      reader.fail("time " + text + " does not come after the time before it" + whose +
                  "; times must increase");
    reader.fail("displacement " + text + " does not continue in the direction of those before it; " +
                "displacements must increase, or decrease, from row to row");
  }
  static double sd(const CsvReader& reader, std::size_t column) {
    const double sd = reader.number(column);
    if (!(sd > 0)) reader.fail("sd is " + std::string(reader.text(column)) + "; it must be positive");
    return sd;
  }

  std::string abscissa_;
  std::size_t time_;
  std::array<std::size_t, dim> observed_, sd_;
  bool with_sd_;
};

template <int dim>
bool was_observed(const Sample<dim>& sample) {
  return !sample.inverse_sd.isZero(0);
}

template <int dim>
bool was_ever_observed(const Track<dim>& track) {
  return std::ranges::any_of(track.samples, was_observed<dim>);
}

/// Between two samples, `share` of the way.
template <int dim>
Sample<dim> between(const Sample<dim>& before, const Sample<dim>& after, double share) {
  Sample<dim> result{Track<dim>::Point::Zero(), Track<dim>::Point::Zero()};
  for (int i = 0; i < dim; ++i) {
    if (before.inverse_sd[i] == 0 || after.inverse_sd[i] == 0) continue;
    result.position[i] = (1 - share) * before.position[i] + share * after.position[i];
    result.inverse_sd[i] = 1 / ((1 - share) / before.inverse_sd[i] + share / after.inverse_sd[i]);
  }
  return result;
}

/// All rows, as observations of one thing.
template <int dim>
Track<dim> read_rows(CsvReader& reader, const SampleColumns<dim>& columns) {
  Track<dim> track{reader.name(), {}, {}};
  while (reader.next()) columns.add_row(reader, "", track);
  if (!was_ever_observed(track)) reader.fail("no observation follows the header");
  return track;
}

/// How a program names what it exports, positions at rest and displacements.
struct ExportLayout {
  std::array<const char*, 3> rest, displacement;
};
constexpr std::array export_layouts{
    ExportLayout{{"x", "y", "z"}, {"ux", "uy", "uz"}},
    ExportLayout{{"X", "Y", "Z"}, {"U", "V", "W"}}, // VIC-3D; x, y, u, v beside them are pixels
    ExportLayout{{"coor.X", "coor.Y", "coor.Z"}, {"disp.X", "disp.Y", "disp.Z"}}, // GOM
    ExportLayout{{"coor.X", "coor.Y", "coor.Z"},
                 {"disp.Horizontal Displacement U", "disp.Vertical Displacement V", "disp.Out-Of-Plane: W"}},
    ExportLayout{{"x_c", "y_c", "z_c"}, {"u_c", "v_c", "w_c"}}, // VIC-2D
    ExportLayout{{"x", "y", "z"}, {"u", "v", "w"}},             // Ncorr, MatchID
    ExportLayout{{"x", "y", "z"}, {"Vx", "Vy", "Vz"}},          // DaVis
    ExportLayout{{"x", "y", "z"}, {"Displacement u", "Displacement v", "Displacement w"}}};

constexpr std::array<const char*, 3> rest_names{"x", "y", "z"}, displacement_names{"ux", "uy", "uz"};

/// Gives the columns of an export our names. @throws InputError where no layout fits.
template <int dim>
void take_layout(CsvReader& reader, const std::string& unit, bool takes_time) {
  const auto fits = [&](const ExportLayout& layout) {
    for (int i = 0; i < dim; ++i)
      if (!reader.has(layout.rest[i]) || !reader.has(layout.displacement[i])) return false;
    return true;
  };
  const auto found = std::ranges::find_if(export_layouts, fits);
  if (found == export_layouts.end())
    reader.fail(
        std::string("no columns of positions at rest and displacements; they are '") +
        (dim == 2 ? "x,y,ux,uy" : "x,y,z,ux,uy,uz") +
        "', or those of an export of VIC-3D (X, U), GOM (coor.X, disp.X), MatchID, Ncorr (x, u) or DaVis "
        "(x, Vx)" +
        (dim == 3 && reader.has("X") ? ", all three components of both" : ""));
  std::vector<std::pair<std::string, std::string>> names{{"sd", "sd"}};
  if (takes_time) names.emplace_back("time", "time");
  for (int i = 0; i < dim; ++i) {
    names.emplace_back(found->rest[i], rest_names[i]);
    names.emplace_back(found->displacement[i], displacement_names[i]);
    const std::string sd = std::string("sd_") + displacement_names[i];
    names.emplace_back(sd, sd);
  }
  const std::vector<std::string> passed_over = reader.rename(names, unit);
  if (!passed_over.empty())
    log_info(fmt::format("{}: no use for the column{} {}", reader.name(), passed_over.size() > 1 ? "s" : "",
                         list_names(passed_over, "and")));
}

/// What a file of displacements holds.
template <int dim>
class DisplacementReader {
public:
  DisplacementReader(const parallel::Communicator& comm, const std::filesystem::path& path,
                     const UnitSystem& units, const DisplacementFiles& from)
      : reader_(comm, path, units), has_time_(from.times.empty() && reader_.has("time")) {
    if (!has_time_ && from.times.empty() && !from.has_one_time)
      reader_.fail("column 'time' is missing; a file per time takes `stages` and their `times`");
    if (reader_.has("sigma")) sigma_ = reader_.find("sigma");
    take_layout<dim>(reader_, from.unit, has_time_);
    std::vector<Column> rest;
    for (int i = 0; i < dim; ++i) rest.push_back({rest_names[i], ColumnKind::length});
    columns_.emplace(reader_, rest, std::array<std::string_view, 3>{"ux", "uy", "uz"}, ColumnKind::length,
                     has_time_ ? Column{"time", ColumnKind::time} : Column{"", ColumnKind::time});
    for (int i = 0; i < dim; ++i) rest_[i] = reader_.find(rest_names[i]);
  }

  CsvReader& csv() { return reader_; }
  bool next() {
    while (reader_.next())
      if (!sigma_ || reader_.number_or_gap(*sigma_).value_or(0) >= 0) return true;
    return false;
  }
  std::array<double, dim> rest() const {
    std::array<double, dim> at;
    for (int i = 0; i < dim; ++i) at[i] = reader_.number(rest_[i]);
    return at;
  }
  /// @param time of the file; null: it has none.
  void add_row(Track<dim>& track, const double* time, double sd) const {
    if (has_time_) return columns_->add_row(reader_, " of this point", track, sd);
    if (!track.samples.empty() && (!time || track.times.back() == *time))
      reader_.fail("this point is there a second time; keep one row for each");
    if (time) track.times.push_back(*time);
    columns_->add_sample(reader_, track, sd);
  }

private:
  CsvReader reader_;
  bool has_time_;
  std::optional<std::size_t> sigma_;
  std::optional<SampleColumns<dim>> columns_;
  std::array<std::size_t, dim> rest_;
};

ColumnKind kind_of(Measured measured) {
  if (measured == Measured::force) return ColumnKind::force;
  return measured == Measured::strain ? ColumnKind::strain : ColumnKind::length;
}

} // namespace

template <int dim>
typename Track<dim>::Sample Track<dim>::at(double time) const {
  RECOIL_ASSERT(!samples.empty());
  if (times.empty()) return samples.front();
  const auto after = std::ranges::lower_bound(times, time);
  const std::size_t i = after - times.begin();
  if (!is_interpolated)
    return after != times.end() && *after == time ? samples[i] : Sample{Point::Zero(), Point::Zero()};
  const double tolerance = time_tolerance(times);
  for (const std::size_t near : {i, i - 1})
    if (near < times.size() && std::abs(times[near] - time) <= tolerance) return samples[near];
  if (i > 0 && i < times.size())
    return between<dim>(samples[i - 1], samples[i], (time - times[i - 1]) / (times[i] - times[i - 1]));
  throw InputError(
      origin, fmt::format("no observation at {0} {2:.12g} {1}; they run from {3:.12g} {1} to {4:.12g} {1}",
                          is_load_curve ? "displacement" : "time", is_load_curve ? "m" : "s", time,
                          times.front(), times.back()));
}

template <int dim>
int Track<dim>::line_at(double time) const {
  if (lines.empty() || times.empty()) return 0;
  const std::size_t i = std::ranges::lower_bound(times, time) - times.begin();
  const double tolerance = is_interpolated ? time_tolerance(times) : 0;
  for (const std::size_t near : {i, i - 1})
    if (near < times.size() && std::abs(times[near] - time) <= tolerance) return lines[near];
  return 0;
}

template <int dim>
std::vector<double> Track<dim>::observation_times() const {
  std::vector<double> result;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (was_observed<dim>(samples[i])) result.push_back(times[i]);
  return result;
}

template <int dim>
Track<dim> read_track(const parallel::Communicator& comm, const std::filesystem::path& path,
                      const std::array<std::string_view, 3>& observed, Measured measured,
                      const UnitSystem& units) {
  CsvReader reader(comm, path, units);
  return read_rows(reader, SampleColumns<dim>(reader, {}, observed, kind_of(measured)));
}

Track<1> read_forces(const parallel::Communicator& comm, const std::filesystem::path& path,
                     const UnitSystem& units) {
  CsvReader reader(comm, path, units);
  const bool is_load_curve = reader.has("displacement") && !reader.has("time");
  const SampleColumns<1> columns(reader, {}, {"force"}, ColumnKind::force,
                                 is_load_curve ? Column{"displacement", ColumnKind::length}
                                               : Column{"time", ColumnKind::time});
  Track<1> track = read_rows(reader, columns);
  track.is_load_curve = is_load_curve;
  if (track.times.front() > track.times.back()) {
    std::ranges::reverse(track.times);
    std::ranges::reverse(track.samples);
    std::ranges::reverse(track.lines);
  }
  return track;
}

template <int dim>
std::map<std::string, Track<dim>>
read_marker_tracks(const parallel::Communicator& comm, const std::filesystem::path& path,
                   const std::vector<std::string>& markers, const UnitSystem& units) {
  CsvReader reader(comm, path, units);
  const SampleColumns<dim> columns(reader, {{"marker", ColumnKind::text}}, {"x", "y", "z"},
                                   ColumnKind::length);
  const std::size_t marker_column = reader.find("marker");
  std::map<std::string, Track<dim>> tracks;
  for (const std::string& marker : markers)
    tracks[marker] = Track<dim>{reader.name() + ", marker '" + marker + "'", {}, {}};
  while (reader.next()) {
    const std::string marker(reader.text(marker_column));
    const auto found = tracks.find(marker);
    if (found == tracks.end())
      reader.fail("marker '" + marker + "' is not defined" + did_you_mean(marker, markers));
    columns.add_row(reader, " of this marker", found->second);
  }
  for (const std::string& marker : markers)
    if (!was_ever_observed(tracks[marker])) reader.fail("no observation of marker '" + marker + "'");
  return tracks;
}

template <int dim>
std::vector<PointTrack<dim>> read_displacement_files(const parallel::Communicator& comm,
                                                     const DisplacementFiles& from, const UnitSystem& units) {
  std::vector<PointTrack<dim>> points;
  std::map<std::array<double, dim>, std::size_t> numbers;
  for (std::size_t stage = 0; stage < from.files.size(); ++stage) {
    DisplacementReader<dim> reader(comm, from.files[stage], units, from);
    const double* time = from.times.empty() ? nullptr : &from.times[stage];
    bool has_seen = false;
    while (reader.next()) {
      const std::array<double, dim> at = reader.rest();
      const auto [known, fresh] = numbers.emplace(at, points.size());
      if (fresh) {
        std::ostringstream place;
        place << reader.csv().name() << ", point (";
        for (int i = 0; i < dim; ++i) place << (i > 0 ? ", " : "") << at[i];
        points.push_back(
            {Eigen::Map<const typename Track<dim>::Point>(at.data()), {place.str() + ")", {}, {}}});
      }
      Track<dim>& track = points[known->second].track;
      reader.add_row(track, time, from.sd);
      has_seen |= was_observed<dim>(track.samples.back());
    }
    if (!has_seen) reader.csv().fail("no observation follows the header");
  }
  std::erase_if(points, [](const auto& point) { return !was_ever_observed(point.track); });
  return points;
}

template <int dim>
std::vector<PointTrack<dim>> read_displacement_field(const parallel::Communicator& comm,
                                                     const std::filesystem::path& path,
                                                     const UnitSystem& units) {
  return read_displacement_files<dim>(comm, {.files = {path}}, units);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template struct Track<dim>;                                                                                \
  template Track<dim> read_track(const parallel::Communicator&, const std::filesystem::path&,                \
                                 const std::array<std::string_view, 3>&, Measured, const UnitSystem&);       \
  template std::map<std::string, Track<dim>> read_marker_tracks(                                             \
      const parallel::Communicator&, const std::filesystem::path&, const std::vector<std::string>&,          \
      const UnitSystem&);                                                                                    \
  template std::vector<PointTrack<dim>> read_displacement_files(                                             \
      const parallel::Communicator&, const DisplacementFiles&, const UnitSystem&);                           \
  template std::vector<PointTrack<dim>> read_displacement_field(                                             \
      const parallel::Communicator&, const std::filesystem::path&, const UnitSystem&);
template struct Track<1>;
template Track<1> read_track(const parallel::Communicator&, const std::filesystem::path&,
                             const std::array<std::string_view, 3>&, Measured, const UnitSystem&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
