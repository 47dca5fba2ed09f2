#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "recoil/app/scene/read_scene.hpp"
#include "recoil/app/scene/scene_format.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::app {

/// Scenes of all solvers.
inline SceneFile read_scene(const std::filesystem::path& path) {
  return read_scene(path, all_solvers().format());
}
inline SceneFile parse_scene(const std::string& text, const std::string& name,
                             const std::filesystem::path& folder) {
  return parse_scene(text, name, folder, all_solvers().format());
}
inline const KeyTable& scene_keys() { return all_solvers().format().keys(); }

/// A valid static scene of one generated box called `box` with surface id 1, changed by a JSON merge patch.
std::string changed_scene(const std::string& merge_patch);

/// Writes `text` to a file.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Reads the changed scene from the folder of the bundled scenes, so that their meshes can be named.
SceneFile read_changed(const std::string& merge_patch);

/// Reads the geometry and checks the scene against it, as `recoil validate` does.
void validate_with_meshes(Scene& scene);

/// A wrong input and what its message must hold.
struct WrongInput {
  const char* name;
  const char* merge_patch;
  std::vector<const char*> parts;
};
std::ostream& operator<<(std::ostream& out, const WrongInput& input);

/// Expects exit code 2 and all parts in the message, be it from reading or from the check against the meshes.
void expect_refused(const WrongInput& input);

} // namespace recoil::app
