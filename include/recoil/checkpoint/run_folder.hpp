#pragma once

#include <filesystem>
#include <memory>

#include "recoil/parallel/communicator.hpp"

namespace recoil::checkpoint {

/// The folder of one run, locked against a second job as long as this object lives. Members without mention
/// are not collective.
class RunFolder {
public:
  /// Makes `root` for a new run. @throws InputError if it exists and is not empty, FileError if it cannot be
  /// made or another job holds it. Collective.
  static RunFolder create(const parallel::Communicator& comm, const std::filesystem::path& root);
  /// Opens the folder of an earlier run to continue it. @throws InputError if it is none, FileError if
  /// another job holds it. Collective.
  static RunFolder open(const parallel::Communicator& comm, const std::filesystem::path& root);
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();

  /// Takes back what a run that never began has made: scene(), log(), the lock, and the folder if create()
  /// made it; what cannot be removed stays. Every rank calls it, the first one acts.
  void discard();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path scene() const { return root_ / "scene.json"; }
  std::filesystem::path summary() const { return root_ / "summary.json"; }
  std::filesystem::path ledger() const { return root_ / "ledger.csv"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  std::filesystem::path trajectory() const { return root_ / "trajectory"; }

private:
  struct Lock;
  RunFolder(std::filesystem::path root, std::unique_ptr<Lock> lock);
  std::filesystem::path root_;
  std::unique_ptr<Lock> lock_;
};

} // namespace recoil::checkpoint
