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

bool is_file_of(const fs::directory_entry& entry, const std::string& name) {
  const std::string found = entry.path().filename().string();
  return fs::is_regular_file(entry.symlink_status()) &&
         (found == name || (found.starts_with(name + ".") && found.ends_with(".part")));
}

/// Leftovers of an experiment's run. A pilot run is worth continuing.
bool is_leftover_of_experiment(const fs::directory_entry& entry) {
  return checkpoint::is_leftover_of_run(entry) || is_file_of(entry, "values.json");
}

/// Leftovers of a gradient, for which `study` is to be run now.
bool is_leftover_of_gradient(const fs::directory_entry& entry, const Study& study) {
  if (!fs::is_directory(entry.symlink_status()))
    return is_file_of(entry, "study.json") || is_file_of(entry, "log.txt") ||
           entry.path().filename().string().starts_with("recoil.lock");
  const fs::directory_iterator files(entry.path());
  const auto is_that_of = [&](const Experiment& experiment) {
    return entry.path().filename() == experiment.name;
  };
  // Anybody may have made an empty folder of another name.
  if (files == fs::directory_iterator()) return std::ranges::any_of(study.experiments, is_that_of);
  return std::all_of(begin(files), end(files), is_leftover_of_experiment);
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
    const auto& run = made_by_begin_.emplace_back(checkpoint::RunFolder::create(comm, experiment(name).root));
    parallel::collectively(comm, [&] {
      if (comm.rank() == 0) write_file_atomically(run.scene(), resolved_scenes[e]);
    });
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
