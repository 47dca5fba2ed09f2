#pragma once

#include <string>

namespace recoil::app {

/// JSON Schema (draft 2020-12) of study files, from the same table of keys that read_study checks against.
std::string study_json_schema();

/// docs/study.md, from the same table.
std::string study_markdown();

} // namespace recoil::app
