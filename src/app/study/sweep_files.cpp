#include "app/study/sweep_files.hpp"

#include <fstream>
#include <span>
#include <system_error>

#include "app/study/sealed_json.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

constexpr int format_version = 2;

GlobalIndex digest_of(const parallel::Communicator& comm, const fs::path& path) {
  GlobalIndex crc = -1;
  std::error_code error;
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0 && fs::exists(path, error)) crc = file_crc32(path);
  });
  return comm.max(crc);
}

/// Digests of all that a sweep depends on.
nlohmann::ordered_json digests_of_inputs(const parallel::Communicator& comm, const ExperimentFolder& folder) {
  nlohmann::ordered_json result{{"study", digest_of(comm, folder.study)},
                                {"scene", digest_of(comm, folder.scene())},
                                {"trajectory", digest_of(comm, folder.trajectory() / "manifest.json")}};
  result["files"] = folder.inputs;
  return result;
}

/// Removes all arrays but those of `name`. What cannot be removed does no harm.
void remove_others(const ExperimentFolder& folder, const std::string& name) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.root, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    std::error_code ignored;
    if (found.starts_with("sweep_") && found != name) fs::remove(entry->path(), ignored);
  }
}

} // namespace

nlohmann::ordered_json digests_of(const parallel::Communicator& comm, const std::vector<fs::path>& files) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const fs::path& file : files) result[file.string()] = digest_of(comm, file);
  return result;
}

nlohmann::ordered_json digests_of_values(const parallel::Communicator& comm, const ExperimentFolder& folder,
                                         const std::vector<fs::path>& files) {
  std::string parameters;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::ifstream file(folder.study);
    parameters = nlohmann::json::parse(file).at("parameters").dump();
  });
  comm.broadcast(parameters);
  return {{"parameters", crc32(std::as_bytes(std::span(parameters)))},
          {"scene", digest_of(comm, folder.scene())},
          {"files", digests_of(comm, files)}};
}

void write_sweep_file(const parallel::Communicator& comm, const ExperimentFolder& folder,
                      const std::string& name, nlohmann::ordered_json about,
                      const std::function<void(io::Hdf5Writer&)>& write_arrays) {
  const fs::path path = folder.root / name, aside = folder.root / (name + ".part");
  {
    io::Hdf5Writer file(comm, aside);
    write_arrays(file);
    file.close();
  }
  const io::FileDigest digest = io::digest(comm, aside);
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) rename_durably(aside, path);
  });
  const nlohmann::ordered_json content{
      {"format", "recoil sweep"}, {"version", format_version},  {"file", name},
      {"bytes", digest.bytes},    {"file_crc32", digest.crc32}, {"inputs", digests_of_inputs(comm, folder)},
      {"about", std::move(about)}};
  write_sealed_json(comm, folder.sweep(), content);
  if (comm.rank() == 0) remove_others(folder, name);
}

std::optional<SweepFile> read_sweep_file(const parallel::Communicator& comm, const ExperimentFolder& folder,
                                         std::string& why) {
  const SealedJson sealed = read_sealed_json(comm, folder.sweep());
  if (!sealed.exists) return {};
  if (!sealed.content) {
    why = folder.sweep().string() + " is damaged";
    return {};
  }
  try {
    const nlohmann::ordered_json& content = *sealed.content;
    if (content.at("format") != "recoil sweep" || content.at("version") != format_version) {
      why = folder.sweep().string() + " was written in another format or version";
      return {};
    }
    if (content.at("inputs") != digests_of_inputs(comm, folder)) {
      why = folder.sweep().string() +
            " belongs to another study, scene, trajectory or other files that these name";
      return {};
    }
    const fs::path arrays = folder.root / content.at("file").get<std::string>();
    const io::FileDigest expected{content.at("bytes"), content.at("file_crc32")};
    if (io::digest(comm, arrays) == expected) return SweepFile{content.at("about"), arrays};
    why = arrays.string() + " is damaged";
  } catch (const FileError& unreadable) {
    why = unreadable.what();
  } catch (const nlohmann::json::exception& wrong) {
    why = folder.sweep().string() + ": " + wrong.what();
  }
  return {};
}

} // namespace recoil::app
