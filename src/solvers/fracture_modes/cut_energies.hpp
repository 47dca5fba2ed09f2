#pragma once

#include <span>
#include <vector>

#include "solvers/fracture_modes/cut_pool.hpp"

namespace recoil::solvers::fracture_modes {

/// A cut of a pool and E_D of its indicator after that has been made orthogonal to constants and modes and
/// scaled to mass norm 1.
struct CutEnergy {
  int cut;
  double energy;
};

/// The energies of all cuts, the least first; without cuts of which nothing is left. The first rows of the
/// pool are masses times `modes`, which are orthonormal in the mass. Serial.
std::vector<CutEnergy> cut_energies(const CutPool& pool, std::span<const std::vector<double>> modes);

/// The indicator of the members of a cut.
std::vector<double> indicator(const CutPool& pool, int cut);

} // namespace recoil::solvers::fracture_modes
