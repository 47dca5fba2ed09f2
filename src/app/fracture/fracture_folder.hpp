#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recoil/app/run/sealed_json.hpp"
#include "recoil/base/folder_lock.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

/// Places of files in a folder of `recoil fracture`.
struct FracturePaths {
  std::filesystem::path root;

  std::filesystem::path shape() const { return root / "fracture.json"; }
  std::filesystem::path inputs() const { return root / "inputs.json"; }
  std::filesystem::path log() const { return root / "log.txt"; }
  std::filesystem::path modes() const { return root / "modes.h5"; }
  std::filesystem::path summary() const { return root / "modes.json"; }
  std::filesystem::path xdmf() const { return root / "modes.xdmf"; }
  std::filesystem::path state() const { return root / "state.json"; }
  /// Fields from which the search starts, written once.
  std::filesystem::path starts() const { return root / "state.starts.h5"; }
  /// Scalar modes from which a search for vector or full modes starts.
  std::filesystem::path scalar_modes() const { return root / "state.scalar.h5"; }
  /// Strained motions from which a search for full modes starts.
  std::filesystem::path strains() const { return root / "state.strains.h5"; }
  /// Two files in turn, so that one is whole at any time.
  std::filesystem::path state_fields(int which) const {
    return root / ("state." + std::to_string(which) + ".h5");
  }
};

/// The folder of one shape, locked against a second job as long as this object lives.
class FractureFolder : public FracturePaths {
public:
  /// Makes `root` for a new shape; removes leftovers of a command that was ended before there was anything to
  /// keep. @throws InputError where it holds anything else, FileError as RunFolder::create(). Collective.
  static FractureFolder create(const parallel::Communicator& comm, const std::filesystem::path& root);
  /// Opens the folder of an earlier command. @throws InputError if it is none, FileError if another job holds
  /// it. Collective.
  static FractureFolder open(const parallel::Communicator& comm, const std::filesystem::path& root);

  /// Writes checksums of all inputs, `files` among them, then the resolved shape: from here on the folder can
  /// be continued. Collective. @throws FileError on every rank.
  void begin(const parallel::Communicator& comm, const std::string& resolved,
             const std::vector<std::filesystem::path>& files) const;
  /// @throws FileError, or InputError for files that the shape names, on every rank where they are not those
  /// of begin(). Collective.
  void require_inputs(const parallel::Communicator& comm) const;
  /// Takes back what a shape that cannot be broken has made. Every rank calls it, the first one acts. @pre
  /// made by create().
  void discard(const parallel::Communicator& comm);

private:
  explicit FractureFolder(const std::filesystem::path& path) : FracturePaths{path} {}

  std::unique_ptr<checkpoint::RunFolder> made_; ///< by create()
  std::unique_ptr<FolderLock> lock_;            ///< by open(), on the first rank
};

/// Removes files that may be there. Collective; the first rank acts. @throws FileError on every rank.
void remove_files(const parallel::Communicator& comm, const std::vector<std::filesystem::path>& files);

/// Writes an HDF5 file aside by `fill` and renames it to `path`: it is whole or absent. Collective.
/// @returns size and checksum. @throws FileError on every rank.
io::FileDigest write_h5(const parallel::Communicator& comm, const std::filesystem::path& path,
                        const std::function<void(io::Hdf5Writer&)>& fill);

Json to_json(const io::FileDigest& digest);
/// What is wrong with a file whose digest `recorded` is the text of to_json(): "is missing", "is damaged ..";
/// empty if nothing is. Collective. @throws FileError on every rank if it cannot be read.
std::string damage_of(const parallel::Communicator& comm, const std::filesystem::path& path,
                      const Json& recorded);

} // namespace recoil::app
