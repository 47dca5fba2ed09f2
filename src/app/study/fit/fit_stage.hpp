#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "recoil/app/study/evaluation/study_objective.hpp"
#include "recoil/app/study/experiment/work_on_study.hpp"

namespace recoil::app {

/// The part of a fit on meshes with new interiors: a study of its own, whose parameters start where the part
/// before has ended, in the folder `stages/<number>` of the fit.
struct FitStage {
  LoadedStudy loaded; ///< without scenes, which each group of ranks reads
  StudyFolder folder;
};

/// Why the bodies of a study cannot get new interiors while it is fitted, or nothing.
std::string why_no_new_interiors(const Study& study);

/// Makes the stage in `folder` unless it is there: renew(folder) writes scenes `<experiment>.json` and start
/// values as StudyObjective::renew_meshes(), and says whether they are worth a stage. What was not finished
/// is made anew. Returns whether there is a stage.
/// @param before study file of the part before, which `study` was read from. Collective. @throws FileError on
/// every rank, and what `renew` throws.
bool make_stage(const parallel::Communicator& comm, const std::filesystem::path& folder,
                const std::filesystem::path& before, const Study& study,
                const std::function<bool(const std::filesystem::path& folder)>& renew);

/// Opens a stage, or what an earlier process has left of its fit. Collective. @throws InputError, FileError
/// on every rank.
FitStage open_stage(const parallel::Communicator& comm, const StudyCommand& command,
                    const std::filesystem::path& folder, const Interrupts& interrupts);

} // namespace recoil::app
