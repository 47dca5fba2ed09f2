#include <algorithm>
#include <cmath>

#include "particles/cell_list.hpp"
#include "recoil/base/error.hpp"
#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

std::vector<std::array<std::int64_t, 2>> bond_neighbours(const ParticleSet& set, double tolerance) {
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw InputError("bonds",
                     "a tolerance of " + std::to_string(tolerance) +
                         "; give the gap that bonds bridge in units of the sum of the radii, 0 or more");
  std::vector<std::array<std::int64_t, 2>> bonds;
  if (set.positions.empty()) return bonds;
  const double largest = *std::max_element(set.radii.begin(), set.radii.end());
  const CellList cells(set.positions, 2 * largest * (1 + tolerance));
  for (std::int64_t i = 0; i < std::ssize(set.positions); ++i) {
    const auto first = std::ssize(bonds);
    cells.for_each_later_near(i, [&](std::int64_t j) {
      const double reach = (set.radii[i] + set.radii[j]) * (1 + tolerance);
      if (set.body[i] == set.body[j] && (set.positions[j] - set.positions[i]).squaredNorm() <= reach * reach)
        bonds.push_back({i, j});
    });
    std::sort(bonds.begin() + first, bonds.end());
  }
  return bonds;
}

} // namespace recoil::particles
