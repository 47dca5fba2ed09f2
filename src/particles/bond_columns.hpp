#pragma once

#include <array>

#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

/// A column of CSV files of bonds, for what bonds have in place of the constants of their material.
struct BondColumn {
  const char* name;
  const char* description; ///< for messages
  double BondConstants::*constant;
  bool is_ratio = false; ///< between -1 and 0.5; the others are positive
};

inline constexpr std::array<BondColumn, 4> bond_columns{
    {{"E", "the modulus E", &BondConstants::young_modulus},
     {"nu", "Poisson's ratio nu", &BondConstants::poisson_ratio, true},
     {"tensile_strength", "the tensile strength", &BondConstants::tensile_strength},
     {"shear_strength", "the shear strength", &BondConstants::shear_strength}}};

} // namespace recoil::particles
