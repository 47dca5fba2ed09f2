#include "app/impact/impact_folder.hpp"

#include <system_error>

#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/run/sealed_json.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/json_depth.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

/// Files that are there before anything has been broken. An impacts.json without a log is somebody's own.
bool is_leftover_of_impact(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (!fs::is_regular_file(entry.symlink_status(error))) return false;
  if (name == "log.txt" || name.starts_with("recoil.lock")) return true;
  const bool is_input =
      checkpoint::is_file_or_part(entry, "impacts.json") || checkpoint::is_file_or_part(entry, "inputs.json");
  return is_input && fs::exists(entry.path().parent_path() / "log.txt", error);
}

} // namespace

Json read_pieces_file(const fs::path& path) {
  const std::string text = read_file(path);
  require_shallow_json(text, path);
  try {
    Json json = Json::parse(text);
    for (const char* key : {"sums", "fragments", "pieces"}) json.at(key);
    json["crc32"] = checksum_of(text);
    return json;
  } catch (const nlohmann::json::exception&) {
    throw FileError(path.string() +
                    ": the file is damaged; remove the folder around it and manifest.json, and run "
                    "recoil impact with --restart");
  }
}

void remove_all_of(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw FileError(path.string() + ": cannot be removed: " + error.message());
}

ImpactFolder ImpactFolder::create(const parallel::Communicator& comm, const fs::path& root) {
  ImpactFolder folder(root);
  folder.made_ = std::make_unique<checkpoint::RunFolder>(
      checkpoint::RunFolder::create(comm, root, is_leftover_of_impact));
  return folder;
}

ImpactFolder ImpactFolder::open(const parallel::Communicator& comm, const fs::path& root) {
  ImpactFolder folder(root);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    const std::string given = "give the one that an earlier recoil impact got with -o";
    if (!fs::is_directory(root, error)) throw InputError(root.string(), "there is no such folder; " + given);
    if (!fs::exists(folder.inputs(), error) || !fs::exists(folder.impacts(), error))
      throw InputError(root.string(), "this is no folder of recoil impact, it has no impacts.json and "
                                      "inputs.json; " +
                                          given + ", or start again in a new folder");
    folder.lock_ = std::make_unique<FolderLock>(root);
  });
  const SealedJson sealed = read_sealed_json(comm, folder.inputs());
  if (!sealed.content || !sealed.content->contains("modes"))
    throw FileError(
        folder.inputs().string() +
        ": the record of what the impacts are applied to is damaged. Put a sound copy of this file in "
        "its place, or start again in a new folder");
  require_undamaged(comm, folder.impacts(), sealed.content->at("impacts"), folder.inputs());
  require_unchanged(comm, sealed.content->at("files"), "the folder");
  folder.modes_ = sealed.content->at("modes").get<std::string>();
  return folder;
}

void ImpactFolder::begin(const parallel::Communicator& comm, const fs::path& modes,
                         const std::string& resolved) const {
  const fs::path from = fs::absolute(modes).lexically_normal();
  // modes.json holds the checksum of modes.h5.
  write_sealed_json(comm, inputs(),
                    {{"modes", from.string()},
                     {"impacts", checksum_of(resolved)},
                     {"files", digests_of(comm, {from / "modes.json"})}});
  write_on_first(comm, impacts(), resolved);
}

bool ImpactFolder::is_done(std::size_t k) const {
  std::error_code error;
  if (fs::exists(pieces(k), error)) return true;
  remove_all_of(fractured(k));
  return false;
}

void ImpactFolder::discard(const parallel::Communicator& comm) {
  std::error_code ignored;
  if (comm.rank() == 0)
    for (const fs::path& file : {impacts(), inputs(), bonded()}) fs::remove(file, ignored);
  if (made_) made_->discard();
}

} // namespace recoil::app
