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
  /// Digests of the values that the run is made with.
  std::filesystem::path values() const { return root / "values.json"; }
  std::filesystem::path pilot() const { return root / "pilot.json"; }
  /// Names the file beside it that the sweep has come to, or its result.
  std::filesystem::path sweep() const { return root / "sweep.json"; }
};

/// The folder of `recoil gradient`: study.json, gradient.json, gradient.h5, log.txt, and a run folder per
/// experiment. Locked against a second job as long as this object lives.
class GradientFolder {
public:
  /// Makes `root` for a new study. @throws InputError where it is not empty, or an experiment of `study` has
  /// the name of a file in it; FileError as RunFolder::create(). Collective.
  static GradientFolder create(const parallel::Communicator& comm, const std::filesystem::path& root,
                               const Study& study);
  /// Opens the folder of an earlier gradient. @throws InputError if it is none, FileError if another job
  /// holds it. Collective.
  static GradientFolder open(const parallel::Communicator& comm, const std::filesystem::path& root);

  /// Writes the resolved scenes, one per experiment, and then the resolved study, which refers to them:
  /// from here on the folder can be continued. Collective. @throws FileError on every rank.
  void begin(const parallel::Communicator& comm, const Study& study, const std::string& resolved_study,
             const std::vector<std::string>& resolved_scenes);
  /// Takes back what a study that never began has made. Every rank calls it, the first one acts.
  void discard();
  /// Whether there is a gradient.json. Collective.
  bool has_result(const parallel::Communicator& comm) const;
  /// Replaces gradient.json. Collective. @throws FileError on every rank.
  void write_result(const parallel::Communicator& comm, const nlohmann::ordered_json& result) const;
  /// Removes gradient.json: what it says does not belong to what comes now. Collective.
  void discard_result(const parallel::Communicator& comm) const;

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path study() const { return root_ / "study.json"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  std::filesystem::path fields() const { return root_ / "gradient.h5"; }
  ExperimentFolder experiment(const std::string& name) const { return {root_ / name, study()}; }

private:
  explicit GradientFolder(std::filesystem::path root) : root_(std::move(root)) {}
  std::filesystem::path result() const { return root_ / "gradient.json"; }

  std::filesystem::path root_;
  std::unique_ptr<checkpoint::RunFolder> made_;      ///< by create()
  std::vector<checkpoint::RunFolder> made_by_begin_; ///< of the experiments, while begin() is under way
  std::unique_ptr<FolderLock> lock_;                 ///< by open(), on the first rank
};

} // namespace recoil::app
