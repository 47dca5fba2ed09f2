#include "app/study/scene_as_run.hpp"

#include <nlohmann/json.hpp>

namespace recoil::app {

void set_output_for_sweep(const Study& study, Scene& scene) {
  OutputSpec& output = scene.output;
  output.every = study.sweep.store_every;
  // Restart points are what closes a file.
  if (study.sweep.store_every > 1) output.chunk = 1;
  output.fields.clear();
}

std::string scene_as_run(const SceneFile& file) {
  nlohmann::json json = nlohmann::json::parse(file.resolved);
  nlohmann::json& output = json["output"];
  output["every"] = file.scene.output.every;
  output["chunk"] = file.scene.output.chunk;
  output["fields"] = nlohmann::json::array();
  if (file.scene.contact.enabled && file.scene.contact.barrier_stiffness)
    json["solver"]["contact"]["barrier_stiffness"] = *file.scene.contact.barrier_stiffness;
  return json.dump(2) + "\n";
}

} // namespace recoil::app
