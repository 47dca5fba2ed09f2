#include "app/study/input_files.hpp"

#include <algorithm>
#include <iterator>

#include "app/study/start_values.hpp"
#include "recoil/app/simulation/run_inputs.hpp"

namespace recoil::app {

using Paths = std::vector<std::filesystem::path>;

Paths files_of_run(const Study& study, int experiment, const Scene& scene) {
  Paths files = input_files(scene);
  for (const ParameterSpec& parameter : study.parameters) {
    if (parameter.initial_file && parameter.acts_in(experiment))
      std::ranges::copy(files_of_start(*parameter.initial_file), std::back_inserter(files));
    if (parameter.basis && !parameter.basis->modes.empty() && parameter.acts_in(experiment))
      files.push_back(parameter.basis->modes);
  }
  return files;
}

Paths input_files(const Study& study, int experiment, const Scene& scene) {
  Paths files = files_of_run(study, experiment, scene);
  for (const auto& objective : study.objectives)
    if (objective->experiment == experiment)
      for (auto& file : objective->files()) files.push_back(std::move(file));
  return files;
}

} // namespace recoil::app
