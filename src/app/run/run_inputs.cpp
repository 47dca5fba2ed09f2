#include "recoil/app/run/run_inputs.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <variant>

#include "recoil/app/run/sealed_json.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;

void add(std::vector<fs::path>& files, const fs::path& path) {
  if (!path.empty()) files.push_back(path);
}

void add_selections(std::vector<fs::path>& files, const std::vector<mesh::Selection>& selections) {
  for (const mesh::Selection& selection : selections)
    if (const auto* file = std::get_if<mesh::FileSelection>(&selection.shape)) add(files, file->path);
}

Json digest_of(const fs::path& file) {
  std::error_code error;
  if (fs::status(file, error).type() == fs::file_type::not_found) return nullptr;
  return file_crc32(file);
}

} // namespace

std::vector<fs::path> input_files(const Scene& scene) {
  std::vector<fs::path> files;
  for (const mesh::GeometrySpec& body : scene.geometry) {
    add(files, body.mesh);
    for (const auto* list : {&body.volume_selection, &body.surface_selection, &body.point_selection})
      add_selections(files, *list);
  }
  for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) {
    add(files, entry.node_file);
    if (entry.nodal) add(files, entry.nodal->file);
  }
  std::ranges::move(scene.own->files(), std::back_inserter(files));
  for (const MaterialValue& value : scene.boundary_conditions.rhs)
    if (const fs::path* file = file_of(value)) add(files, *file);
  for (const auto* fields : {&scene.initial_conditions.velocity, &scene.initial_conditions.solution})
    for (const InitialField& field : *fields)
      if (field.nodes) add(files, field.nodes->file);
  return files;
}

Json digests_of(const parallel::Communicator& comm, const std::vector<fs::path>& files) {
  std::string text;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    Json digests = Json::object();
    for (const fs::path& file : files) digests[file.string()] = digest_of(file);
    text = digests.dump();
  });
  comm.broadcast(text);
  return Json::parse(text);
}

void require_unchanged(const parallel::Communicator& comm, const Json& digests, const std::string& whose) {
  std::vector<fs::path> files;
  for (const auto& [file, digest] : digests.items()) files.emplace_back(file);
  const Json now = digests_of(comm, files);
  for (const auto& [file, digest] : digests.items())
    if (now.at(file) != digest)
      throw InputError(
          file, std::string(now.at(file).is_null() ? "is not there any more" : "has changed") + "; " + whose +
                    " was begun with it: put the file of then back, or start again in a new folder");
}

void require_undamaged(const parallel::Communicator& comm, const fs::path& file, const Json& digest,
                       const fs::path& record, const std::string& more) {
  const Json now = digests_of(comm, {file}).front();
  if (now == digest) return;
  throw FileError(file.string() + ": the file " +
                  (now.is_null()
                       ? "is missing"
                       : "is damaged or was changed: its CRC-32 is not that in " + record.string()) +
                  ". Put a sound copy in its place, or start again in a new folder" + more);
}

Json run_inputs(const parallel::Communicator& comm, const fs::path& scene, const std::vector<fs::path>& files,
                std::optional<std::uint32_t> study_values) {
  Json inputs{{"scene", digests_of(comm, {scene}).front()}, {"files", digests_of(comm, files)}};
  if (study_values) inputs["study_values"] = *study_values;
  return inputs;
}

std::string run_metadata(const Scene& scene, int dim, const Json& inputs) {
  Json json{{"solver", scene.solver}, {"version", version()}, {"dim", dim}};
  for (const auto& [name, value] : scene.own->scheme())
    std::visit([&json, &key = name](const auto& content) { json[key] = content; }, value);
  json["inputs"] = inputs;
  return json.dump();
}

Json inputs_of(const checkpoint::TrajectoryReader& trajectory) {
  const Json metadata = Json::parse(trajectory.metadata());
  if (!metadata.contains("inputs"))
    throw FileError("the trajectory does not tell what its run was begun with; it was not written by recoil "
                    "simulate or recoil gradient");
  return metadata.at("inputs");
}

std::optional<std::uint32_t> require_run_inputs(const parallel::Communicator& comm, const fs::path& scene,
                                                const fs::path& trajectory, const std::string& whose) {
  const Json inputs = inputs_of(checkpoint::TrajectoryReader(comm, trajectory));
  require_undamaged(comm, scene, inputs.at("scene"), trajectory / "manifest.json");
  require_unchanged(comm, inputs.at("files"), whose);
  if (!inputs.contains("study_values")) return {};
  return inputs.at("study_values").get<std::uint32_t>();
}

} // namespace recoil::app
