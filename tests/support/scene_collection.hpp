#pragma once

#include <cstdlib>
#include <filesystem>

namespace recoil::test {

/// Folder of PolyFEM's scenes, which are not part of the repository: RECOIL_SCENES names it, else it is
/// looked for beside the checkout. Empty where it is in neither place.
inline std::filesystem::path scene_collection() {
  const char* given = std::getenv("RECOIL_SCENES");
  const std::filesystem::path folder =
      given ? std::filesystem::path(given)
            : std::filesystem::path(RECOIL_TEST_DATA) / "../../../shared/scenes/polyfem-data";
  return std::filesystem::exists(folder / "contact/meshes") ? folder : std::filesystem::path();
}

} // namespace recoil::test
