#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/study/base/study.hpp"

namespace recoil::app {

/// A study together with its resolved text.
struct StudyFile {
  Study study;
  std::string resolved;  ///< JSON with defaults filled in and paths absolute; reads back to the same study
  std::string locations; ///< file and line of every value, for read_resolved_study
};

/// Reads and checks a study: every key against the table of keys, and whatever can be known without its
/// scenes. Opens no other file, but every file named must exist. Not collective.
/// @throws InputError with file, line, JSON pointer, the offending value and how to fix it.
StudyFile read_study(const std::filesystem::path& path);

/// The same for a text that did not come from a file of its own. Relative paths are resolved against
/// `folder`; `name` stands for the file in messages.
StudyFile parse_study(const std::string& text, const std::string& name, const std::filesystem::path& folder);

/// The study that another rank read from `path`, from what its StudyFile holds: messages name the places
/// where the values were written. @throws InputError as read_study. Not collective.
StudyFile read_resolved_study(const std::string& resolved, const std::string& locations,
                              const std::filesystem::path& path);

/// Checks what needs the scenes but not their meshes: bodies, regions, boundary ids and pairs exist, every
/// parameter is used by its experiments and stands for one value there, every objective can be looked at.
/// `scenes[i]` is that of `study.experiments[i]`. Not collective.
/// @return warnings: accepted, but probably not meant.
/// @throws InputError naming the JSON pointer in the study and how to fix it.
std::vector<std::string> check_study_against_scenes(const Study& study, std::span<const Scene> scenes);

/// Checks what needs only the dimensions of the experiments, `dims[i]` of `study.experiments[i]`: numbers of
/// components of initial values, target velocities, markers, boxes, and axes. Not collective.
/// @throws InputError as check_study_against_scenes.
void check_study_dimensions(const Study& study, std::span<const int> dims);

/// Whether a parameter can stand for a constant of elements with this material: its law, its damping, and
/// formulas that the parameter would replace. For elements as they are found on the mesh; what is certain
/// without it, check_study_against_scenes has checked. Quantities other than material constants pass.
/// @throws InputError naming the parameter, the material entry and the body.
void check_replaces_material(const ParameterSpec& parameter, const MaterialEntry& material,
                             const std::string& body);

/// JSON Schema (draft 2020-12) of study files, from the same table of keys that read_study checks against.
std::string study_json_schema();
/// docs/study.md, from the same table.
std::string study_markdown();

} // namespace recoil::app
