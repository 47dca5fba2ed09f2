#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recoil/app/study/evaluation/study_objective.hpp"
#include "recoil/app/study/experiment/work_on_study.hpp"

namespace recoil::app {

/// A study that a caller evaluates as it likes, in the place of an optimiser of recoil's own. Signals are
/// caught as long as it lives. All members but the accessors are collective.
class OpenedStudy {
public:
  struct Options {
    std::filesystem::path study;  ///< its file
    std::string text;             ///< as in StudyOptions
    std::filesystem::path folder; ///< takes the resolved scenes; new or empty, not read by others
  };

  /// Reads study and scenes, builds every experiment at its start values, and finds the barrier stiffness
  /// where it is adaptive. Experiments run side by side where all ranks are on one machine, or where the
  /// study says `groups`: these read the scenes in the folder. @throws InputError, FileError on every rank,
  /// Error where a pilot run fails or a signal comes.
  OpenedStudy(const parallel::Communicator& comm, const Options& options);

  const Study& study() const { return loaded_.file.study; }
  /// The same, as resolved JSON.
  const std::string& resolved() const { return loaded_.file.resolved; }
  const std::vector<std::string>& warnings() const { return loaded_.warnings; }
  StudyObjective& objective() { return *objective_; }

private:
  Interrupts interrupts_;
  LoadedStudy loaded_;
  StudyFolder folder_;
  std::unique_ptr<ExperimentGroups> groups_;
  std::unique_ptr<StudyObjective> objective_;
};

} // namespace recoil::app
