#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "recoil/base/folder_lock.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::checkpoint {

/// Whether an entry of a folder is what recoil leaves there before there is anything to continue.
using IsLeftover = std::function<bool(const std::filesystem::directory_entry&)>;

/// Whether `entry` is the file `name`, or one that write_file_atomically() writes aside to become it.
bool is_file_or_part(const std::filesystem::directory_entry& entry, const std::string& name);

/// Whether `folder` holds nothing but leftovers. @throws FileError if it cannot be listed.
bool holds_only_leftovers(const std::filesystem::path& folder, const IsLeftover& is_leftover);

/// The IsLeftover of run folders: scene, log, locks, and a trajectory that ended before its initial state was
/// complete. A scene.json that stands alone is somebody's own.
bool is_leftover_of_run(const std::filesystem::directory_entry& entry);

/// The folder of one run, locked against a second job as long as this object lives. Members without mention
/// are not collective.
class RunFolder {
public:
  /// Makes `root` for a new run. Where it exists, leftovers of a run that was ended before there was anything
  /// to continue are removed, all but logs. @throws InputError if it holds anything else, FileError if it
  /// cannot be made or another job holds it. Collective.
  static RunFolder create(const parallel::Communicator& comm, const std::filesystem::path& root,
                          const IsLeftover& is_leftover = is_leftover_of_run);
  /// Opens the folder of an earlier run to continue it. @throws InputError if it is none, FileError if
  /// another job holds it. Collective.
  static RunFolder open(const parallel::Communicator& comm, const std::filesystem::path& root);

  /// Writes the resolved scene of a new run and its checksum: from here on the folder can be continued.
  /// Collective. @throws FileError on every rank.
  void begin(const parallel::Communicator& comm, const std::string& resolved_scene) const;

  /// Removes the checksum that begin() has written; another file, such as the manifest of the trajectory,
  /// holds it now. Every rank calls it, the first one acts.
  void drop_scene_checksum(const parallel::Communicator& comm) const;

  /// Whether there is a state to continue from. If not, the run can only start from the beginning. @throws
  /// FileError where there was one and the manifest that names it is gone, or where there was none and
  /// scene() is not what begin() has written. Collective.
  bool has_states(const parallel::Communicator& comm) const;

  /// Takes back what a run that never began has made: scene(), log(), an empty trajectory(), the lock, and
  /// the folder if create() made it; what cannot be removed stays. Every rank calls it, the first one acts.
  void discard();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path scene() const { return root_ / "scene.json"; }
  std::filesystem::path summary() const { return root_ / "summary.json"; }
  std::filesystem::path ledger() const { return root_ / "ledger.csv"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  std::filesystem::path trajectory() const { return root_ / "trajectory"; }

private:
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}

  std::filesystem::path root_;
  std::optional<FolderLock> lock_; ///< on the first rank
  bool made_folder_ = false;
};

} // namespace recoil::checkpoint
