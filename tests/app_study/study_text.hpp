#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "recoil/app/scene/read_scene.hpp"
#include "recoil/app/study/experiment/check_scenes.hpp"
#include "recoil/app/study/input/read_study.hpp"

namespace recoil::app {

/// The example of docs/study.md, changed by a JSON merge patch.
std::string changed_study(const std::string& merge_patch);

/// Reads the changed study from the folder of the bundled studies.
StudyFile read_changed_study(const std::string& merge_patch);

/// The scene of the example, changed by a JSON merge patch.
Scene changed_drop(const std::string& merge_patch);

/// Checks a study whose experiments all run one scene of `dim` dimensions; returns the warnings.
std::vector<std::string> check_with_scene(const Study& study, const Scene& scene, int dim = 3);

/// A wrong study, what is changed in its scene, and what its message must hold.
struct WrongStudy {
  const char* name;
  std::string study_patch, scene_patch;
  std::vector<const char*> parts;
};
std::ostream& operator<<(std::ostream& out, const WrongStudy& input);

/// A study with these parameters, of which the texts are the entries.
std::string with_parameters(const std::string& entries);
std::string with_objectives(const std::string& entries);

/// Expects exit code 2 and all parts in the message, be it from reading or from the checks with the scene.
void expect_refused(const WrongStudy& input);

} // namespace recoil::app
