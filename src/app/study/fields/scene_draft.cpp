#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <system_error>

#include "recoil/app/study/base/study_folder.hpp"
#include "recoil/app/study/fields/parameter_values.hpp"
#include "recoil/app/study/remesh/body_files.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"

namespace recoil::app {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* values_file = "values.h5";

/// The vertices of all bodies in the order of the mesh files, on every rank.
template <int dim>
std::vector<Eigen::Vector3d> gather_vertices(const mesh::DistributedMesh<dim>& mesh) {
  std::vector<double> coordinates(mesh.num_vertices_global * 3, 0.0);
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v)
    for (int i = 0; i < dim; ++i) coordinates[mesh.vertex_ids[v] * 3 + i] = mesh.vertices[v][i];
  mesh.comm->sum(coordinates);
  std::vector<Eigen::Vector3d> vertices(mesh.num_vertices_global);
  for (std::size_t v = 0; v < vertices.size(); ++v)
    vertices[v] = Eigen::Map<const Eigen::Vector3d>(coordinates.data() + 3 * v);
  return vertices;
}

json to_json(const std::vector<TimeFactor>& factors) {
  using Kind = TimeFactor::Kind;
  static const std::map<Kind, const char*> names{{Kind::none, "none"},
                                                 {Kind::linear, "linear"},
                                                 {Kind::linear_ramp, "linear_ramp"},
                                                 {Kind::piecewise_constant, "piecewise_constant"},
                                                 {Kind::piecewise_linear, "piecewise_linear"}};
  json list = json::array();
  for (const TimeFactor& factor : factors) {
    json entry{{"type", names.at(factor.kind)}};
    if (factor.kind == Kind::linear_ramp) entry.update({{"from", factor.from}, {"to", factor.to}});
    if (!factor.points.empty()) entry.update({{"points", factor.points}, {"values", factor.values}});
    list.push_back(std::move(entry));
  }
  return list;
}

} // namespace

SceneData::SceneData(const parallel::Communicator& comm, const fs::path& folder, const std::string& name)
    : comm_(comm), scene_(fs::absolute(folder / (name + ".json")).lexically_normal()),
      data_(fs::absolute(folder / (name + "-data")).lexically_normal()), aside_(data_.string() + ".part") {}

void SceneData::make_folder() {
  if (has_folder_) return;
  has_folder_ = true;
  parallel::collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    discard(aside_);
    std::error_code error;
    fs::create_directory(aside_, error);
    if (error) throw FileError(aside_.string() + ": cannot be made: " + error.message());
  });
}

nlohmann::json SceneData::add_array(const std::string& dataset, std::span<const double> rows, int columns) {
  make_folder();
  if (!arrays_) arrays_ = std::make_unique<io::Hdf5Writer>(comm_, aside_ / values_file);
  const int before = times_[dataset]++;
  const std::string name = before == 0 ? dataset : dataset + "-" + std::to_string(before + 1);
  arrays_->write_rows<double>(name, rows, columns);
  return {{"file", (data_ / values_file).string()}, {"dataset", "/" + name}};
}

std::string SceneData::add_text(const std::string& file, const std::string& text) {
  make_folder();
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) write_file_atomically(aside_ / file, text);
  });
  return (data_ / file).string();
}

void SceneData::commit(const nlohmann::json& scene) {
  if (arrays_) arrays_->close();
  parallel::collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    // Without its scene, data of one moment can never be read with the values of another.
    discard(scene_);
    discard(data_);
    if (has_folder_) rename_durably(aside_, data_);
    write_file_atomically(scene_, scene.dump(2) + "\n");
  });
}

template <int dim>
nlohmann::json& SceneDraft<dim>::body(const std::string& name) {
  nlohmann::json& bodies = json["geometry"];
  const auto found = std::ranges::find_if(bodies, [&](const auto& entry) { return entry["name"] == name; });
  RECOIL_ASSERT(found != bodies.end());
  return *found;
}

template <int dim>
nlohmann::json SceneDraft<dim>::number_or_per_element(const std::string& dataset,
                                                      const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (LocalIndex cell = 0; cell < geometry.mesh.num_owned_cells; ++cell) {
    if (std::isnan(values[cell])) continue;
    low = std::min(low, values[cell]);
    high = std::max(high, values[cell]);
  }
  low = geometry.mesh.comm->min(low);
  if (low == geometry.mesh.comm->max(high)) return low;
  const std::size_t count = geometry.mesh.num_owned_cells;
  const io::BlockLayout rows(*geometry.mesh.comm, std::span(geometry.mesh.cell_ids).first(count));
  return data.add_array(dataset, rows.to_blocks<double>(std::span(values).first(count), 1), 1);
}

