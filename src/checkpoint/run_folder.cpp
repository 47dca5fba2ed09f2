#include "recoil/checkpoint/run_folder.hpp"

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "recoil/base/error.hpp"
#include "recoil/base/folder_lock.hpp"

namespace recoil::checkpoint {
namespace fs = std::filesystem;

struct RunFolder::Lock {
  std::optional<FolderLock> lock; // first rank only
  bool made_folder = false;
};

RunFolder::RunFolder(fs::path root, std::unique_ptr<Lock> lock)
    : root_(std::move(root)), lock_(std::move(lock)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;
RunFolder::~RunFolder() = default;

RunFolder RunFolder::create(const parallel::Communicator& comm, const fs::path& root) {
  auto lock = std::make_unique<Lock>();
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    const fs::file_status status = fs::status(root, error);
    if (!fs::exists(status) && fs::is_symlink(fs::symlink_status(root, error)))
      throw FileError(root.string() + ": the output folder (-o) is a link to '" +
                      fs::read_symlink(root, error).string() +
                      "', which is not there; make that folder or remove the link");
    if (fs::exists(status) && !fs::is_directory(status))
      throw InputError(root.string(), "the output folder (-o) is a file; choose another name");
    const auto refuse_used = [&] {
      std::error_code unreadable;
      for (const auto& entry : fs::directory_iterator(root, unreadable))
        if (!entry.path().filename().string().starts_with("recoil.lock"))
          throw InputError(
              root.string(),
              "the output folder (-o) is not empty, it holds '" + entry.path().filename().string() +
                  "'; choose a new folder, or continue the run in it with --restart " + root.string());
      if (unreadable)
        throw FileError(root.string() + ": cannot list the output folder: " + unreadable.message());
    };
    lock->made_folder = !fs::exists(status);
    if (fs::exists(status)) refuse_used();
    fs::create_directories(root, error);
    if (error) throw FileError(root.string() + ": cannot make the output folder: " + error.message());
    lock->lock.emplace(root);
    // Another job may have used the folder between the look and the lock.
    refuse_used();
  });
  return RunFolder(root, std::move(lock));
}

RunFolder RunFolder::open(const parallel::Communicator& comm, const fs::path& root) {
  auto lock = std::make_unique<Lock>();
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    if (!fs::is_directory(root, error))
      throw InputError(root.string(),
                       "there is no such run folder; give the folder that an earlier run got with -o");
    if (!fs::exists(root / "scene.json", error))
      throw InputError(root.string(),
                       "this is no run folder, it has no scene.json; give the folder that an earlier "
                       "run got with -o, or start the run anew");
    lock->lock.emplace(root);
  });
  return RunFolder(root, std::move(lock));
}

void RunFolder::discard() {
  if (!lock_->lock) return;
  std::error_code ignored;
  fs::remove(scene(), ignored);
  fs::remove(log(), ignored);
  lock_->lock.reset();
  if (lock_->made_folder) fs::remove(root_, ignored);
}

} // namespace recoil::checkpoint
