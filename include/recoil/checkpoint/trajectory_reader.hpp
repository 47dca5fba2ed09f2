#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recoil/checkpoint/state.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/stepping/step_record.hpp"

namespace recoil::checkpoint {

/// A state from which the run can be continued.
struct RestartPoint {
  /// The newest state and those before it that its scheme may need, newest first.
  std::vector<GlobalIndex> states;
  /// Not empty if newer files are missing and an older point is taken; to be shown to the user.
  std::string warning;
};

/// Nodes of a drawn cell, padded with -1.
using DrawnCell = std::array<GlobalIndex, 10>;

/// A trajectory on disk. Reads the manifest first and checks size and CRC of a file before its first use. All
/// members that read arrays are collective; errors are FileErrors that name the file, on all ranks.
class TrajectoryReader {
public:
  /// `folder` is the trajectory folder (RunFolder::trajectory()). @throws FileError if the manifest is
  /// missing or damaged. Collective.
  TrajectoryReader(const parallel::Communicator& comm, std::filesystem::path folder);
  ~TrajectoryReader();
  TrajectoryReader(TrajectoryReader&&) noexcept;
  TrajectoryReader& operator=(TrajectoryReader&&) noexcept;

  /// True if there is a manifest: the run came far enough to be continued. @throws FileError where that
  /// cannot be found out. Collective.
  static bool exists(const parallel::Communicator& comm, const std::filesystem::path& folder);

  /// What the writer was given as metadata (JSON text).
  const std::string& metadata() const;
  /// Every accepted state up to the last closed file, by id: record i has id i.
  const std::vector<stepping::StepRecord>& records() const;
  /// What the writer was given with state `id` (JSON text).
  const std::string& extra(GlobalIndex id) const;
  /// Whether the state is one of the stored ones (drawn in ParaView).
  bool is_stored(GlobalIndex id) const;
  /// Whether arrays of the state can be read: stored, or kept for a restart (then the restart fields only).
  bool has_arrays(GlobalIndex id) const;
  /// Names of the arrays of a state.
  std::vector<std::string> fields(GlobalIndex id) const;

  /// Rows and components of a field of a state with arrays, by the manifest alone. @throws FileError if it
  /// has no such field. Not collective.
  io::ArrayShape shape(GlobalIndex id, const std::string& field) const;
  /// A field of a state with arrays, redistributed to `layout`, shape (owned_size, components). Any rank
  /// count.
  std::vector<double> read(GlobalIndex id, const std::string& field, const io::BlockLayout& layout);
  /// A static array, shape (owned_size, components); "coordinates" are those of the drawn mesh. T as it was
  /// written.
  template <class T>
  std::vector<T> read_static(const std::string& name, const io::BlockLayout& layout);
  /// Rows and components of a static array, by the manifest alone. @throws FileError if there is none of this
  /// name. Not collective.
  io::ArrayShape static_shape(const std::string& name) const;
  /// Number of cells of the drawn mesh.
  GlobalIndex num_cells() const;
  /// The cells of this rank's block (io::block_begin) in the order of the file.
  std::vector<DrawnCell> read_cells();
  /// Asks the operating system to read the file of `id` ahead (for a sweep that comes there next). Not
  /// collective.
  void prefetch(GlobalIndex id) const;

  /// The newest complete restart point, its files checked. A damaged file is an error, and the message tells
  /// how to continue from the point before; where newer files are missing (removed by the user) the point
  /// before them is returned with a warning. Collective.
  RestartPoint restart_point();

private:
  friend class TrajectoryWriter;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What is known of one file of a trajectory.
struct FileReport {
  std::string name;
  std::uint64_t bytes = 0;
  /// Stored states, and their first and last time.
  GlobalIndex states = 0;
  double first_time = 0, last_time = 0;
  /// Empty if the file is sound, else what is wrong with it.
  std::string damage;
};

/// Checks every file that the manifest names. @throws FileError only if the manifest itself cannot be read.
/// Collective.
std::vector<FileReport> verify(const parallel::Communicator& comm, const std::filesystem::path& folder);

} // namespace recoil::checkpoint
