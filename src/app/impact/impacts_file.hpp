#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/scene/keys.hpp"
#include "recoil/pieces/files.hpp"
#include "recoil/solvers/fracture_modes/impact.hpp"

namespace recoil::app {

/// One impact of a file.
struct ImpactSpec {
  std::optional<std::vector<double>> place; ///< [m]; else `vertex`
  std::optional<GlobalIndex> vertex;        ///< input id of one on the boundary of the cells
  std::vector<double> direction;            ///< empty: against the normal of the surface
  double magnitude = 1, sigma = 1, speed = 1;
  solvers::fracture_modes::ImpactProjection projection = solvers::fracture_modes::ImpactProjection::pieces;
  std::string where;
};

/// Impacts at random places of the surface.
struct RandomImpacts {
  int count = 0;
  std::uint64_t seed = 1;
  double least_magnitude = 1, largest_magnitude = 1;
  ImpactSpec like; ///< the rest
};

/// What bodies of a scene for `recoil simulate` are like.
struct BodiesSpec {
  double youngs_modulus = 1e7, poisson_ratio = 0.3, density = 1000, friction = 0.3;
  double gap = 0.02; ///< between pieces, over the mean edge of the cells
  std::vector<double> gravity;
  bool floor = true;
  double time_step = 1e-3, end = 0.5;
  std::string where;
};

/// What bonded particles in place of the shape are like.
struct BondsSpec {
  double radius = 0;
  double youngs_modulus = 1e7, poisson_ratio = 0.3, density = 1000;
  double tensile_strength = 1e5, shear_strength = 1e5;
  double fault_share = 0.2; ///< strength across the faults of the first mode, over that elsewhere
  std::string where;
};

struct ImpactsFile {
  std::vector<ImpactSpec> impacts;
  RandomImpacts random;
  pieces::PieceFormat format = pieces::PieceFormat::obj;
  std::optional<double> smoothing_length; ///< [m]
  double least_piece = 1e-4;              ///< of the volume of the body
  std::optional<BodiesSpec> bodies;
  std::optional<BondsSpec> bonds;
  std::vector<std::string> notes;
  std::string resolved; ///< with all defaults, as JSON text
};

/// The table of keys of impacts.
const KeyTable& impacts_keys();

/// Reads impacts for a shape in 2D or 3D. Not collective. @throws InputError with place and cure.
ImpactsFile read_impacts(const std::filesystem::path& path, int dim);

} // namespace recoil::app
