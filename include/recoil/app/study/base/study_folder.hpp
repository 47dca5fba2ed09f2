#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recoil/app/run/sealed_json.hpp"
#include "recoil/app/study/base/study.hpp"
#include "recoil/base/folder_lock.hpp"
#include "recoil/checkpoint/run_folder.hpp"

namespace recoil::app {

/// Removes a file, or a folder with all that it holds, if it is there. @throws FileError.
void discard(const std::filesystem::path& path);

/// The folder of an experiment of a study, with its run and its sweep.
struct ExperimentFolder {
  std::filesystem::path root, study; ///< `study`: the study file of the folder around
  /// Digests of the files that study and scene name, by path; what was made from others is not used.
  Json inputs = {};

  std::filesystem::path scene() const { return root / "scene.json"; }
  std::filesystem::path summary() const { return root / "summary.json"; }
  std::filesystem::path trajectory() const { return root / "trajectory"; }
  /// The barrier stiffness that a pilot run has found, and the checksum of the scene with it.
  std::filesystem::path pilot() const { return root / "pilot.json"; }
  /// Names the file beside it that holds the state of the sweep, or its result.
  std::filesystem::path sweep() const { return root / "sweep.json"; }
};

/// A command that works on a study in a folder.
struct StudyCommand {
  std::string name;               ///< "gradient"
  std::string result;             ///< "gradient.json"
  std::vector<std::string> files; ///< what else it puts into the folder; one "*" stands for any text
};

/// The folder of a study: study.json, inputs.json with the checksums of what it was begun with, log.txt, a
/// run folder per experiment, and the files of its command. Locked against a second job as long as this
/// object lives.
class StudyFolder {
public:
  /// Makes `root` for a new study; removes leftovers of a command that was ended before settle() had anything
  /// to keep. @throws InputError where it holds anything else, or an experiment of `study` has the name of a
  /// file in it; FileError as RunFolder::create(). Collective.
  static StudyFolder create(const parallel::Communicator& comm, StudyCommand command,
                            const std::filesystem::path& root, const Study& study);
  /// Opens the folder of an earlier `command`. @throws InputError if it is none, FileError if another job
  /// holds it. Collective.
  static StudyFolder open(const parallel::Communicator& comm, StudyCommand command,
                          const std::filesystem::path& root);

  /// Writes the resolved scenes, one per experiment, the checksums of all inputs, `files` among them, and
  /// then the resolved study, which refers to the scenes: from here on the folder can be continued. The run
  /// folders stay locked until settle(). Collective. @throws FileError on every rank.
  void begin(const parallel::Communicator& comm, const Study& study, const std::string& resolved_study,
             const std::vector<std::string>& resolved_scenes,
             const std::vector<std::filesystem::path>& files);
  /// Looks whether study, scenes and files are those of begin(). False if their checksums are gone: whoever
  /// changes the study on purpose removes them. Collective. @throws FileError, or InputError for files and
  /// for the folder of another command, on every rank.
  bool require_inputs(const parallel::Communicator& comm) const;
  /// Writes checksums of what is there in the place of those that are gone. Collective. @throws FileError on
  /// every rank.
  void accept_inputs(const parallel::Communicator& comm, const Study& study,
                     const std::vector<std::filesystem::path>& files) const;
  /// Takes back what a study that cannot start has made. Every rank calls it, the first one acts. @pre made
  /// by create().
  void discard(const parallel::Communicator& comm);
  /// Hands the run folders over to their runs: nothing will be removed again.
  void settle() {
    made_by_begin_.clear();
    settled_ = true;
  }
  bool is_settled() const { return settled_; }
  /// Whether any run has stored its initial state. Collective.
  bool has_states(const parallel::Communicator& comm, const Study& study) const;
  /// Replaces the result of the command. Collective. @throws FileError on every rank.
  void write_result(const parallel::Communicator& comm, const Json& result) const;
  /// Removes a result and a check: what they say does not belong to what comes now. Collective.
  void discard_result(const parallel::Communicator& comm) const;

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path study() const { return root_ / "study.json"; }
  std::filesystem::path inputs() const { return root_ / "inputs.json"; }
  /// What a check has found, sealed, so that a gradient that is written again keeps it.
  std::filesystem::path check() const { return root_ / "check.json"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  ExperimentFolder experiment(const std::string& name) const { return {root_ / name, study()}; }

private:
  StudyFolder(StudyCommand command, std::filesystem::path root)
      : command_(std::move(command)), root_(std::move(root)) {}
  std::filesystem::path result() const { return root_ / command_.result; }

  StudyCommand command_;
  std::filesystem::path root_;
  std::unique_ptr<checkpoint::RunFolder> made_;      ///< by create()
  std::vector<checkpoint::RunFolder> made_by_begin_; ///< of the experiments, until settle()
  bool settled_ = false;
  std::unique_ptr<FolderLock> lock_; ///< by open(), on the first rank
};

} // namespace recoil::app
