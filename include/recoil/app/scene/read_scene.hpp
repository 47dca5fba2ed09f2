#pragma once

#include <filesystem>
#include <string>

#include "recoil/app/scene/scene.hpp"

namespace recoil::app {

class SceneFormat;

/// A scene together with its resolved text.
struct SceneFile {
  Scene scene;
  std::string resolved;  ///< JSON with `common` merged, defaults filled in and paths absolute; reads back to
                         ///< the same scene
  std::string locations; ///< file and line of every value, for read_resolved
};

/// Reads and checks a scene: JSON, `common` inheritance and `patch`, every key against the table of keys, and
/// whatever can be known without a mesh. Opens no mesh, but every file named must exist. Not collective.
/// @throws InputError with file, line, JSON pointer, the offending value and how to fix it.
SceneFile read_scene(const std::filesystem::path& path, const SceneFormat& format);

/// Does what read_scene() does for a text that did not come from a file of its own. Relative paths are
/// resolved against `folder`; `name` stands for the file in messages.
SceneFile parse_scene(const std::string& text, const std::string& name, const std::filesystem::path& folder,
                      const SceneFormat& format);

/// The scene that another rank read from `path`, from what its SceneFile holds: messages name the places
/// where the values were written. Opens no scene file. @throws InputError as read_scene. Not collective.
SceneFile read_resolved(const std::string& resolved, const std::string& locations,
                        const std::filesystem::path& path, const SceneFormat& format);

/// Cuts lists of components to `dim`, or refuses them. @throws InputError at their place.
void set_dimension(Scene& scene, int dim);

/// Refuses output of contact forces without contact. @throws InputError.
void check_output_fields(const Scene& scene);

} // namespace recoil::app
