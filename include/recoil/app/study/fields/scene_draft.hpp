#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/app/solvers/elastodynamics/cell_overrides.hpp"
#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/io/hdf5_file.hpp"

/// Scenes with the values of parameters, as files. The members of SceneDraft and all functions here are
/// collective; the JSON is the same on all ranks.
namespace recoil::app {

/// A scene and the files that it names, on their way to a folder: `<name>.json`, and `<name>-data` with
/// arrays, meshes and ids. They are written aside and replace earlier ones in commit(), so that a scene that
/// is there is complete. All members are collective and throw FileError on every rank.
class SceneData {
public:
  /// `comm` must outlive it; `folder` must exist.
  SceneData(const parallel::Communicator& comm, const std::filesystem::path& folder, const std::string& name);

  /// Adds an array of which this rank holds `rows`, in rank order; the result is how a scene names it. A name
  /// that was used before gets a number.
  nlohmann::json add_array(const std::string& dataset, std::span<const double> rows, int columns);
  /// Adds a file with the text of the first rank; the result is how a scene names it.
  std::string add_text(const std::string& file, const std::string& text);
  /// Puts everything in place, the scene last.
  void commit(const nlohmann::json& scene);

private:
  void make_folder();

  const parallel::Communicator& comm_;
  std::filesystem::path scene_, data_, aside_;
  bool has_folder_ = false;
  std::map<std::string, int> times_; ///< how often names of arrays were used
  std::unique_ptr<io::Hdf5Writer> arrays_;
};

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
  /// A value per local cell as a scene gives it: one per element, or the number if the owned cells with a
  /// value other than NaN have the same everywhere.
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

/// Puts numbers and factors of time into an entry of the boundary conditions. Components beyond those of the
/// values stay what they are.
void write_values_in_time(const std::vector<double>& values, const std::vector<TimeFactor>& factors,
                          nlohmann::json& entry);

/// Writes the scene `resolved` of an experiment, its resolved form, with values of its parameters.
/// @param scene what `resolved` says.
/// @param moved if given, rest vertices in the place of those that the values make; with a parameter that is
/// a shape. Replaces `<name>.json` and `<name>-data` in `folder`.
/// @throws FileError on every rank.
template <int dim>
void write_scene_with_values(const std::string& resolved, const Scene& scene,
                             const DistributedGeometry<dim>& geometry, const ParameterFields<dim>& fields,
                             const std::vector<std::vector<double>>& values,
                             const std::filesystem::path& folder, const std::string& name,
                             const mesh::DistributedMesh<dim>* moved = nullptr);

} // namespace recoil::app
