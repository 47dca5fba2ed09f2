#include "recoil/objectives/observations.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "objectives/csv_reader.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/objectives/composition.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
using Sample = typename Track<dim>::Sample;

/// The columns of what is observed, and of its time and sd.
template <int dim>
class SampleColumns {
public:
  /// Checks the header. @param further columns that the file must have, too.
  /// @param abscissa what rows increase in.
  SampleColumns(CsvReader& reader, const std::vector<Column>& further,
                const std::array<std::string_view, 3>& observed, ColumnKind kind,
                const Column& abscissa = {"time", ColumnKind::time}) {
    std::vector<Column> columns{abscissa}, sds;
    columns.insert(columns.end(), further.begin(), further.end());
    for (int i = 0; i < dim; ++i) {
      columns.push_back({std::string(observed[i]), kind});
      sds.push_back({"sd_" + std::string(observed[i]), kind});
    }
    reader.expect(columns, dim > 1 ? std::vector<std::vector<Column>>{{{"sd", kind}}, sds}
                                   : std::vector<std::vector<Column>>{{{"sd", kind}}});
    abscissa_ = abscissa.name;
    time_ = reader.find(abscissa_);
    for (int i = 0; i < dim; ++i) {
      observed_[i] = reader.find(std::string(observed[i]));
      sd_[i] = reader.find(reader.has("sd") ? "sd" : sds[i].name);
    }
    with_sd_ = reader.has("sd") || reader.has(sds[0].name);
  }

  /// Adds one row to a track. @param whose " of this marker", where a file holds several tracks.
  void add_row(const CsvReader& reader, const std::string& whose, Track<dim>& track) const {
    const double time = reader.number(time_);
    if (!track.times.empty()) require_order(reader, whose, track.times, time);
    Sample<dim> sample;
    for (int i = 0; i < dim; ++i) {
      const auto seen = reader.number_or_gap(observed_[i]);
      sample.position[i] = seen.value_or(0);
      sample.inverse_sd[i] = seen ? 1 / (with_sd_ ? sd(reader, sd_[i]) : 1) : 0;
    }
    track.has_sd = with_sd_;
    track.times.push_back(time);
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
std::vector<PointTrack<dim>> read_displacement_field(const parallel::Communicator& comm,
                                                     const std::filesystem::path& path,
                                                     const UnitSystem& units) {
  constexpr std::array<const char*, 3> axes{"x", "y", "z"};
  CsvReader reader(comm, path, units);
  std::vector<Column> rest;
  for (int i = 0; i < dim; ++i) rest.push_back({axes[i], ColumnKind::length});
  const SampleColumns<dim> columns(reader, rest, {"ux", "uy", "uz"}, ColumnKind::length);
  std::vector<PointTrack<dim>> points;
  std::map<std::array<double, dim>, std::size_t> numbers;
  while (reader.next()) {
    std::array<double, dim> at;
    for (int i = 0; i < dim; ++i) at[i] = reader.number(reader.find(axes[i]));
    const auto [known, fresh] = numbers.emplace(at, points.size());
    if (fresh) {
      std::ostringstream place;
      place << reader.name() << ", point (";
      for (int i = 0; i < dim; ++i) place << (i > 0 ? ", " : "") << at[i];
      points.push_back(
          {Eigen::Map<const typename Track<dim>::Point>(at.data()), {place.str() + ")", {}, {}}});
    }
    columns.add_row(reader, " of this point", points[known->second].track);
  }
  std::erase_if(points, [](const auto& point) { return !was_ever_observed(point.track); });
  if (points.empty()) reader.fail("no observation follows the header");
  return points;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template struct Track<dim>;                                                                                \
  template Track<dim> read_track(const parallel::Communicator&, const std::filesystem::path&,                \
                                 const std::array<std::string_view, 3>&, Measured, const UnitSystem&);       \
  template std::map<std::string, Track<dim>> read_marker_tracks(                                             \
      const parallel::Communicator&, const std::filesystem::path&, const std::vector<std::string>&,          \
      const UnitSystem&);                                                                                    \
  template std::vector<PointTrack<dim>> read_displacement_field(                                             \
      const parallel::Communicator&, const std::filesystem::path&, const UnitSystem&);
template struct Track<1>;
template Track<1> read_track(const parallel::Communicator&, const std::filesystem::path&,
                             const std::array<std::string_view, 3>&, Measured, const UnitSystem&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
