#include "recoil/particles/particle_set.hpp"

#include <cmath>

#include "recoil/base/error.hpp"

namespace recoil::particles {

void append(ParticleSet& set, const ParticleSet& other) {
  if (set.positions.empty()) set.cell = other.cell;
  set.bond_shifts.insert(set.bond_shifts.end(), other.bond_shifts.begin(), other.bond_shifts.end());
  const auto particles = std::ssize(set.positions);
  const auto bodies = static_cast<std::int32_t>(set.body_names.size());
  set.positions.insert(set.positions.end(), other.positions.begin(), other.positions.end());
  set.radii.insert(set.radii.end(), other.radii.begin(), other.radii.end());
  set.volumes.insert(set.volumes.end(), other.volumes.begin(), other.volumes.end());
  for (const std::int32_t body : other.body) set.body.push_back(body + bodies);
  set.body_names.insert(set.body_names.end(), other.body_names.begin(), other.body_names.end());
  if (!set.bond_constants.empty() || !other.bond_constants.empty()) {
    set.bond_constants.resize(set.bonds.size());
    set.bond_constants.insert(set.bond_constants.end(), other.bond_constants.begin(),
                              other.bond_constants.end());
    set.bond_constants.resize(set.bonds.size() + other.bonds.size());
  }
  for (const auto& [i, j] : other.bonds) set.bonds.push_back({i + particles, j + particles});
}

void check(const ParticleSet& set, const std::string& where) {
  const auto size = set.positions.size();
  const auto fail = [&](const std::string& what, std::size_t number, const std::string& message) {
    throw InputError(where, what + " " + std::to_string(number) + " " + message);
  };
  if (set.radii.size() != size || set.volumes.size() != size || set.body.size() != size)
    throw InputError(where, "there must be one radius, volume and body per particle; there are " +
                                std::to_string(size) + " particles, " + std::to_string(set.radii.size()) +
                                " radii, " + std::to_string(set.volumes.size()) + " volumes and " +
                                std::to_string(set.body.size()) + " bodies");
  for (std::size_t i = 0; i < size; ++i) {
    if (!set.positions[i].allFinite()) fail("particle", i, "has a position that is not finite");
    if (!(set.radii[i] > 0) || !std::isfinite(set.radii[i]))
      fail("particle", i, "has radius " + std::to_string(set.radii[i]) + "; it must be positive");
    if (!(set.volumes[i] > 0) || !std::isfinite(set.volumes[i]))
      fail("particle", i, "has volume " + std::to_string(set.volumes[i]) + "; it must be positive");
    if (set.body[i] < 0 || set.body[i] >= std::ssize(set.body_names))
      fail("particle", i,
           "is of body " + std::to_string(set.body[i]) + "; there are " +
               std::to_string(set.body_names.size()) + ", counted from 0");
  }
  if (!set.bond_constants.empty() && set.bond_constants.size() != set.bonds.size())
    throw InputError(where, "there are " + std::to_string(set.bonds.size()) + " bonds and constants of " +
                                std::to_string(set.bond_constants.size()) +
                                "; give those of each bond, or of none");
  if (set.bond_shifts.size() != (set.cell ? set.bonds.size() : 0))
    throw InputError(where, "there are " + std::to_string(set.bonds.size()) + " bonds and " +
                                std::to_string(set.bond_shifts.size()) +
                                " shifts; with a cell there is one per bond, without there is none");
  for (std::size_t b = 0; b < set.bonds.size(); ++b) {
    const auto [i, j] = set.bonds[b];
    if (i < 0 || j >= std::ssize(set.positions) || i >= j)
      fail("bond", b,
           "joins particles " + std::to_string(i) + " and " + std::to_string(j) + "; there are " +
               std::to_string(size) + ", and the first must have the smaller number");
    if (b > 0 && set.bonds[b - 1] >= set.bonds[b])
      fail("bond", b, "does not follow the one before; sort bonds, and give each once");
    for (int k = 0; set.cell && k < 3; ++k)
      if (!set.cell->repeats[k] && set.bond_shifts[b][k] != 0)
        fail("bond", b, "leads across a face behind which nothing repeats");
    const Eigen::Vector3d image = set.cell ? set.cell->vector(set.bond_shifts[b]) : Eigen::Vector3d::Zero();
    if (set.positions[i] == set.positions[j] + image)
      fail("bond", b, "joins particles " + std::to_string(i) + " and " + std::to_string(j) + " at one place");
  }
}

} // namespace recoil::particles
