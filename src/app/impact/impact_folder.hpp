#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "recoil/base/folder_lock.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// The folder that `recoil impact` fills, locked against a second job as long as this object lives.
class ImpactFolder {
public:
  /// Makes `root`; removes leftovers of a command that was ended before there was anything to keep.
  /// @throws InputError where it holds anything else, FileError as checkpoint::RunFolder::create().
  /// Collective.
  static ImpactFolder create(const parallel::Communicator& comm, const std::filesystem::path& root);
  /// Opens the folder of an earlier command. @throws InputError if it is none or its modes have changed,
  /// FileError where it is damaged or another job holds it. Collective.
  static ImpactFolder open(const parallel::Communicator& comm, const std::filesystem::path& root);

  /// Writes the resolved impacts, and what they are applied to: from here on the folder can be completed.
  /// Collective. @throws FileError on every rank.
  void begin(const parallel::Communicator& comm, const std::filesystem::path& modes,
             const std::string& resolved) const;
  /// The folder of modes that begin() has noted. @pre made by open().
  const std::filesystem::path& modes() const { return modes_; }

  std::filesystem::path impacts() const { return root_ / "impacts.json"; }
  std::filesystem::path inputs() const { return root_ / "inputs.json"; }
  std::filesystem::path manifest() const { return root_ / "manifest.json"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  std::filesystem::path bonded() const { return root_ / "bonded"; }
  /// Of impact k.
  std::filesystem::path fractured(std::size_t k) const { return root_ / ("fractured_" + std::to_string(k)); }
  std::filesystem::path pieces(std::size_t k) const { return fractured(k) / "pieces.json"; }

  /// Whether impact k is done with; makes its folder empty where it is not. Not collective.
  bool is_done(std::size_t k) const;
  /// Takes back what impacts that cannot be applied have made. Every rank calls it, the first one acts.
  void discard(const parallel::Communicator& comm);

private:
  explicit ImpactFolder(const std::filesystem::path& root) : root_(root) {}

  std::filesystem::path root_, modes_;
  std::unique_ptr<checkpoint::RunFolder> made_; ///< by create()
  std::unique_ptr<FolderLock> lock_;            ///< by open(), on the first rank
};

/// What a pieces.json holds, with the checksum of its text as `crc32`. Not collective. @throws FileError
/// where it is damaged or cannot be read.
nlohmann::ordered_json read_pieces_file(const std::filesystem::path& path);

/// Removes a file, or a folder with all that it holds, if it is there. @throws FileError.
void remove_all_of(const std::filesystem::path& path);

} // namespace recoil::app
