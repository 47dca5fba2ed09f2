#include "recoil/app/scene/read_scene.hpp"

#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/document.hpp"
#include "recoil/app/scene/scene_keys.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

/// Bodies without a name are called after their place in the list.
void name_bodies(nlohmann::json& root) {
  int index = 0;
  for (auto& entry : root["geometry"]) {
    if (!entry.contains("name")) entry["name"] = "body" + std::to_string(index);
    ++index;
  }
}

SceneFile build(Document document) {
  SceneFile result;
  auto& scene = result.scene;
  scene.file = document.file;
  if (document.root.contains("experiments") && !document.root.contains("geometry"))
    throw InputError(document.file.string(), "is a study, which `recoil gradient` takes, and not a scene");
  resolve_against_keys(document, scene_keys(), scene.notes);
  name_bodies(document.root);
  const Item root(document.root, "", document.locations);
  scene.conventions = root["conventions"].text() == "polyfem" ? Conventions::polyfem : Conventions::recoil;
  set_bound_members(scene_keys(), root, scene);
  if (scene.solver.type == SolverType::bonded_particles) refuse_keys_of_elements(root);
  build_geometry(root, scene);
  build_materials(root, scene);
  build_time(root, scene);
  build_boundary_conditions(root, scene);
  build_initial_conditions(root, scene);
  build_settings(root, scene);
  build_particles(root, scene);
  check_scene(scene);
  result.resolved = document.root.dump(2) + "\n";
  result.locations = document.locations.to_text();
  return result;
}

} // namespace

SceneFile read_scene(const std::filesystem::path& path) { return build(load_document(path, scene_keys())); }

SceneFile parse_scene(const std::string& text, const std::string& name, const std::filesystem::path& folder) {
  return build(document_from_text(text, name, folder, scene_keys()));
}

SceneFile read_resolved(const std::string& resolved, const std::string& locations,
                        const std::filesystem::path& path) {
  return build(resolved_document(resolved, locations, path));
}

} // namespace recoil::app
