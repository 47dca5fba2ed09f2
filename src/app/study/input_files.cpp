#include "app/study/input_files.hpp"

#include <variant>

namespace recoil::app {

namespace {

using Paths = std::vector<std::filesystem::path>;

void add(Paths& files, const std::filesystem::path& path) {
  if (!path.empty()) files.push_back(path);
}

void add_selections(Paths& files, const std::vector<mesh::Selection>& selections) {
  for (const mesh::Selection& selection : selections)
    if (const auto* file = std::get_if<mesh::FileSelection>(&selection.shape)) add(files, file->path);
}

void add_files_of_scene(Paths& files, const Scene& scene) {
  for (const mesh::GeometrySpec& body : scene.geometry) {
    add(files, body.mesh);
    for (const auto* list : {&body.volume_selection, &body.surface_selection, &body.point_selection})
      add_selections(files, *list);
  }
  for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) add(files, entry.node_file);
  for (const MaterialEntry& entry : scene.materials)
    for (const MaterialValue* value : {&entry.E, &entry.nu, &entry.lambda, &entry.mu, &entry.c1, &entry.c2,
                                       &entry.k, &entry.rho, &entry.phi, &entry.psi})
      if (const auto* data = std::get_if<ElementData>(value)) add(files, data->file);
}

} // namespace

Paths files_of_run(const Study& study, int experiment, const Scene& scene) {
  Paths files;
  add_files_of_scene(files, scene);
  for (const ParameterSpec& parameter : study.parameters)
    if (parameter.basis && parameter.acts_in(experiment)) add(files, parameter.basis->modes);
  return files;
}

Paths input_files(const Study& study, int experiment, const Scene& scene) {
  Paths files = files_of_run(study, experiment, scene);
  for (const ObjectiveSpec& objective : study.objectives) {
    if (objective.experiment != experiment) continue;
    add(files, objective.target);
    add(files, std::filesystem::is_directory(objective.reference)
                   ? objective.reference / "trajectory" / "manifest.json"
                   : objective.reference);
  }
  return files;
}

} // namespace recoil::app
