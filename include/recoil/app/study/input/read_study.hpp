#pragma once

#include <filesystem>
#include <string>

#include "recoil/app/study/base/study.hpp"
#include "recoil/base/option_names.hpp"

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

/// Reads and checks a study from a text that did not come from a file of its own. Relative paths are resolved
/// against `folder`; `name` stands for the file in messages.
StudyFile parse_study(const std::string& text, const std::string& name, const std::filesystem::path& folder);

/// The study that another rank read from `path`, from what its StudyFile holds: messages name the places
/// where the values were written. @throws InputError as read_study. Not collective.
StudyFile read_resolved_study(const std::string& resolved, const std::string& locations,
                              const std::filesystem::path& path);

/// JSON Schema (draft 2020-12) of study files, from the same table of keys that read_study checks against.
std::string study_json_schema();
/// The keys of studies by which users give options of kernels.
OptionNames study_option_names();
/// docs/study.md, from the same table.
std::string study_markdown();

} // namespace recoil::app
