#pragma once

#include <filesystem>
#include <string>

#include "recoil/app/run/console.hpp"
#include "recoil/app/run/inspect.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What the command line of `recoil fracture` says.
struct FractureOptions {
  std::filesystem::path shape;   ///< file of the shape, for a new folder
  std::filesystem::path pieces;  ///< folder with piece_0.obj, ..: shapes in the place of that of `shape`
  std::filesystem::path output;  ///< folder to make
  std::filesystem::path restart; ///< folder to continue; excludes the two above
  ConsoleOptions console;
};

/// Finds the fracture modes of a shape and prepares impacts on it, or continues an earlier search
/// (docs/fracture_modes.md); of pieces one after the other, in folders below that of the command. Returns how
/// it ended; wrong input and failing files are exceptions, the same on every rank. Collective.
ExitCode fracture(const parallel::Communicator& comm, const FractureOptions& options);

/// Whether a file holds a shape: an object with the key `modes`. Collective. @throws FileError on every rank
/// if it cannot be read.
bool is_shape_file(const parallel::Communicator& comm, const std::filesystem::path& file);
/// Reads a shape with all its files and makes its elements and the graph of these, as fracture() does.
/// Returns a report of sizes and warnings on rank 0, an empty text elsewhere. Writes no file and solves
/// nothing. Collective. @throws InputError on every rank for the first thing that is wrong.
std::string validate_shape(const parallel::Communicator& comm, const std::filesystem::path& shape);

/// Whether `folder` is one of fracture(), of a shape or of pieces. Collective.
bool is_fracture_folder(const parallel::Communicator& comm, const std::filesystem::path& folder);
/// What such a folder holds and whether its files are sound. Collective. @throws FileError on every rank
/// where it cannot be read.
RunReport describe_fracture(const parallel::Communicator& comm, const std::filesystem::path& folder);

/// JSON Schema (draft 2020-12) of the files of shapes.
std::string fracture_json_schema();
/// docs/fracture_modes.md, from the same table of keys.
std::string fracture_markdown();

} // namespace recoil::app
