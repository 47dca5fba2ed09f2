#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"

#include <algorithm>

namespace recoil::app {

std::vector<std::filesystem::path> BondedScene::files() const {
  std::vector<std::filesystem::path> files;
  for (const ParticleBody& body : bodies)
    for (const std::filesystem::path* file : {&body.file, &body.bonds})
      if (!file->empty()) files.push_back(*file);
  return files;
}

const BondMaterialEntry* find_bond_material(const Scene& scene, const std::string& body) {
  const BondMaterialEntry* found = nullptr;
  for (const BondMaterialEntry& entry : particles_of(scene).materials)
    if (entry.bodies.empty() || std::ranges::count(entry.bodies, body) > 0) found = &entry;
  return found;
}

} // namespace recoil::app
