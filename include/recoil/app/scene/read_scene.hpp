#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "recoil/app/scene/scene.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::app {

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
SceneFile read_scene(const std::filesystem::path& path);

/// The same for a text that did not come from a file of its own. Relative paths are resolved against
/// `folder`; `name` stands for the file in messages.
SceneFile parse_scene(const std::string& text, const std::string& name, const std::filesystem::path& folder);

/// The scene that another rank read from `path`, from what its SceneFile holds: messages name the places
/// where the values were written. Opens no scene file. @throws InputError as read_scene. Not collective.
SceneFile read_resolved(const std::string& resolved, const std::string& locations,
                        const std::filesystem::path& path);

/// Checks what needs the geometry: that lists of d components have d entries (a zero third entry in 2D is cut
/// off), that every element has a material, that ids of boundary and initial conditions exist, that bodies
/// sharing a vertex have one order. Selections that select nothing are refused where a condition, load or
/// material uses their id and nothing else gives it; otherwise they become warnings. `mesh` is the whole
/// mesh, as it is before distribution; not collective.
/// @throws InputError naming the entry of the scene and the body.
void validate_against_mesh(Scene& scene, const mesh::SimplexMesh& mesh,
                           std::span<const mesh::SurfaceMesh> obstacles,
                           std::span<const mesh::EmptySelection> empty_selections);

/// The part of validate_against_mesh that needs only the dimension: cuts or refuses lists of d components. A
/// rank that did not read the mesh calls this alone.
void set_dimension(Scene& scene, int dim);

/// Refuses output of contact forces without contact. @throws InputError.
void check_output_fields(const Scene& scene);

} // namespace recoil::app
