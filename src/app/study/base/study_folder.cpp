#include "recoil/app/study/base/study_folder.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "recoil/app/run/run_inputs.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

void discard(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw FileError(path.string() + ": cannot be removed: " + error.message());
}

namespace {

/// @throws FileError where a folder in `root`, at any depth, is a link: the command would write and remove
/// files elsewhere.
void refuse_linked_folders(const fs::path& root) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    std::error_code none;
    if (fs::is_symlink(entry.symlink_status(none)) && !fs::is_regular_file(entry.path(), none))
      throw FileError(entry.path().string() +
                      ": is a link, through which recoil would write elsewhere; remove it, "
                      "or copy its target to this place");
  }
  if (error) throw FileError(root.string() + ": cannot list the folder: " + error.message());
}

/// Whether a name is `pattern`, in which one "*" may stand for any text.
bool matches(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

void refuse_names_of_files(const StudyCommand& command, const Study& study) {
  std::vector<std::string> files{".",       "..",           "study.json", "inputs.json", "check.json",
                                 "log.txt", "recoil.lock*", "*.part",     command.result};
  files.insert(files.end(), command.files.begin(), command.files.end());
  for (const Experiment& experiment : study.experiments)
    if (std::ranges::any_of(files, [&](const std::string& file) { return matches(experiment.name, file); }))
      throw InputError(experiment.where.of("name"), "the folder of experiment '" + experiment.name +
                                                        "' would have the name of a file beside it; give "
                                                        "another `name`");
}

/// A scene may have got a barrier stiffness from a pilot run since `digest` was taken.
void require_scene(const parallel::Communicator& comm, const ExperimentFolder& folder, const Json& digest,
                   const fs::path& inputs) {
  const Json now = digests_of(comm, {folder.scene()}).front();
  if (now == digest) return;
  const SealedJson pilot = read_sealed_json(comm, folder.pilot());
  if (pilot.content && pilot.content->contains("scene") && pilot.content->at("scene") == now) return;
  throw FileError(folder.scene().string() + ": the file " +
                  (now.is_null() ? "is missing"
                                 : "is damaged or was changed: its CRC-32 is neither that in " +
                                       inputs.string() + " nor that in " + folder.pilot().string()) +
                  ". Put a sound copy in its place, or start again in a new folder");
}

/// Leftovers of an experiment's run, which may have had a pilot run.
bool is_leftover_of_experiment(const fs::directory_entry& entry) {
  return checkpoint::is_leftover_of_run(entry) || checkpoint::is_file_or_part(entry, "pilot.json");
}

/// Leftovers of a command, for which `study` is to be run now.
bool is_leftover_of_command(const fs::directory_entry& entry, const Study& study) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (!fs::is_directory(entry.symlink_status()))
    return name == "log.txt" || name.starts_with("recoil.lock") ||
           // Without a log it is somebody's own.
           ((checkpoint::is_file_or_part(entry, "study.json") ||
             checkpoint::is_file_or_part(entry, "inputs.json")) &&
            fs::exists(entry.path().parent_path() / "log.txt", error));
  // Anybody may have made an empty folder of another name.
  if (fs::is_empty(entry.path(), error))
    return std::ranges::any_of(study.experiments, [&](const Experiment& one) { return one.name == name; });
  return checkpoint::holds_only_leftovers(entry.path(), is_leftover_of_experiment);
}

} // namespace

StudyFolder StudyFolder::create(const parallel::Communicator& comm, StudyCommand command,
                                const fs::path& root, const Study& study) {
  parallel::collectively(comm, [&] { refuse_names_of_files(command, study); });
  StudyFolder folder(std::move(command), root);
  folder.made_ = std::make_unique<checkpoint::RunFolder>(checkpoint::RunFolder::create(
      comm, root, [&](const fs::directory_entry& entry) { return is_leftover_of_command(entry, study); }));
  return folder;
}

