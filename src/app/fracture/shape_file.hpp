#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "recoil/app/scene/geometry.hpp"
#include "recoil/app/scene/keys.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/solvers/fracture_modes/full_modes.hpp"

namespace recoil::app {

/// What the elements with some ids of `volume_selection` are made of.
struct FractureMaterialSpec {
  std::vector<int> ids; ///< empty: all elements
  double density = 1, toughness = 1;
  bool unbreakable = false;
  bool may_be_absent = false;   ///< no element need have the ids
  std::vector<double> cleavage; ///< a_i of the factor sqrt(sum_i (a_i n_i)^2) of faults; empty: 1
  double youngs_modulus = 1;    ///< [Pa]
  double poisson_ratio = 0.3;
  std::vector<double> jump_tensor; ///< T, (dim, dim); empty: the identity
  std::string where;
};

/// What modes are fields of.
enum class ModeType { scalar, vector, full };

/// The lattice of cells in which the body inside of a surface lies.
struct CageSpec {
  std::int64_t elements = 10000, repair_elements = 200000;
};

/// A shape whose fracture modes are looked for.
struct Shape {
  Geometry geometry;
  std::optional<CageSpec> cage; ///< the only entry of the geometry is a surface
  ModeType type = ModeType::scalar;
  double relative_omega = 0.1; ///< of full modes, in units of omega*
  solvers::fracture_modes::StrainEnergy strain = solvers::fracture_modes::StrainEnergy::elastic;
  solvers::fracture_modes::FaceWeight weight = solvers::fracture_modes::FaceWeight::tv;
  solvers::fracture_modes::ModeOptions modes;
  std::vector<FractureMaterialSpec> materials; ///< later ones hold over earlier ones
  std::optional<double> blur_length;           ///< of impacts [m]
  double piece_threshold = 1e-6;
  double smallest_piece = 0.01;           ///< ImpactOptions::least_piece
  std::optional<double> smoothing_length; ///< of the faults of pieces [m]
  double save_interval = 10;              ///< [s]
};

/// A shape together with its resolved text.
struct ShapeFile {
  Shape shape;
  std::string resolved, locations;
  std::vector<std::string> notes; ///< on the first rank
};

/// The table of keys of shapes.
const KeyTable& fracture_keys();

/// Reads a shape on the first rank, for all.
/// @throws InputError on every rank, with place and cure. Collective.
ShapeFile load_shape(const parallel::Communicator& comm, const std::filesystem::path& path);

/// A piece of a shape as a shape of its own, by the file of its surface: the resolved text `whole` with a
/// cage of that in the place of its meshes, and with volume selections and materials as far as they reach the
/// piece.
/// @throws InputError on every rank. Collective.
ShapeFile shape_of_piece(const parallel::Communicator& comm, const std::string& whole,
                         const std::filesystem::path& piece);

/// The files that a shape names.
std::vector<std::filesystem::path> input_files(const Shape& shape);

} // namespace recoil::app
