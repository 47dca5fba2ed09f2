#pragma once

#include <filesystem>
#include <string>

#include "recoil/app/run/console.hpp"
#include "recoil/app/run/inspect.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What the command line of `recoil impact` says.
struct ImpactCommand {
  std::filesystem::path modes;   ///< folder of `recoil fracture`
  std::filesystem::path impacts; ///< file of impacts
  std::filesystem::path output;  ///< folder to make
  std::filesystem::path restart; ///< folder to complete; excludes the others
  ConsoleOptions console;
};

/// Applies impacts to a shape whose modes are known and writes the pieces (docs/impacts.md). The ranks share
/// the impacts; what is written does not depend on how many they are. Wrong input and failing files are
/// exceptions, the same on every rank. Collective.
ExitCode impact(const parallel::Communicator& comm, const ImpactCommand& command);

/// Whether `folder` is one of impact(), as the first rank sees it. Collective.
bool is_impact_folder(const parallel::Communicator& comm, const std::filesystem::path& folder);

/// What such a folder holds and whether its files are sound. Collective. @throws FileError on every rank
/// where it cannot be read.
RunReport describe_impacts(const parallel::Communicator& comm, const std::filesystem::path& folder);

/// JSON Schema (draft 2020-12) of files of impacts.
std::string impacts_json_schema();
/// docs/impacts.md, from the same table of keys.
std::string impacts_markdown();

} // namespace recoil::app
