#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "checkpoint/manifest.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::checkpoint {

/// Reads and checks the manifest of `folder`; one rank reads, all get it. @throws FileError. Collective.
Manifest read_manifest(const parallel::Communicator& comm, const std::filesystem::path& folder);

/// What is wrong with a file of the trajectory: empty, "is missing", or how it differs from the manifest.
/// Collective.
std::string damage_of(const parallel::Communicator& comm, const std::filesystem::path& folder,
                      const FileEntry& file);

/// Files, by number, that a restart after file `number` needs besides mesh.h5.
std::vector<std::size_t> files_for_restart(const Manifest& manifest, const StateIndex& index,
                                           std::size_t number);

} // namespace recoil::checkpoint
