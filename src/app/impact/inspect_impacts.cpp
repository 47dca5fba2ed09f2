#include <system_error>

#include <fmt/format.h>

#include "app/impact/impact_folder.hpp"
#include "recoil/app/impact/impact.hpp"
#include "recoil/app/run/sealed_json.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/json_depth.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;

/// What is wrong with the folder of one impact; empty if nothing is.
std::string damage_of_impact(const fs::path& folder, const Json& recorded) {
  std::error_code error;
  if (!fs::exists(folder / "pieces.json", error)) return "pieces.json is missing";
  try {
    const Json pieces = read_pieces_file(folder / "pieces.json");
    if (pieces.at("crc32") != recorded.at("crc32")) return "pieces.json is not the one of the manifest";
    for (const Json& piece : pieces.at("pieces")) {
      const auto name = piece.at("file").get<std::string>();
      if (!fs::exists(folder / name, error)) return name + " is missing";
      if (file_crc32(folder / name) != piece.at("crc32").get<std::uint32_t>()) return name + " is damaged";
    }
  } catch (const FileError& damaged) {
    return damaged.what();
  } catch (const nlohmann::json::exception&) {
    return "pieces.json is damaged";
  }
  return {};
}

RunReport describe(const fs::path& root) {
  RunReport report;
  std::error_code error;
  const fs::path manifest_path = root / "manifest.json";
  if (!fs::exists(manifest_path, error)) {
    int done = 0;
    while (fs::exists(root / fmt::format("fractured_{}", done) / "pieces.json", error)) ++done;
    report.text = fmt::format("impacts, interrupted after {} of them; recoil impact --restart {} goes on\n",
                              done, root.string());
    return report;
  }
  const std::string text = read_file(manifest_path);
  require_shallow_json(text, manifest_path);
  try {
    const Json manifest = Json::parse(text);
    report.text = fmt::format("{} impacts in {}D, {} pieces; volumes add up within {:.1e}\n",
                              manifest.at("impacts").size(), manifest.at("dim").get<int>(),
                              manifest.at("pieces").get<std::size_t>(),
                              manifest.at("largest_relative_difference").get<double>());
    for (const Json& impact : manifest.at("impacts")) {
      const auto name = impact.at("folder").get<std::string>();
      const std::string damage = damage_of_impact(root / name, impact);
      report.text += fmt::format(
          "  {:<16} {:>4} fragments {:>4} pieces  {}\n", name, impact.at("fragments").get<std::size_t>(),
          impact.at("pieces").get<std::size_t>(), damage.empty() ? "sound" : "DAMAGED: " + damage);
      report.sound = report.sound && damage.empty();
    }
  } catch (const nlohmann::json::exception&) {
    report.text += "DAMAGED: " + manifest_path.string() + "\n";
    report.sound = false;
  }
  return report;
}

} // namespace

bool is_impact_folder(const parallel::Communicator& comm, const fs::path& folder) {
  const bool found = parallel::collectively(comm, [&] {
    std::error_code error;
    return comm.rank() == 0 && fs::exists(folder / "impacts.json", error) &&
           fs::exists(folder / "inputs.json", error);
  });
  return comm.any(found);
}

RunReport describe_impacts(const parallel::Communicator& comm, const fs::path& folder) {
  RunReport report =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? describe(folder) : RunReport(); });
  report.sound = comm.all(report.sound);
  return report;
}

} // namespace recoil::app
