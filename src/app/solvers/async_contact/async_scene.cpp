#include "recoil/app/solvers/async_contact/async_scene.hpp"

#include <algorithm>

namespace recoil::app {

std::vector<std::filesystem::path> AsyncScene::files() const {
  std::vector<std::filesystem::path> files;
  for (const SphereBody& body : spheres)
    if (!body.file.empty()) files.push_back(body.file);
  return files;
}

const AsyncMaterial* find_async_material(const Scene& scene, const std::string& body) {
  const AsyncMaterial* found = nullptr;
  for (const AsyncMaterial& entry : async_of(scene).materials)
    if (entry.bodies.empty() || std::ranges::count(entry.bodies, body) > 0) found = &entry;
  return found;
}

} // namespace recoil::app
