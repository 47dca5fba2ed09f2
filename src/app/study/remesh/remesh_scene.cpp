#include "recoil/app/study/remesh/remesh_scene.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "recoil/app/scene/read_scene.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/remesh/body_files.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/run_program.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/input/node_values.hpp"
#include "recoil/mesh/input/quality.hpp"
#include "recoil/mesh/input/remesh.hpp"

namespace recoil::app {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* arrays_file = "remeshed.h5";

/// Ids of facets or points by the numbers that their vertices have now. @throws InputError for a point that
/// is gone.
std::vector<BodyPart::Ids> renumbered(std::vector<BodyPart::Ids> ids,
                                      const std::vector<std::int32_t>& numbers, const std::string& body) {
  for (BodyPart::Ids& one : ids)
    for (std::int32_t& vertex : one.vertices) {
      if (numbers[vertex] < 0)
        throw InputError(
            fmt::format("body '{}' has the point id {} at a vertex inside, which a new mesh does not "
                        "have; give point ids to vertices of the boundary, or set "
                        "optimizer/renew_quality to 0",
                        body, one.id));
      vertex = numbers[vertex];
    }
  return ids;
}

/// Calls mesh::remesh_interior() and adds the advice that users of a study need to its errors.
mesh::RemeshedBody remesh(const mesh::BodyMesh& body, const mesh::Gmsh& gmsh, const fs::path& folder,
                          const std::string& name) {
  try {
    return mesh::remesh_interior(body, gmsh, folder, name);
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}. The inside of body '{}', which a shape moves, has to be meshed anew, and Gmsh "
                    "does that: install it (Debian: apt install gmsh) where PATH finds it, and continue with "
                    "--restart; to use another path in optimizer/gmsh of the study, start again in a new "
                    "folder",
                    error.what(), name));
  } catch (const TimeLimitError& error) {
    throw TimeLimitError(
        fmt::format("{}, while it meshed the inside of body '{}' anew; its messages are in {}. "
                    "Continue with --restart on a machine with less other work, or start again "
                    "in a new folder with a larger optimizer/gmsh_time_limit",
                    error.what(), name, (folder / "gmsh.log").string()));
  }
}

/// Replaces the files of a body, which keep their names.
void replace_files(const json& entry, const BodyPart& part) {
  const std::map<std::string, const char*> selections{{"-facets.txt", "surface_selection"},
                                                      {"-points.txt", "point_selection"}};
  write_body(part, [&](const std::string& ending, const std::string& text) {
    if (ending == ".msh") return write_file_atomically(entry["mesh"].get<std::string>(), text);
    if (const char* selection = selections.at(ending); !text.empty())
      write_file_atomically(entry[selection][0]["file"].get<std::string>(), text);
  });
}

/// Rows "vertex v_0 .." of a file of prescribed displacements, by the new numbers of its vertices.
std::string renumbered_rows(const fs::path& file, const std::vector<mesh::NodeValue>& rows, int dim,
                            const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const mesh::NodeValue& row : rows) {
    if (numbers[row.vertex] < 0)
      throw InputError(
          fmt::format("{} prescribes the displacement of vertex {}, which lies inside a body that needs "
                      "a new mesh; name vertices of the boundary, or set optimizer/renew_quality to 0",
                      file.string(), row.vertex));
    text += fmt::format("{} {}\n", numbers[row.vertex],
                        fmt::join(row.value.begin(), row.value.begin() + dim, " "));
  }
  return text;
}

/// The arrays that a scene names, on their way to a new file.
class ArrayFiles {
public:
  ArrayFiles(const parallel::Communicator& alone, fs::path path) : alone_(alone), path_(std::move(path)) {}

  /// Replaces {"file", "dataset"} wherever it stands below `value`.
  void carry(const MeshTransfer::Rows& rows, json& value) {
    if (value.is_object() && value.contains("file") && value.contains("dataset")) {
      const io::Hdf5Reader reader(value["file"].get<std::string>());
      const std::string dataset = value["dataset"].get<std::string>();
      const io::ArrayShape shape = reader.shape(dataset);
      if (!writer_) writer_.emplace(alone_, path_);
      const std::string name = "array-" + std::to_string(++count_);
      writer_->write_rows<double>(
          name, rows.carry(reader.read_rows<double>(dataset, 0, shape.rows), shape.columns), shape.columns);
      value = {{"file", path_.string()}, {"dataset", "/" + name}};
      return;
    }
    if (value.is_structured())
      for (json& part : value) carry(rows, part);
  }
  void close() {
    if (writer_) writer_->close();
  }

private:
  const parallel::Communicator& alone_;
  fs::path path_;
  std::optional<io::Hdf5Writer> writer_;
  int count_ = 0;
};