void write_values_in_time(const std::vector<double>& values, const std::vector<TimeFactor>& factors,
                          json& entry) {
  json& value = entry["value"];
  if (value.is_array() && value.size() > values.size())
    std::ranges::copy(values, value.begin());
  else if (value.is_array() || values.size() > 1)
    value = values;
  else
    value = values.front();
  entry.erase("time_reference");
  entry.erase("interpolation");
  if (factors.empty()) return;
  json list = to_json(factors);
  while (list.size() > 1 && value.is_array() && list.size() < value.size())
    list.push_back({{"type", "none"}});
  entry["interpolation"] = std::move(list);
}

template <int dim>
void write_scene_with_values(const std::string& resolved, const Scene& scene,
                             const DistributedGeometry<dim>& geometry, const ParameterFields<dim>& fields,
                             const ParameterValues& values, const std::filesystem::path& folder,
                             const std::string& name, const mesh::DistributedMesh<dim>* moved) {
  Scene with_values = scene;
  DistributedGeometry<dim> shape = geometry;
  CellOverrides overrides;
  apply_parameters<dim>(fields, values, {with_values, shape, overrides});
  if (moved) shape.mesh.vertices = moved->vertices;
  SceneData data(*geometry.mesh.comm, folder, name);
  SceneDraft<dim> draft{json::parse(resolved), with_values, shape, overrides, data};
  for (std::size_t k = 0; k < fields.size(); ++k)
    actions_of<dim>(*fields[k].spec).write(fields[k], values[k], draft);
  data.commit(draft.json);
}

template <int dim>
void write_meshes(const std::vector<std::string>& bodies, SceneDraft<dim>& to) {
  const parallel::Communicator& comm = *to.geometry.mesh.comm;
  const std::vector<Eigen::Vector3d> vertices = gather_vertices(to.geometry.mesh);
  mesh::SimplexMesh mesh;
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) mesh = mesh::assemble_geometry(to.scene.geometry, dim).deformable;
  });
  const auto& names = to.geometry.mesh.body_names;
  for (int k = 0; k < std::ssize(names); ++k) {
    if (!bodies.empty() && !holds(bodies, names[k])) continue;
    std::map<std::string, std::string> texts;
    if (comm.rank() == 0) {
      BodyPart part = part_of(mesh, k);
      std::copy_n(vertices.begin() + part.first_vertex, part.mesh.vertices.size(),
                  part.mesh.vertices.begin());
      write_body(part, [&](const std::string& ending, const std::string& text) { texts[ending] = text; });
    }
    json& entry = to.body(names[k]);
    json moved{{"name", names[k]}};
    const std::string file = "body-" + std::to_string(k);
    moved["mesh"] = to.data.add_text(file + ".msh", texts[".msh"]);
    for (const auto& [selection, ending] :
         {std::pair("surface_selection", "-facets.txt"), std::pair("point_selection", "-points.txt")})
      if (comm.any(!texts[ending].empty()))
        moved[selection] = {
            {{"file", to.data.add_text(file + ending, texts[ending])}, {"boundary_only", false}}};
    entry = std::move(moved);
  }
  write_element_data_again(to);
  const auto& box = to.geometry.mesh;
  // Tolerances of a study are those of the shape that it starts from.
  if (!elements_of(to.scene).solver.characteristic_length)
    to.json["solver"]["advanced"]["characteristic_length"] = (box.max_corner - box.min_corner).norm();
}

template struct SceneDraft<2>;
template struct SceneDraft<3>;
template void write_scene_with_values(const std::string&, const Scene&, const DistributedGeometry<2>&,
                                      const ParameterFields<2>&, const ParameterValues&,
                                      const std::filesystem::path&, const std::string&,
                                      const mesh::DistributedMesh<2>*);
template void write_scene_with_values(const std::string&, const Scene&, const DistributedGeometry<3>&,
                                      const ParameterFields<3>&, const ParameterValues&,
                                      const std::filesystem::path&, const std::string&,
                                      const mesh::DistributedMesh<3>*);
template void write_meshes(const std::vector<std::string>&, SceneDraft<2>&);
template void write_meshes(const std::vector<std::string>&, SceneDraft<3>&);

} // namespace recoil::app
