#include "app/study/gradient_folder.hpp"

#include <algorithm>
#include <system_error>

#include <nlohmann/json.hpp>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

void refuse_names_of_files(const Study& study) {
  for (const Experiment& experiment : study.experiments) {
    const bool taken =
        std::ranges::any_of(std::initializer_list<const char*>{".", "..", "study.json", "gradient.json",
                                                               "gradient.h5", "log.txt"},
                            [&](const char* file) { return experiment.name == file; });
    if (taken || experiment.name.starts_with("recoil.lock") || experiment.name.ends_with(".part"))
      throw InputError(experiment.where.of("name"), "the folder of experiment '" + experiment.name +
                                                        "' would have the name of a file beside it; give "
                                                        "another `name`");
  }
}

/// Leftovers of an experiment's run, which may have had a pilot run.
bool is_leftover_of_experiment(const fs::directory_entry& entry) {
  return checkpoint::is_leftover_of_run(entry) || checkpoint::is_file_or_part(entry, "values.json") ||
         checkpoint::is_file_or_part(entry, "pilot.json");
}

/// Leftovers of a gradient, for which `study` is to be run now.
bool is_leftover_of_gradient(const fs::directory_entry& entry, const Study& study) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (!fs::is_directory(entry.symlink_status()))
    return name == "log.txt" || name.starts_with("recoil.lock") ||
           // Without a log it is somebody's own.
           (checkpoint::is_file_or_part(entry, "study.json") &&
            fs::exists(entry.path().parent_path() / "log.txt", error));
  // Anybody may have made an empty folder of another name.
  if (fs::is_empty(entry.path(), error))
    return std::ranges::any_of(study.experiments, [&](const Experiment& one) { return one.name == name; });
  return checkpoint::holds_only_leftovers(entry.path(), is_leftover_of_experiment);
}

} // namespace

GradientFolder GradientFolder::create(const parallel::Communicator& comm, const fs::path& root,
                                      const Study& study) {
  parallel::collectively(comm, [&] { refuse_names_of_files(study); });
  GradientFolder folder(root);
  folder.made_ = std::make_unique<checkpoint::RunFolder>(checkpoint::RunFolder::create(
      comm, root, [&](const fs::directory_entry& entry) { return is_leftover_of_gradient(entry, study); }));
  return folder;
}

GradientFolder GradientFolder::open(const parallel::Communicator& comm, const fs::path& root) {
  GradientFolder folder(root);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    if (!fs::is_directory(root, error))
      throw InputError(root.string(),
                       "there is no such folder; give the one that an earlier recoil gradient got with -o");
    if (!fs::exists(folder.study(), error))
      throw InputError(root.string(), "this is no folder of a gradient, it has no study.json; give the one "
                                      "that an earlier recoil gradient got with -o, or start anew");
    folder.lock_ = std::make_unique<FolderLock>(root);
  });
  return folder;
}

void GradientFolder::begin(const parallel::Communicator& comm, const Study& study,
                           const std::string& resolved_study,
                           const std::vector<std::string>& resolved_scenes) {
  nlohmann::json json = nlohmann::json::parse(resolved_study);
  for (std::size_t e = 0; e < study.experiments.size(); ++e) {
    const std::string& name = study.experiments[e].name;
    made_by_begin_.emplace_back(checkpoint::RunFolder::create(comm, experiment(name).root))
        .begin(comm, resolved_scenes[e]);
    json["experiments"][e]["scene"] = name + "/scene.json";
  }
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) write_file_atomically(this->study(), json.dump(2) + "\n");
  });
}

bool GradientFolder::has_states(const parallel::Communicator& comm, const Study& study) const {
  return std::ranges::any_of(study.experiments, [&](const Experiment& one) {
    return checkpoint::TrajectoryReader::exists(comm, experiment(one.name).trajectory());
  });
}

void GradientFolder::discard(const parallel::Communicator& comm) {
  std::error_code ignored;
  if (comm.rank() == 0) fs::remove(study(), ignored);
  for (checkpoint::RunFolder& run : made_by_begin_) run.discard();
  if (made_) made_->discard();
}

bool GradientFolder::has_result(const parallel::Communicator& comm) const {
  std::error_code error;
  return comm.any(comm.rank() == 0 && fs::exists(result(), error));
}

void GradientFolder::write_result(const parallel::Communicator& comm,
                                  const nlohmann::ordered_json& result) const {
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) write_file_atomically(this->result(), result.dump(1) + "\n");
  });
}

void GradientFolder::discard_result(const parallel::Communicator& comm) const {
  parallel::collectively(comm, [&] {
    std::error_code error;
    if (comm.rank() == 0 && !fs::remove(result(), error) && error)
      throw FileError(result().string() + ": cannot be removed: " + error.message());
  });
}

} // namespace recoil::app