StudyFolder StudyFolder::open(const parallel::Communicator& comm, StudyCommand command,
                              const fs::path& root) {
  StudyFolder folder(std::move(command), root);
  const std::string given = "give the one that an earlier recoil " + folder.command_.name + " got with -o";
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    if (!fs::is_directory(root, error)) throw InputError(root.string(), "there is no such folder; " + given);
    if (!fs::exists(folder.study(), error))
      throw InputError(root.string(), "this is no folder of recoil " + folder.command_.name +
                                          ", it has no study.json; " + given +
                                          ", or start again in a new folder");
    refuse_linked_folders(root);
    folder.lock_ = std::make_unique<FolderLock>(root);
  });
  return folder;
}

void StudyFolder::begin(const parallel::Communicator& comm, const Study& study,
                        const std::string& resolved_study, const std::vector<std::string>& resolved_scenes,
                        const std::vector<fs::path>& files) {
  nlohmann::json json = nlohmann::json::parse(resolved_study);
  Json inputs{{"command", command_.name}, {"study", nullptr}, {"scenes", Json::object()}};
  for (std::size_t e = 0; e < study.experiments.size(); ++e) {
    const std::string& name = study.experiments[e].name;
    made_by_begin_.emplace_back(checkpoint::RunFolder::create(comm, experiment(name).root))
        .begin(comm, resolved_scenes[e]);
    json["experiments"][e]["scene"] = name + "/scene.json";
    inputs["scenes"][name] = checksum_of(resolved_scenes[e]);
  }
  const std::string text = json.dump(2) + "\n";
  inputs["study"] = checksum_of(text);
  inputs["files"] = digests_of(comm, files);
  write_sealed_json(comm, this->inputs(), inputs);
  write_on_first(comm, this->study(), text);
}

bool StudyFolder::has_states(const parallel::Communicator& comm, const Study& study) const {
  return std::ranges::any_of(study.experiments, [&](const Experiment& one) {
    return checkpoint::TrajectoryReader::exists(comm, experiment(one.name).trajectory());
  });
}

void StudyFolder::discard(const parallel::Communicator& comm) {
  std::error_code ignored;
  if (comm.rank() == 0)
    for (const fs::path& file : {study(), inputs()}) fs::remove(file, ignored);
  for (checkpoint::RunFolder& run : made_by_begin_) run.discard();
  if (made_) made_->discard();
}

bool StudyFolder::require_inputs(const parallel::Communicator& comm) const {
  const SealedJson sealed = read_sealed_json(comm, inputs());
  if (!sealed.exists) return false;
  if (!sealed.content || !sealed.content->contains("study"))
    throw FileError(inputs().string() +
                    ": the checksums of the study are damaged. Put a sound copy of this "
                    "file in its place, or remove it if " +
                    study().string() + " is as it should be");
  const Json& then = *sealed.content;
  if (const auto made_by = then.value("command", command_.name); made_by != command_.name)
    throw InputError(root_.string(), "this is a folder of recoil " + made_by + ", not of recoil " +
                                         command_.name + "; run recoil " + made_by + " --restart with it");
  require_undamaged(comm, study(), then.at("study"), inputs(),
                    "; if it was changed on purpose, remove " + inputs().string() +
                        " and run again with --restart");
  for (const auto& [name, digest] : then.at("scenes").items())
    require_scene(comm, experiment(name), digest, inputs());
  require_unchanged(comm, then.at("files"), "the study");
  return true;
}

void StudyFolder::accept_inputs(const parallel::Communicator& comm, const Study& study,
                                const std::vector<fs::path>& files) const {
  Json inputs{{"command", command_.name},
              {"study", digests_of(comm, {this->study()}).front()},
              {"scenes", Json::object()},
              {"files", digests_of(comm, files)}};
  for (const Experiment& known : study.experiments)
    inputs["scenes"][known.name] = digests_of(comm, {experiment(known.name).scene()}).front();
  write_sealed_json(comm, this->inputs(), inputs);
}

void StudyFolder::write_result(const parallel::Communicator& comm, const Json& result) const {
  write_on_first(comm, this->result(), result.dump(1) + "\n");
}

void StudyFolder::discard_result(const parallel::Communicator& comm) const {
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    for (const fs::path& file : {result(), check()}) {
      std::error_code error;
      if (!fs::remove(file, error) && error)
        throw FileError(file.string() + ": cannot be removed: " + error.message());
    }
  });
}

} // namespace recoil::app
