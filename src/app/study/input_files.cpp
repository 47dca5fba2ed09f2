#include "app/study/input_files.hpp"

#include <system_error>

#include "app/simulation/run_inputs.hpp"

namespace recoil::app {

using Paths = std::vector<std::filesystem::path>;

Paths files_of_run(const Study& study, int experiment, const Scene& scene) {
  Paths files = input_files(scene);
  for (const ParameterSpec& parameter : study.parameters)
    if (parameter.basis && !parameter.basis->modes.empty() && parameter.acts_in(experiment))
      files.push_back(parameter.basis->modes);
  return files;
}

Paths input_files(const Study& study, int experiment, const Scene& scene) {
  Paths files = files_of_run(study, experiment, scene);
  std::error_code error;
  for (const ObjectiveSpec& objective : study.objectives) {
    if (objective.experiment != experiment) continue;
    if (!objective.target.empty()) files.push_back(objective.target);
    if (!objective.reference.empty())
      files.push_back(std::filesystem::is_directory(objective.reference, error)
                          ? objective.reference / "trajectory" / "manifest.json"
                          : objective.reference);
  }
  return files;
}

} // namespace recoil::app
