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

/// What is wrong with a file of a trajectory.
struct Damage {
  enum class Kind { none, missing, unreadable, changed };
  Kind kind = Kind::none;
  /// To be put behind "the file ": "is missing", why it cannot be read, or how it differs from the manifest.
  std::string text;
  bool none() const { return kind == Kind::none; }
};

/// Looks at the whole file. Collective.
Damage damage_of(const parallel::Communicator& comm, const std::filesystem::path& folder,
                 const FileEntry& file);

/// What to do about `damage`, as the end of a message. A file that could not be read may be sound.
std::string remedy(const Damage& damage);

/// Files, by number, that a restart after file `number` needs besides mesh.h5.
std::vector<std::size_t> files_for_restart(const Manifest& manifest, const StateIndex& index,
                                           std::size_t number);

} // namespace recoil::checkpoint
