#include <algorithm>
#include <system_error>

#include "checkpoint/trajectory_folder.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::checkpoint {
namespace fs = std::filesystem;

Manifest read_manifest(const parallel::Communicator& comm, const fs::path& folder) {
  const fs::path path = folder / manifest_name;
  std::string text = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return std::string();
    std::error_code error;
    if (fs::status(path, error).type() == fs::file_type::not_found)
      throw FileError(path.string() +
                      ": the trajectory has no manifest; the run ended before its initial state was "
                      "complete");
    return read_file(path);
  });
  comm.broadcast(text);
  return parallel::collectively(comm, [&] { return Manifest::parse(text, path); });
}

Damage damage_of(const parallel::Communicator& comm, const fs::path& folder, const FileEntry& file) {
  const fs::path path = folder / file.name;
  std::error_code error;
  // The first rank's look decides, as the others may see an older state of the folder.
  const bool missing =
      comm.any(comm.rank() == 0 && fs::status(path, error).type() == fs::file_type::not_found);
  if (missing) return {Damage::Kind::missing, "is missing"};
  try {
    const io::FileDigest found = io::digest(comm, path);
    if (found.bytes != file.digest.bytes)
      return {Damage::Kind::changed, "is damaged: it has " + std::to_string(found.bytes) +
                                         " bytes instead of " + std::to_string(file.digest.bytes)};
    if (found.crc32 != file.digest.crc32)
      return {Damage::Kind::changed, "is damaged: its CRC-32 is not that of the manifest"};
    return {};
  } catch (const FileError& unreadable) {
    return {Damage::Kind::unreadable, std::string("cannot be read: ") + unreadable.what()};
  }
}

std::string remedy(const Damage& damage) {
  return damage.kind == Damage::Kind::unreadable
             ? ". Check that every rank can read it, then run again"
             : ". Put a sound copy in its place, or start the run again in a new folder";
}

std::vector<std::size_t> files_for_restart(const Manifest& manifest, const StateIndex& index,
                                           std::size_t number) {
  std::vector<std::size_t> files = {number};
  for (const GlobalIndex id : manifest.files[number].restart)
    files.push_back(index.location(id).value().file);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::vector<FileReport> verify(const parallel::Communicator& comm, const fs::path& folder) {
  const Manifest manifest = read_manifest(comm, folder);
  std::vector<FileReport> reports;
  reports.push_back(
      {manifest.mesh.name, manifest.mesh.digest.bytes, 0, 0, 0, damage_of(comm, folder, manifest.mesh).text});
  for (const StateFile& file : manifest.files) {
    FileReport report{file.name, file.digest.bytes, 0, 0, 0, damage_of(comm, folder, file).text};
    for (const StateEntry& entry : file.states) {
      if (entry.kept != StateEntry::Kept::stored) continue;
      if (report.states++ == 0) report.first_time = entry.record.time;
      report.last_time = entry.record.time;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

} // namespace recoil::checkpoint
