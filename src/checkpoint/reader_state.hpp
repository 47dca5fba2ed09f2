#pragma once

#include <memory>
#include <set>
#include <string>

#include "checkpoint/manifest.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::checkpoint {

/// Inside of TrajectoryReader; the writer that continues a trajectory takes its manifest from here.
struct TrajectoryReader::Impl {
  const parallel::Communicator& comm;
  std::filesystem::path folder;
  Manifest manifest;
  StateIndex index;
  std::set<std::string> checked;
  std::string open_name;
  std::unique_ptr<io::Hdf5Reader> open_file;

  /// @throws FileError if the state has arrays, but not this one.
  const FieldEntry& field(GlobalIndex id, const std::string& name) const;
  /// @throws FileError unless the file is as the manifest says; looks once. Collective.
  void check(const FileEntry& file);
  /// Checks and opens a file; the last one stays open. Collective.
  const io::Hdf5Reader& open(const FileEntry& file);
};

} // namespace recoil::checkpoint
