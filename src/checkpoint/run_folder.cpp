#include "recoil/checkpoint/run_folder.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "checkpoint/manifest.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::checkpoint {
namespace fs = std::filesystem;

namespace {

constexpr const char *scene_name = "scene.json", *log_name = "log.txt", *trajectory_name = "trajectory";
// Until there is a manifest, which holds the checksum of the scene too.
constexpr const char* scene_crc_name = "scene.crc32";

bool is_lock(const std::string& name) { return name.starts_with("recoil.lock"); }

// The initial state is the only one of the first file, and the manifest follows it at once.
bool is_leftover_of_trajectory(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  return fs::is_regular_file(entry.symlink_status()) &&
         (name == scene_crc_name || name == mesh_name || name == state_file_name(0) ||
          name.ends_with(".part"));
}

/// What `is_leftover` does not know in `folder`; empty if there is nothing. @throws FileError if the folder
/// cannot be listed.
std::string first_other_entry(const fs::path& folder, const IsLeftover& is_leftover) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (!is_leftover(entry)) return entry.path().filename().string();
  if (error) throw FileError(folder.string() + ": cannot list the folder: " + error.message());
  return {};
}

/// Removes what is in `folder` but locks and logs. Files go before the folders beside them, which tell that
/// the files were recoil's.
void remove_contents(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> files, folders;
  for (const auto& entry : fs::directory_iterator(folder, error))
    (fs::is_directory(entry.symlink_status(error)) ? folders : files).push_back(entry.path());
  for (const fs::path& file : files)
    if (!error && !is_lock(file.filename()) && file.filename() != log_name) fs::remove(file, error);
  for (const fs::path& inner : folders) {
    if (!error) remove_contents(inner, error);
    if (!error) fs::remove_all(inner, error);
  }
}

void require_scene_as_begun(const fs::path& scene, const fs::path& record) {
  std::error_code error;
  if (!fs::exists(record, error) || read_file(record) == std::to_string(file_crc32(scene)) + "\n") return;
  throw FileError(scene.string() + ": the file is damaged or was changed: its CRC-32 is not that in " +
                  record.string() + ". Put a sound copy in its place, or start again in a new folder");
}

} // namespace

bool is_file_or_part(const fs::directory_entry& entry, const std::string& name) {
  const std::string found = entry.path().filename().string();
  return fs::is_regular_file(entry.symlink_status()) &&
         (found == name || (found.starts_with(name + ".") && found.ends_with(".part")));
}

bool holds_only_leftovers(const fs::path& folder, const IsLeftover& is_leftover) {
  return first_other_entry(folder, is_leftover).empty();
}

bool is_leftover_of_run(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (fs::is_directory(entry.symlink_status()))
    return name == trajectory_name && holds_only_leftovers(entry, is_leftover_of_trajectory);
  if (is_file_or_part(entry, scene_name)) {
    std::error_code error;
    const fs::path folder = entry.path().parent_path();
    return fs::exists(folder / trajectory_name, error) || fs::exists(folder / log_name, error);
  }
  return fs::is_regular_file(entry.symlink_status()) && (is_lock(name) || name == log_name);
}

RunFolder RunFolder::create(const parallel::Communicator& comm, const fs::path& root,
                            const IsLeftover& is_leftover) {
  RunFolder folder(root);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    const fs::file_status status = fs::status(root, error);
    if (!fs::exists(status) && fs::is_symlink(fs::symlink_status(root, error)))
      throw FileError(root.string() + ": the output folder (-o) is a link to '" +
                      fs::read_symlink(root, error).string() +
                      "', which is not there; make that folder or remove the link");
    if (fs::exists(status) && !fs::is_directory(status))
      throw InputError(root.string(), "the output folder (-o) is a file; choose another name");
    const auto refuse_used = [&] {
      const std::string other = first_other_entry(root, is_leftover);
      if (!other.empty())
        throw InputError(root.string(),
                         "the output folder (-o) is not empty, it holds '" + other +
                             "'; choose a new folder, or continue the run in it with --restart " +
                             root.string());
    };
    folder.made_folder_ = !fs::exists(status);
    if (fs::exists(status)) refuse_used();
    fs::create_directories(root, error);
    if (error) throw FileError(root.string() + ": cannot make the output folder: " + error.message());
    folder.lock_.emplace(root);
    // Another job may have used the folder between the look and the lock.
    refuse_used();
    remove_contents(root, error);
    if (error)
      throw FileError(root.string() + ": cannot remove what an earlier run left: " + error.message());
  });
  return folder;
}

RunFolder RunFolder::open(const parallel::Communicator& comm, const fs::path& root) {
  RunFolder folder(root);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    if (!fs::is_directory(root, error))
      throw InputError(root.string(),
                       "there is no such run folder; give the folder that an earlier run got with -o");
    if (!fs::exists(root / "scene.json", error))
      throw InputError(root.string(),
                       "this is no run folder, it has no scene.json; give the folder that an earlier "
                       "run got with -o, or start the run again in a new folder");
    if (fs::is_symlink(fs::symlink_status(folder.trajectory(), error)))
      throw FileError(
          folder.trajectory().string() +
          ": is a link, through which the run would write elsewhere; copy its target to this place");
    folder.lock_.emplace(root);
  });
  return folder;
}

void RunFolder::begin(const parallel::Communicator& comm, const std::string& resolved_scene) const {
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    // First, so that it tells whose scene.json this is.
    std::error_code error;
    fs::create_directory(trajectory(), error);
    if (error) throw FileError(trajectory().string() + ": cannot make the folder: " + error.message());
    const std::uint32_t crc = crc32(std::as_bytes(std::span(resolved_scene)));
    write_file_atomically(trajectory() / scene_crc_name, std::to_string(crc) + "\n");
    write_file_atomically(scene(), resolved_scene);
  });
}

void RunFolder::drop_scene_checksum(const parallel::Communicator& comm) const {
  if (comm.rank() != 0) return;
  std::error_code ignored;
  fs::remove(trajectory() / scene_crc_name, ignored);
}

bool RunFolder::has_states(const parallel::Communicator& comm) const {
  const bool begun = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return false;
    std::error_code error;
    const fs::path manifest = trajectory() / manifest_name;
    if (fs::exists(manifest, error)) return true;
    // What is written after the first manifest only.
    std::string later;
    for (const fs::path& file : {ledger(), summary()})
      if (fs::exists(file, error)) later = file.string();
    if (later.empty() && fs::exists(trajectory(), error)) {
      later = first_other_entry(trajectory(), is_leftover_of_trajectory);
      if (!later.empty()) later = (trajectory() / later).string();
    }
    if (!later.empty())
      throw FileError(manifest.string() +
                      ": the manifest of the trajectory is missing, though the run came as far as " + later +
                      ". Put a sound copy in its place, or start the run again in a new folder");
    require_scene_as_begun(scene(), trajectory() / scene_crc_name);
    return false;
  });
  return comm.any(begun);
}

void RunFolder::discard() {
  if (!lock_) return;
  std::error_code ignored;
  fs::remove(scene(), ignored);
  fs::remove(log(), ignored);
  fs::remove(trajectory() / scene_crc_name, ignored);
  fs::remove(trajectory(), ignored); // only if it is empty
  lock_.reset();
  if (made_folder_) fs::remove(root_, ignored);
}

} // namespace recoil::checkpoint
