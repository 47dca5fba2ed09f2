#include "recoil/app/scene/read_scene.hpp"

#include "app/scene/physical_groups.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/document.hpp"
#include "recoil/app/scene/scene_format.hpp"
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

SceneFile build(Document document, const SceneFormat& format) {
  SceneFile result;
  auto& scene = result.scene;
  scene.file = document.file;
  if (document.root.contains("experiments") && !document.root.contains("geometry"))
    throw InputError(document.file.string(), "is a study, which `recoil gradient` takes, and not a scene");
  resolve_against_keys(document, format.keys(), scene.notes);
  scene.units = document.units;
  name_bodies(document.root);
  number_groups(document);
  const Item root(document.root, "", document.locations);
  scene.solver = root["solver"]["type"].text();
  const SceneKind& kind = format.kind(scene.solver);
  format.refuse_absent_keys(kind, root, scene.units);
  scene.own = kind.make();
  set_bound_members(format.keys(), root, scene);
  Geometry geometry = build_geometry(root, scene.units, kind.has_own_shape);
  scene.geometry = std::move(geometry.entries);
  scene.planes = std::move(geometry.planes);
  scene.warnings = std::move(geometry.warnings);
  build_time(root, scene);
  build_boundary_conditions(root, scene);
  build_initial_conditions(root, scene);
  build_settings(root, scene);
  kind.build(root, scene);
  check_scene(scene);
  result.resolved = document.root.dump(2) + "\n";
  result.locations = document.locations.to_text();
  return result;
}

} // namespace

SceneFile read_scene(const std::filesystem::path& path, const SceneFormat& format) {
  return build(load_document(path, format.keys()), format);
}

SceneFile parse_scene(const std::string& text, const std::string& name, const std::filesystem::path& folder,
                      const SceneFormat& format) {
  return build(document_from_text(text, name, folder, format.keys()), format);
}

SceneFile read_resolved(const std::string& resolved, const std::string& locations,
                        const std::filesystem::path& path, const SceneFormat& format) {
  return build(resolved_document(resolved, locations, path), format);
}

} // namespace recoil::app
