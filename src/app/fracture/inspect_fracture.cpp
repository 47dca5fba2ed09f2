#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "app/fracture/fracture_folder.hpp"
#include "app/fracture/fracture_jobs.hpp"
#include "app/fracture/shape_body.hpp"
#include "recoil/app/fracture/fracture.hpp"
#include "recoil/app/run/run_inputs.hpp"
#include "recoil/base/json_depth.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;
namespace fm = solvers::fracture_modes;

/// Of the elements and the faces between them.
struct GraphSizes {
  GlobalIndex elements = 0, faces = 0, unbreakable = 0;
};

template <int dim>
GraphSizes sizes_of(const parallel::Communicator& comm, const Shape& shape, const ShapeBody& body) {
  const auto mesh = mesh::distribute<dim>(comm, body.mesh);
  const fm::ElementGraph graph = fm::explode<dim>(mesh, material_of<dim>(shape, mesh));
  GraphSizes sizes{mesh.num_cells_global};
  for (const fm::ElementFace& face : graph.faces)
    if (face.counted) ++(face.breakable ? sizes.faces : sizes.unbreakable);
  sizes.faces = comm.sum(sizes.faces);
  sizes.unbreakable = comm.sum(sizes.unbreakable);
  return sizes;
}

/// A line for a file and whether it is as it was written.
void describe_file(const parallel::Communicator& comm, const fs::path& file, const Json& recorded,
                   RunReport& report) {
  const std::string damage = damage_of(comm, file, recorded);
  report.text += fmt::format("  {:<24} {:>12} bytes  {}\n", file.filename().string(),
                             recorded.at("bytes").get<std::uint64_t>(),
                             damage.empty() ? "sound" : "DAMAGED: the file " + damage);
  report.sound = report.sound && damage.empty();
}

void describe_inputs(const parallel::Communicator& comm, const FracturePaths& paths, RunReport& report) {
  const SealedJson inputs = read_sealed_json(comm, paths.inputs());
  try {
    if (!inputs.content)
      throw FileError(paths.inputs().string() + ": the file is " + (inputs.exists ? "damaged" : "missing"));
    require_undamaged(comm, paths.shape(), inputs.content->at("shape"), paths.inputs());
  } catch (const FileError& damaged) {
    report.text += std::string("DAMAGED: ") + damaged.what() + "\n";
    report.sound = false;
  }
}

/// Of a search that has not ended.
void describe_state(const parallel::Communicator& comm, const FracturePaths& paths, RunReport& report) {
  const std::string cure = "continue with `recoil fracture --restart " + paths.root.string() + "`\n";
  const SealedJson state = read_sealed_json(comm, paths.state());
  if (!state.exists) {
    report.text += "the search has not begun; " + cure;
    return;
  }
  if (!state.content) {
    report.text +=
        "DAMAGED: " + paths.state().string() + " is damaged; remove it to search from the beginning\n";
    report.sound = false;
    return;
  }
  const Json& record = state.content->at("state");
  report.text += fmt::format("the search is not at its end, {} modes are found; {}",
                             record.is_null() ? 0 : record.at("counts").at("modes").get<int>(), cure);
  describe_file(comm, paths.starts(), state.content->at("eigenvectors").at("file"), report);
  if (const Json& scalar = state.content->at("scalar_modes"); !scalar.is_null())
    describe_file(comm, paths.scalar_modes(), scalar.at("file"), report);
  if (const Json& strains = state.content->at("strains"); !strains.is_null())
    describe_file(comm, paths.strains(), strains.at("file"), report);
  if (!record.is_null())
    describe_file(comm, paths.state_fields(record.at("which").get<int>()), record.at("file"), report);
}

void describe_modes(const Json& summary, RunReport& report) {
  report.text +=
      fmt::format("{}D, {} elements, {} modes, {} pieces, {:.3g} s\n", summary.at("dim").get<int>(),
                  summary.at("elements").get<GlobalIndex>(), summary.at("modes").get<int>(),
                  summary.at("pieces").get<int>(), summary.at("seconds").at("all").get<double>());
  int mode = 1;
  for (const Json& energy : summary.at("energies"))
    report.text += fmt::format("  mode {:>3}  energy {:.8g}\n", mode++, energy.get<double>());
}

} // namespace

bool is_shape_file(const parallel::Communicator& comm, const fs::path& file) {
  const std::optional<std::string> text = read_if_there(comm, file);
  if (!text) return false;
  try {
    require_shallow_json(*text, file);
  } catch (const FileError&) {
    return false;
  }
  const auto root = nlohmann::json::parse(*text, nullptr, false);
  return root.is_object() && root.contains("modes");
}

std::string validate_shape(const parallel::Communicator& comm, const fs::path& path) {
  LogOptions log;
  log.rank = comm.rank();
  log.level = LogLevel::warning;
  initialize_log(log);
  const ShapeFile file = load_shape(comm, path);
  const ShapeBody body = load_body(comm, file.shape);
  const GraphSizes sizes = (body.dim == 2 ? sizes_of<2> : sizes_of<3>)(comm, file.shape, body);
  if (comm.rank() != 0) return {};
  std::string report = fmt::format("{}: valid, {}D, {} elements, {} faces between them that may break",
                                   path.string(), body.dim, sizes.elements, sizes.faces);
  if (sizes.unbreakable > 0) report += fmt::format(", {} that may not", sizes.unbreakable);
  report += fmt::format("; {} modes are looked for\n", file.shape.modes.count);
  for (const std::string& note : body.notes) report += "  " + note + "\n";
  for (const auto* warnings : {&file.shape.geometry.warnings, &body.warnings})
    for (const std::string& warning : *warnings) report += "  warning: " + warning + "\n";
  return report;
}

bool is_fracture_folder(const parallel::Communicator& comm, const fs::path& folder) {
  std::error_code error;
  const bool is_one = comm.rank() == 0 && fs::exists(FracturePaths{folder}.shape(), error);
  return comm.any(is_one) || are_pieces(comm, folder);
}

RunReport describe_fracture(const parallel::Communicator& comm, const fs::path& folder) {
  if (are_pieces(comm, folder)) return describe_pieces(comm, folder);
  const FracturePaths paths{folder};
  RunReport report{folder.string() + "\n"};
  describe_inputs(comm, paths, report);
  const SealedJson summary = read_sealed_json(comm, paths.summary());
  if (!summary.exists) {
    describe_state(comm, paths, report);
    return report;
  }
  if (!summary.content) {
    report.text += "DAMAGED: " + paths.summary().string() +
                   " is damaged; remove it and run recoil fracture --restart " + folder.string() + "\n";
    report.sound = false;
    return report;
  }
  describe_modes(*summary.content, report);
  describe_file(comm, paths.modes(), summary.content->at("modes.h5"), report);
  return report;
}

} // namespace recoil::app
