#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace recoil {

/// Keeps a second job out of a folder by a file "recoil.lock" that names host, process and command. Relies
/// only on link and rename being atomic, so it works where parallel file systems offer no file locking. A
/// lock left by a process of the same host that is gone (killed, or the machine restarted) is taken over. One
/// rank takes it for its job; not collective.
class FolderLock {
public:
  /// Takes the lock; while a process of this host holds it, tries again for `patience` (a killed job may
  /// still be dying).
  /// @throws FileError naming the holder and how to fix it, or why the folder cannot be written.
  explicit FolderLock(const std::filesystem::path& folder,
                      std::chrono::milliseconds patience = std::chrono::milliseconds(1000));
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  /// Gives the lock back, unless the file has become another's.
  ~FolderLock();

  const std::filesystem::path& file() const { return file_; }

private:
  void release() noexcept;

  std::filesystem::path file_;
  std::string content_;
};

} // namespace recoil
