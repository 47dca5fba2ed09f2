#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "recoil/parallel/communicator.hpp"

namespace recoil::objectives {

/// A point observed over time, or with dim = 1 a number.
template <int dim>
struct Track {
  using Point = Eigen::Matrix<double, dim, 1>;
  struct Sample {
    Point position; ///< [m]
    double sd;      ///< standard deviation of each component [m]
  };

  std::string origin;          ///< for messages: file, and marker if there are several
  std::vector<double> times;   ///< strictly increasing [s]
  std::vector<Sample> samples; ///< one per time; without times the one sample holds for ever

  /// The same position at all times.
  static Track constant(const Point& position, double sd = 1) { return {"", {}, {{position, sd}}}; }

  /// Position and sd, linear between the observations. Times beyond the ends by no more than rounding count
  /// as the ends. @throws InputError naming the origin and the observed interval for other times.
  Sample at(double time) const;
};

/// Reads a CSV file with the header `time,x,y[,z][,sd]` (z in 3D only), or with other names for what is
/// observed, and one row per observation, times strictly increasing, sd > 0 (1 where the column is missing).
/// Collective; only rank 0 touches the file.
/// @param columns what is observed; the first `dim` count.
/// @throws InputError "file:line: .." on every rank: no such file, another header, a row of another number of
/// columns, what is not a finite number, times that do not increase, no row at all.
template <int dim>
Track<dim> read_track(const parallel::Communicator& comm, const std::filesystem::path& path,
                      const std::array<std::string_view, 3>& columns = {"x", "y", "z"});

/// The same with the header `time,marker,x,y[,z][,sd]`: one track per name in `markers`, in any order of
/// rows, times strictly increasing for each marker. Collective.
/// @throws InputError also for a marker that is not in `markers` and one of `markers` without rows.
template <int dim>
std::map<std::string, Track<dim>> read_marker_tracks(const parallel::Communicator& comm,
                                                     const std::filesystem::path& path,
                                                     const std::vector<std::string>& markers);

} // namespace recoil::objectives
