#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/units.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::objectives {

/// What was measured, which decides the units that a file may have.
enum class Measured { length, strain, force };

/// A point observed over time, or with dim = 1 a number.
template <int dim>
struct Track {
  using Point = Eigen::Matrix<double, dim, 1>;
  struct Sample {
    Point position;   ///< [m]; 0 in components that were not observed
    Point inverse_sd; ///< 1 / standard deviation of each component [1/m]; 0 where it was not observed
  };

  std::string origin;          ///< for messages: file, and marker if there are several
  std::vector<double> times;   ///< strictly increasing [s]; displacements [m] of a load curve
  std::vector<Sample> samples; ///< one per time; without times the one sample holds for ever
  bool is_interpolated = true; ///< else nothing is observed but at the very `times`
  bool has_sd = false;         ///< the deviations are those of the data
  bool is_load_curve = false;  ///< over a displacement instead of time
  std::vector<int> lines = {}; ///< of the file, one per time; none where it is not of a file

  /// A track with the same position at all times.
  static Track constant(const Point& position, double sd = 1) {
    return {"", {}, {{position, Point::Constant(1 / sd)}}};
  }

  /// What was observed at a time: a sample where there is one, to rounding, else position and sd between its
  /// neighbours, linear in those components that both have. Times beyond the ends by no more than rounding
  /// count as the ends. @throws InputError naming the origin and the observed interval for other times,
  /// unless nothing is interpolated.
  Sample at(double time) const;
  /// The line of the file that at() is of; 0 where it lies between observations or is of no file.
  int line_at(double time) const;
  /// The times at which some component was observed, ascending.
  std::vector<double> observation_times() const;
};

/// Reads a CSV file with the columns `time`, `x`, `y`, `z` (in 3D only), or with other names for what is
/// observed, and where they are known `sd` or `sd_x`, `sd_y`, `sd_z`, in any order (else sd is 1), and one
/// row per observation, times strictly increasing, sd > 0. Separators, comments and units as docs/study.md
/// says. Components that are empty or NaN were not observed. Collective; only rank 0 touches the file.
/// @param columns what is observed; the first `dim` count.
/// @param measured is the length [m], strain or force [N] that was observed.
/// @param units to which numbers with a unit in the header are converted; others are taken as they are.
/// @throws InputError "file:line: .." on every rank: no such file, another header, a row of another number of
/// columns, what is not a finite number, times that do not increase, an observation without its sd, nothing
/// observed at all.
template <int dim>
Track<dim> read_track(const parallel::Communicator& comm, const std::filesystem::path& path,
                      const std::array<std::string_view, 3>& columns = {"x", "y", "z"},
                      Measured measured = Measured::length, const UnitSystem& units = {});

/// Forces, in the column `force`, over `time` or over `displacement`, which increases or decreases strictly;
/// else as read_track(). Collective. @throws InputError as read_track().
Track<1> read_forces(const parallel::Communicator& comm, const std::filesystem::path& path,
                     const UnitSystem& units = {});

/// Reads tracks with a column `marker`: one track per name in `markers`, in any order of rows, times strictly
/// increasing for each marker. Collective.
/// @throws InputError also for a marker that is not in `markers` and one of `markers` without observations.
template <int dim>
std::map<std::string, Track<dim>>
read_marker_tracks(const parallel::Communicator& comm, const std::filesystem::path& path,
                   const std::vector<std::string>& markers, const UnitSystem& units = {});

/// A point by its rest position, and what was observed of it.
template <int dim>
struct PointTrack {
  Eigen::Matrix<double, dim, 1> rest; ///< [m]
  Track<dim> track;
};

/// Reads tracks with the columns `time`, `x`, `y`, `z` for rest positions and `ux`, `uy`, `uz` for
/// displacements, which are what is observed: one track per rest position, in the order in which they first
/// occur. Points that were never seen are left out. Collective.
template <int dim>
std::vector<PointTrack<dim>> read_displacement_field(const parallel::Communicator& comm,
                                                     const std::filesystem::path& path,
                                                     const UnitSystem& units = {});

} // namespace recoil::objectives
