#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::app {

std::vector<std::filesystem::path> BondedScene::files() const {
  std::vector<std::filesystem::path> files;
  for (const ParticleBody& body : bodies)
    for (const std::filesystem::path* file : {&body.file, &body.bonds})
      if (!file->empty()) files.push_back(*file);
  return files;
}

double ServoEntry::force_at(double time) const {
  const double value = force({0, 0, 0, time});
  if (!(value > 0) || !std::isfinite(value))
    throw InputError(where,
                     fmt::format("the force is {:g} N at t = {:g}; contact only presses: write one above 0 "
                                 "at every step",
                                 value, time));
  return value;
}

bool corrodes(const Scene& scene) {
  return std::ranges::any_of(particles_of(scene).materials, [](const BondMaterialEntry& entry) {
    return entry.stress_corrosion.has_value();
  });
}

const BondMaterialEntry* find_bond_material(const Scene& scene, const std::string& body) {
  const BondMaterialEntry* found = nullptr;
  for (const BondMaterialEntry& entry : particles_of(scene).materials)
    if (entry.bodies.empty() || std::ranges::count(entry.bodies, body) > 0) found = &entry;
  return found;
}

} // namespace recoil::app
