#pragma once

#include <string>
#include <vector>

#include "app/study/parameters/parameter_field.hpp"
#include "app/study/scene_data.hpp"
#include "recoil/app/simulation/cell_overrides.hpp"

/// Scenes with the values of parameters, as files. The members of SceneDraft and all functions here are
/// collective; the JSON is the same on all ranks.
namespace recoil::app {

/// A scene on its way to a file. `scene`, `geometry` and `overrides` hold the values of the parameters;
/// `json`, its resolved form, gets them from the actions of the kinds.
template <int dim>
struct SceneDraft {
  nlohmann::json json;
  const Scene& scene;
  const DistributedGeometry<dim>& geometry;
  const CellOverrides& overrides;
  SceneData& data;

  /// The entry of `geometry` of a body or obstacle.
  nlohmann::json& body(const std::string& name);
  /// A value per local cell as a scene gives it: one per element.
  nlohmann::json per_element(const std::string& dataset, const std::vector<double>& values);
  /// The same, or the number if the owned cells with a value other than NaN have the same everywhere.
  nlohmann::json number_or_per_element(const std::string& dataset, const std::vector<double>& values);
};

/// The values of a constant that parameters replace, in all materials that they act in.
template <int dim>
void write_material_constant(const ParameterField<dim>& field, SceneDraft<dim>& to);
/// Gives material constants and body forces with values per element of the mesh files a row per element of
/// the mesh that is solved on, which a file with a new mesh holds.
template <int dim>
void write_element_data_again(SceneDraft<dim>& to);
/// Gravity less `rhs`, with what stands in for it.
template <int dim>
void write_body_force(SceneDraft<dim>& to);

/// The meshes of bodies, empty: of all deformable ones, as they are now, with their ids.
template <int dim>
void write_meshes(const std::vector<std::string>& bodies, SceneDraft<dim>& to);

/// Entries of a list of a scene that is as long as `values`.
nlohmann::json to_json(const std::vector<TimeFactor>& factors);
/// Puts numbers and factors of time into an entry of the boundary conditions. Components beyond those of the
/// values stay what they are.
void write_values_in_time(const std::vector<double>& values, const std::vector<TimeFactor>& factors,
                          nlohmann::json& entry);

/// Writes the scene `resolved` of an experiment, its resolved form, with values of its parameters.
/// @param scene what `resolved` says. Replaces `<name>.json` and `<name>-data` in `folder`.
/// @throws FileError on every rank.
template <int dim>
void write_scene_with_values(const std::string& resolved, const Scene& scene,
                             const DistributedGeometry<dim>& geometry,
                             const std::vector<ParameterField<dim>>& fields,
                             const std::vector<std::vector<double>>& values,
                             const std::filesystem::path& folder, const std::string& name);

} // namespace recoil::app
