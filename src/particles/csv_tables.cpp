#include "recoil/particles/csv_tables.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <vector>

#include "particles/bond_columns.hpp"

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
  const auto is_own = [&](const BondColumn& column) {
    for (std::size_t bond = 0; bond < set.bond_constants.size(); ++bond)
      if (is_inside(bond) && !std::isnan(set.bond_constants[bond].*column.constant)) return true;
    return false;
  };
  std::vector<BondColumn> columns;
  std::ranges::copy_if(bond_columns, std::back_inserter(columns), is_own);
  bonds << "i,j";
  for (const BondColumn& column : columns) bonds << ',' << column.name;
  bonds << '\n';
  for (std::size_t bond = 0; bond < set.bonds.size(); ++bond) {
    if (!is_inside(bond)) continue;
    bonds << set.bonds[bond][0] - first << ',' << set.bonds[bond][1] - first;
    for (const BondColumn& column : columns) bonds << ',' << set.bond_constants[bond].*column.constant;
    bonds << '\n';
  }
  return {particles.str(), bonds.str()};
}

} // namespace recoil::particles
