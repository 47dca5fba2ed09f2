#include "recoil/app/scene/scene_keys.hpp"

#include "recoil/app/scene/key_documentation.hpp"
#include "recoil/app/scene/scene_documentation.hpp"

namespace recoil::app {

extern const char* const scene_page; // of docs/scene.md.in

std::span<const KeySection> scene_key_sections() {
  static const KeySection sections[] = {
      {"root", root_keys()},
      {"geometry", geometry_keys()},
      {"selections", selection_keys()},
      {"materials", material_keys()},
      {"boundary_conditions", boundary_keys()},
      {"initial_conditions", initial_keys()},
      {"time", time_keys()},
      {"contact", contact_keys()},
      {"solver", solver_keys()},
      {"output", output_keys()},
  };
  return sections;
}

const KeyTable& scene_keys() {
  static const KeyTable table{"scene", scene_page, scene_key_sections(),
                              build_key_tree(scene_key_sections())};
  return table;
}

std::string scene_json_schema() { return json_schema(scene_keys()); }

std::string scene_markdown() { return markdown(scene_keys()); }

} // namespace recoil::app
