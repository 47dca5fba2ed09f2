#include "app/fracture/fracture_folder.hpp"

#include <system_error>

#include "recoil/app/run/run_inputs.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

/// Files that are there before anything has been computed. A fracture.json without a log is somebody's own.
bool is_leftover_of_fracture(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (!fs::is_regular_file(entry.symlink_status(error))) return false;
  if (name == "log.txt" || name.starts_with("recoil.lock")) return true;
  const bool is_input = checkpoint::is_file_or_part(entry, "fracture.json") ||
                        checkpoint::is_file_or_part(entry, "inputs.json");
  return is_input && fs::exists(entry.path().parent_path() / "log.txt", error);
}

} // namespace

FractureFolder FractureFolder::create(const parallel::Communicator& comm, const fs::path& root) {
  FractureFolder folder(root);
  folder.made_ = std::make_unique<checkpoint::RunFolder>(
      checkpoint::RunFolder::create(comm, root, is_leftover_of_fracture));
  return folder;
}

FractureFolder FractureFolder::open(const parallel::Communicator& comm, const fs::path& root) {
  FractureFolder folder(root);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    const std::string given = "give the one that an earlier recoil fracture got with -o";
    if (!fs::is_directory(root, error)) throw InputError(root.string(), "there is no such folder; " + given);
    if (!fs::exists(folder.shape(), error))
      throw InputError(root.string(), "this is no folder of recoil fracture, it has no fracture.json; " +
                                          given + ", or start again in a new folder");
    folder.lock_ = std::make_unique<FolderLock>(root);
  });
  return folder;
}

void FractureFolder::begin(const parallel::Communicator& comm, const std::string& resolved,
                           const std::vector<fs::path>& files) const {
  write_sealed_json(comm, inputs(), {{"shape", checksum_of(resolved)}, {"files", digests_of(comm, files)}});
  write_on_first(comm, shape(), resolved);
}

void FractureFolder::require_inputs(const parallel::Communicator& comm) const {
  const SealedJson sealed = read_sealed_json(comm, inputs());
  if (!sealed.content || !sealed.content->contains("shape"))
    throw FileError(inputs().string() + ": the checksums of what the search was begun with are " +
                    (sealed.exists ? "damaged" : "missing") +
                    ". Put a sound copy of this file in its place, or start again in a new folder");
  require_undamaged(comm, shape(), sealed.content->at("shape"), inputs());
  require_unchanged(comm, sealed.content->at("files"), "the search");
}

void FractureFolder::discard(const parallel::Communicator& comm) {
  std::error_code ignored;
  if (comm.rank() == 0)
    for (const fs::path& file : {shape(), inputs()}) fs::remove(file, ignored);
  if (made_) made_->discard();
}

void remove_files(const parallel::Communicator& comm, const std::vector<fs::path>& files) {
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    for (const fs::path& file : files) {
      std::error_code error;
      if (!fs::remove(file, error) && error)
        throw FileError(file.string() + ": cannot be removed: " + error.message());
    }
  });
}

io::FileDigest write_h5(const parallel::Communicator& comm, const fs::path& path,
                        const std::function<void(io::Hdf5Writer&)>& fill) {
  fs::path part = path;
  part += ".part";
  try {
    io::Hdf5Writer file(comm, part);
    fill(file);
    file.close();
  } catch (const FileError&) {
    std::error_code ignored;
    if (comm.rank() == 0) fs::remove(part, ignored);
    throw;
  }
  const io::FileDigest digest = io::digest(comm, part);
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) rename_durably(part, path);
  });
  return digest;
}

Json to_json(const io::FileDigest& digest) { return {{"bytes", digest.bytes}, {"crc32", digest.crc32}}; }

std::string damage_of(const parallel::Communicator& comm, const fs::path& path, const Json& recorded) {
  const bool is_there = parallel::collectively(comm, [&] {
    std::error_code error;
    return fs::status(path, error).type() != fs::file_type::not_found;
  });
  if (!comm.all(is_there)) return "is missing";
  return to_json(io::digest(comm, path)) == recorded ? "" : "is damaged: its size or checksum is another one";
}

} // namespace recoil::app