double quality_of(const mesh::BodyMesh& body) {
  double smallest = 1;
  for (const auto& cell : body.cells) {
    std::array<Eigen::Vector3d, 4> corners;
    for (int i = 0; i <= body.dim; ++i) corners[i] = body.vertices[cell[i]];
    smallest = std::min(smallest, mesh::scaled_jacobian(corners, body.dim));
  }
  return smallest;
}

} // namespace

RemeshedScene remesh_scene(const parallel::Communicator& alone, const fs::path& path,
                           const std::vector<std::string>& bodies, const mesh::Gmsh& gmsh) {
  const SceneFile file = read_scene(path, all_solvers().format());
  json scene = json::parse(file.resolved);
  const int dim = mesh::geometry_dimension(file.scene.geometry);
  const mesh::SimplexMesh old = mesh::assemble_geometry(file.scene.geometry, dim).deformable;
  const fs::path data = path.parent_path() / (path.stem().string() + "-data");
  RemeshedScene result;
  std::vector<std::int64_t> numbers(old.vertices.size(), -1);
  std::int64_t first_vertex = 0;
  for (std::int32_t k = 0; k < std::ssize(old.body_names); ++k) {
    BodyPart part = part_of(old, k);
    const std::string& name = old.body_names[k];
    std::vector<std::int32_t> own(part.mesh.vertices.size());
    if (bodies.empty() || holds(bodies, name)) {
      mesh::RemeshedBody made = remesh(part.mesh, gmsh, data, name);
      std::ranges::fill(own, -1);
      for (std::size_t i = 0; i < made.kept.size(); ++i) own[made.kept[i]] = i;
      part.mesh = std::move(made.mesh);
      part.facets = renumbered(std::move(part.facets), own, name);
      part.points = renumbered(std::move(part.points), own, name);
      const auto entry =
          std::ranges::find_if(scene["geometry"], [&](const json& one) { return one["name"] == name; });
      replace_files(*entry, part);
      result.min_scaled_jacobian = std::min(result.min_scaled_jacobian, quality_of(part.mesh));
    } else {
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = i;
    }
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] >= 0) numbers[part.first_vertex + i] = first_vertex + own[i];
    first_vertex += std::ssize(part.mesh.vertices);
  }
  const mesh::SimplexMesh renewed = mesh::assemble_geometry(file.scene.geometry, dim).deformable;
  result.transfer = dim == 2 ? make_mesh_transfer<2>(alone, file.scene, old, renewed)
                             : make_mesh_transfer<3>(alone, file.scene, old, renewed);
  ArrayFiles arrays(alone, data / arrays_file);
  arrays.carry(result.transfer.cells, scene["materials"]);
  json& conditions = scene["boundary_conditions"];
  if (conditions.contains("rhs")) arrays.carry(result.transfer.cells, conditions["rhs"]);
  if (scene.contains("initial_conditions")) arrays.carry(result.transfer.nodes, scene["initial_conditions"]);
  if (conditions.contains("dirichlet_boundary"))
    arrays.carry(result.transfer.nodes, conditions["dirichlet_boundary"]);
  arrays.close();
  int count = 0;
  if (conditions.contains("dirichlet_boundary"))
    for (json& entry : conditions["dirichlet_boundary"]) {
      if (!entry.is_string()) continue;
      const fs::path rows = entry.get<std::string>(),
                     target = data / fmt::format("dirichlet-{}.txt", ++count);
      write_file_atomically(
          target, renumbered_rows(rows, mesh::read_node_values(rows, dim, std::ssize(old.vertices), path),
                                  dim, numbers));
      entry = target.string();
    }
  write_file_atomically(path, scene.dump(2) + "\n");
  return result;
}

} // namespace recoil::app
