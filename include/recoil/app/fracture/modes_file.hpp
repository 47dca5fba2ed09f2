#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <Eigen/Core>

#include "recoil/pieces/files.hpp"
#include "recoil/solvers/fracture_modes/impact.hpp"

namespace recoil::app {

/// What a finished folder of `recoil fracture` holds of a shape, whole: nothing of it refers to other files.
struct ModesFile {
  int dim = 3;
  std::vector<Eigen::Vector3d> vertices;          ///< by their input ids [m]; z = 0 in 2D
  std::vector<std::array<std::int32_t, 4>> cells; ///< positively oriented; the last entry is -1 in 2D
  std::vector<std::int32_t> piece_of_cell;        ///< row of the impact model
  std::vector<std::int32_t> volume_ids;           ///< of cells, which materials refer to
  std::vector<double> masses;                     ///< of cells [kg]
  std::vector<double> energies, gaps;             ///< of modes
  solvers::fracture_modes::ImpactModel model;
  /// The surface that the cells are a cage of, as its file had it, transformed; empty if elements were given.
  pieces::InputSurface surface; ///< in 3D
  pieces::FacetMesh<2> outline; ///< in 2D
  std::int64_t repair_cells;    ///< SolidOptions::repair_cells for it
  double smoothing_length;      ///< of smooth_labels() [m]
  double blur_length;           ///< of impacts [m]

  bool has_surface() const { return !surface.mesh.facets.empty() || !outline.facets.empty(); }
};

/// Reads the modes in a folder of `recoil fracture`. Not collective.
/// @throws InputError where the folder is none or its search has not ended, FileError where a file is damaged
/// or cannot be read; both say what to do.
ModesFile read_modes(const std::filesystem::path& folder);

} // namespace recoil::app
