#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/app/study/study.hpp"
#include "recoil/base/folder_lock.hpp"
#include "recoil/checkpoint/run_folder.hpp"

namespace recoil::app {

/// Where one experiment of a study keeps its run and its sweep.
struct ExperimentFolder {
  std::filesystem::path root, study; ///< `study`: the study file of the gradient folder
  /// Digests of the files that study and scene name, by path; what was made from others is not used.
  nlohmann::ordered_json inputs = {};

  std::filesystem::path scene() const { return root / "scene.json"; }
  std::filesystem::path summary() const { return root / "summary.json"; }
  std::filesystem::path ledger() const { return root / "ledger.csv"; }
  std::filesystem::path trajectory() const { return root / "trajectory"; }
  /// The barrier stiffness that a pilot run has found, and the checksum of the scene with it.
  std::filesystem::path pilot() const { return root / "pilot.json"; }
  /// Names the file beside it that holds the state of the sweep, or its result.
  std::filesystem::path sweep() const { return root / "sweep.json"; }
};

/// The folder of `recoil gradient`: study.json, inputs.json with the checksums of what it was begun with,
/// gradient.json, check.json, gradient.h5, log.txt, and a run folder per experiment. Locked against a second
/// job as long as this object lives.
class GradientFolder {
public:
  /// Makes `root` for a new study; removes leftovers of a gradient that was ended before the initial state of
  /// its first run was complete. @throws InputError where it holds anything else, or an experiment of `study`
  /// has the name of a file in it; FileError as RunFolder::create(). Collective.
  static GradientFolder create(const parallel::Communicator& comm, const std::filesystem::path& root,
                               const Study& study);
  /// Opens the folder of an earlier gradient. @throws InputError if it is none, FileError if another job
  /// holds it. Collective.
  static GradientFolder open(const parallel::Communicator& comm, const std::filesystem::path& root);

  /// Writes the resolved scenes, one per experiment, the checksums of all inputs, `files` among them, and
  /// then the resolved study, which refers to the scenes: from here on the folder can be continued. The run
  /// folders stay locked until settle(). Collective. @throws FileError on every rank.
  void begin(const parallel::Communicator& comm, const Study& study, const std::string& resolved_study,
             const std::vector<std::string>& resolved_scenes,
             const std::vector<std::filesystem::path>& files);
  /// Looks whether study, scenes and files are those of begin(). False if their checksums are gone: whoever
  /// changes the study on purpose removes them. Collective. @throws FileError, or InputError for files, on
  /// every rank.
  bool require_inputs(const parallel::Communicator& comm) const;
  /// Writes checksums of what is there in the place of those that are gone. Collective. @throws FileError on
  /// every rank.
  void accept_inputs(const parallel::Communicator& comm, const Study& study,
                     const std::vector<std::filesystem::path>& files) const;
  /// Takes back what a study that cannot start has made. Every rank calls it, the first one acts. @pre made
  /// by create().
  void discard(const parallel::Communicator& comm);
  /// Nothing will be taken back any more: gives the run folders to their runs.
  void settle() {
    made_by_begin_.clear();
    settled_ = true;
  }
  bool is_settled() const { return settled_; }
  /// Whether any run has stored its initial state. Collective.
  bool has_states(const parallel::Communicator& comm, const Study& study) const;
  /// Replaces gradient.json. Collective. @throws FileError on every rank.
  void write_result(const parallel::Communicator& comm, const nlohmann::ordered_json& result) const;
  /// Removes gradient.json and check.json: what they say does not belong to what comes now. Collective.
  void discard_result(const parallel::Communicator& comm) const;

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path study() const { return root_ / "study.json"; }
  std::filesystem::path inputs() const { return root_ / "inputs.json"; }
  /// What a check has found, sealed, so that a gradient that is written again keeps it.
  std::filesystem::path check() const { return root_ / "check.json"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  std::filesystem::path fields() const { return root_ / "gradient.h5"; }
  ExperimentFolder experiment(const std::string& name) const { return {root_ / name, study()}; }

private:
  explicit GradientFolder(std::filesystem::path root) : root_(std::move(root)) {}
  std::filesystem::path result() const { return root_ / "gradient.json"; }

  std::filesystem::path root_;
  std::unique_ptr<checkpoint::RunFolder> made_;      ///< by create()
  std::vector<checkpoint::RunFolder> made_by_begin_; ///< of the experiments, until settle()
  bool settled_ = false;
  std::unique_ptr<FolderLock> lock_; ///< by open(), on the first rank
};

} // namespace recoil::app
