#include "app/study/fit/fit_stage.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/shapes/shape_form.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool exists_on_first(const parallel::Communicator& comm, const fs::path& path) {
  std::error_code error;
  return comm.any(comm.rank() == 0 && fs::exists(path, error));
}

void make_empty(const fs::path& folder) {
  discard(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw FileError(folder.string() + ": cannot be made: " + error.message());
}

/// The study of a stage: that before on the new scenes, from the values there.
std::string study_on_new_meshes(const std::string& before, const Study& study, const fs::path& folder) {
  json text = json::parse(before);
  for (std::size_t e = 0; e < study.experiments.size(); ++e)
    text["experiments"][e]["scene"] = (folder / (study.experiments[e].name + ".json")).string();
  for (std::size_t p = 0; p < study.parameters.size(); ++p) {
    const ParameterSpec& spec = study.parameters[p];
    if (spec.tie) continue;
    json& entry = text["parameters"][p];
    entry["initial"] = {{"file", StudyObjective::start_file(folder, spec).string()}, {"dataset", spec.name}};
    if (spec.basis) entry["basis"] = spec.basis->form->on_new_meshes(entry["basis"]);
  }
  return text.dump(2) + "\n";
}

} // namespace

std::string why_no_new_interiors(const Study& study) {
  const auto follows = [](const ParameterSpec& spec) { return spec.basis && spec.basis->extends(); };
  if (!std::ranges::any_of(study.parameters, follows)) return "no shape has a basis with `extension`";
  for (const ParameterSpec& spec : study.parameters)
    if (spec.basis && !spec.basis->form->on_new_meshes)
      return fmt::format("the values of '{}' move vertices inside bodies", spec.name);
  for (const auto& objective : study.objectives)
    if (objective->type->keeps_mesh)
      return fmt::format("'{}' ({}) looks at points or nodes of the meshes of the scene", objective->name,
                         objective->type->name);
  if (study.optimizer.starts.value_or(1) > 1) return "the optimisation has several starts";
  return "";
}

bool make_stage(const parallel::Communicator& comm, const fs::path& folder, const fs::path& before,
                const Study& study, const std::function<bool(const fs::path& folder)>& renew) {
  const fs::path file = folder / "study.json";
  if (exists_on_first(comm, file)) return true;
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) make_empty(folder);
  });
  const bool is_worth_it = renew(folder);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    // The study comes last: a stage that has one is complete.
    if (is_worth_it)
      write_file_atomically(file, study_on_new_meshes(read_file(before), study, folder));
    else
      discard(folder);
  });
  return is_worth_it;
}

FitStage open_stage(const parallel::Communicator& comm, const StudyCommand& command, const fs::path& folder,
                    const Interrupts& interrupts) {
  const fs::path run = folder / "run";
  if (exists_on_first(comm, run / "study.json")) {
    StudyFolder opened = StudyFolder::open(comm, command, run);
    opened.require_inputs(comm);
    LoadedStudy loaded = load_study(comm, opened.study(), interrupts);
    loaded.scenes.clear();
    return {std::move(loaded), std::move(opened)};
  }
  LoadedStudy loaded = load_study(comm, folder / "study.json", interrupts);
  StudyFolder made = StudyFolder::create(comm, command, run, loaded.file.study);
  std::vector<std::string> scenes;
  for (const LoadedScene& scene : loaded.scenes) scenes.push_back(scene_as_run(scene.file));
  made.begin(comm, loaded.file.study, loaded.file.resolved, scenes, loaded.files);
  loaded.scenes.clear();
  return {std::move(loaded), std::move(made)};
}

} // namespace recoil::app
