#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/types.hpp"
#include "recoil/particles/periodic_cell.hpp"

namespace recoil::particles {

/// Moduli and strengths that a bond has in place of those of its material, NaN: of the material.
struct BondConstants {
  static constexpr double of_material = std::numeric_limits<double>::quiet_NaN();
  double young_modulus = of_material; ///< [Pa]
  double poisson_ratio = of_material;
  double tensile_strength = of_material; ///< [Pa], as the next
  double shear_strength = of_material;
};

/// Bodies of spherical particles and the bonds between these. Serial, held by one rank only, before it is
/// distributed.
struct ParticleSet {
  std::vector<Eigen::Vector3d> positions; ///< of the centres [m]
  std::vector<double> radii;              ///< [m]
  std::vector<double> volumes;    ///< of the cell that a particle stands for [m^3]; the density of the
                                  ///< bulk times this is its mass
  std::vector<std::int32_t> body; ///< per particle, index into body_names
  std::vector<std::string> body_names;
  std::vector<std::array<std::int64_t, 2>> bonds; ///< particles i < j, ascending, each pair once
  std::vector<BondConstants> bond_constants;      ///< one per bond; empty: those of the materials
  std::optional<PeriodicCell> cell;               ///< that all bodies share; none: nothing repeats
  std::vector<CellShift> bond_shifts; ///< of the second ends; one per bond, or empty without a cell
};

/// Appends the particles, the bodies and the bonds of `other`, which count on from those of `set`. One
/// without particles takes over the cell. @pre both have the same cell, or none.
void append(ParticleSet& set, const ParticleSet& other);

/// Pairs of particles of one body that touch: |x_j - x_i| <= (r_i + r_j) (1 + tolerance), i < j, ascending.
/// Interior particles of dense lattices have 12 of them, those of random packings about six.
/// @throws InputError for a tolerance that is negative or not finite.
/// @note Cost O(n) unless radii differ by orders of magnitude.
std::vector<std::array<std::int64_t, 2>> bond_neighbours(const ParticleSet& set, double tolerance = 1e-6);

/// Gives the set the bonds of bond_neighbours(), of its cell those across the faces, too, with their shifts.
/// @throws InputError as bond_neighbours(), and for a cell that is too narrow (require_wide()).
void bond(ParticleSet& set, double tolerance = 1e-6);

/// @throws InputError naming `where` and the first particle or bond that breaks what is said above: lengths
/// of the lists, finite positions, positive radii and volumes, bodies and ends of bonds that exist, their
/// order.
void check(const ParticleSet& set, const std::string& where);

} // namespace recoil::particles
