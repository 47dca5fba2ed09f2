#include "app/study/sweep_files.hpp"

#include <system_error>

#include "app/study/sealed_json.hpp"
#include "recoil/app/simulation/run_inputs.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

constexpr int format_version = 3;

/// Digests of all that a sweep depends on. The folder may be moved; hence no paths in it.
nlohmann::ordered_json digests_of_inputs(const parallel::Communicator& comm, const ExperimentFolder& folder) {
  const fs::path manifest = folder.trajectory() / "manifest.json";
  const auto own = digests_of(comm, {folder.study, folder.scene(), manifest});
  nlohmann::ordered_json inputs = {{"study", own.at(folder.study.string())},
                                   {"scene", own.at(folder.scene().string())},
                                   {"trajectory", own.at(manifest.string())}};
  inputs.update(folder.inputs);
  return inputs;
}

/// Names of what is in one of two lists of digests with another value than in the other.
std::string differences(const nlohmann::ordered_json& then, const nlohmann::ordered_json& now) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const auto& [name, digest] : then.items())
    if (!now.contains(name) || now.at(name) != digest) add(name);
  for (const auto& [name, digest] : now.items())
    if (!then.contains(name)) add(name);
  return names;
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
    if (const std::string changed = differences(content.at("inputs"), digests_of_inputs(comm, folder));
        !changed.empty()) {
      why = folder.sweep().string() + " was written with another " + changed;
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
