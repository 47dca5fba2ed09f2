#pragma once

#include <filesystem>
#include <string>

#include "app/fracture/shape_file.hpp"
#include "recoil/app/run/console.hpp"
#include "recoil/app/run/inspect.hpp"
#include "recoil/app/run/interrupts.hpp"
#include "recoil/base/error.hpp"

/// The jobs of `recoil fracture`. All are collective, return how they ended and throw what fracture() does.
namespace recoil::app {

/// Breaks a shape in a new folder.
ExitCode begin_fracture(const parallel::Communicator& comm, const ShapeFile& file,
                        const std::filesystem::path& output, const ConsoleOptions& console,
                        const Interrupts& interrupts);
/// Goes on in the folder of begin_fracture().
ExitCode continue_fracture(const parallel::Communicator& comm, const std::filesystem::path& root,
                           const ConsoleOptions& console, const Interrupts& interrupts);

/// Breaks the pieces piece_0.obj, piece_1.obj, .. in a folder as shapes of their own (shape_of_piece()), in
/// folders piece_0, .. of a new one. `whole`: the resolved text of a shape.
ExitCode begin_pieces(const parallel::Communicator& comm, const std::string& whole,
                      const std::filesystem::path& pieces, const std::filesystem::path& output,
                      const ConsoleOptions& console, const Interrupts& interrupts);
/// Goes on in the folder of begin_pieces().
ExitCode continue_pieces(const parallel::Communicator& comm, const std::filesystem::path& root,
                         const ConsoleOptions& console, const Interrupts& interrupts);
/// Whether a folder is one of begin_pieces().
bool are_pieces(const parallel::Communicator& comm, const std::filesystem::path& root);
/// What each of its folders holds.
RunReport describe_pieces(const parallel::Communicator& comm, const std::filesystem::path& root);

} // namespace recoil::app
