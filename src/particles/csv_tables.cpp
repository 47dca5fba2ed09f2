#include "recoil/particles/csv_tables.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace recoil::particles {

CsvTables csv_tables(const ParticleSet& set, std::int32_t body) {
  const auto first = std::ranges::find(set.body, body) - set.body.begin();
  const auto end = first + std::ranges::count(set.body, body);
  std::ostringstream particles, bonds;
  particles.precision(17);
  bonds.precision(17);
  particles << "x,y,z,radius,volume\n";
  for (auto k = first; k < end; ++k)
    particles << set.positions[k][0] << ',' << set.positions[k][1] << ',' << set.positions[k][2] << ','
              << set.radii[k] << ',' << set.volumes[k] << '\n';
  const auto is_inside = [&](std::size_t bond) { return set.body[set.bonds[bond][0]] == body; };
  bool has_young = false, has_poisson = false;
  for (std::size_t bond = 0; bond < set.moduli.size(); ++bond) {
    if (!is_inside(bond)) continue;
    has_young = has_young || !std::isnan(set.moduli[bond].young_modulus);
    has_poisson = has_poisson || !std::isnan(set.moduli[bond].poisson_ratio);
  }
  bonds << "i,j" << (has_young ? ",E" : "") << (has_poisson ? ",nu" : "") << '\n';
  for (std::size_t bond = 0; bond < set.bonds.size(); ++bond) {
    if (!is_inside(bond)) continue;
    bonds << set.bonds[bond][0] - first << ',' << set.bonds[bond][1] - first;
    if (has_young) bonds << ',' << set.moduli[bond].young_modulus;
    if (has_poisson) bonds << ',' << set.moduli[bond].poisson_ratio;
    bonds << '\n';
  }
  return {particles.str(), bonds.str()};
}

} // namespace recoil::particles
