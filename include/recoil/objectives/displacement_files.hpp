#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recoil/objectives/observations.hpp"

namespace recoil::objectives {

/// Files of a digital image correlation.
struct DisplacementFiles {
  std::vector<std::filesystem::path> files = {};
  std::vector<double> times = {}; ///< of the files, ascending [s]; empty: the column `time` says
  bool has_one_time = false;      ///< without that column rows hold for all times
  double sd = 0;                  ///< of each component where a file says none [m]; 0: 1, of unknown size
  std::string unit = {};          ///< of lengths where the header says none; empty: those of the result
};

/// Reads tracks of displacements by rest position, as read_displacement_field(), from one file, or from a
/// file per time. Besides the columns `x`, `y`, `z`, `ux`, `uy`, `uz` those of the exports of VIC-3D, GOM
/// (ARAMIS), MatchID, Ncorr and DaVis are known (docs/study.md lists their names); `sigma` below zero
/// (VIC-3D) is a point that was not found. Other columns are passed over, which is logged. Collective.
/// @throws InputError as read_track(), and for a point that is there twice at one time.
template <int dim>
std::vector<PointTrack<dim>> read_displacement_files(const parallel::Communicator& comm,
                                                     const DisplacementFiles& from,
                                                     const UnitSystem& units = {});

} // namespace recoil::objectives
