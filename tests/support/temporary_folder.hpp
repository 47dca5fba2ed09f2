#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace recoil::testing {

/// A new empty folder, removed with all it holds at the end of its life.
class TemporaryFolder {
public:
  /// A folder of this process.
  TemporaryFolder() : path_(make()) {}
  /// The same folder on all ranks of `comm` (a recoil::parallel::Communicator, which must outlive this).
  /// Collective, as is the destructor, which lets all ranks come before the folder goes.
  template <class Comm>
  explicit TemporaryFolder(const Comm& comm) : owner_(comm.rank() == 0), wait_([&comm] { comm.barrier(); }) {
    std::string text;
    if (owner_) text = make().string();
    comm.broadcast(text);
    path_ = text;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    if (wait_) wait_();
    std::error_code ignored;
    if (owner_) std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
  static std::filesystem::path make() {
    std::string pattern = (std::filesystem::temp_directory_path() / "recoil_test_XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      throw std::system_error(errno, std::generic_category(), "cannot make a folder like " + pattern);
    return pattern;
  }

  bool owner_ = true;
  std::function<void()> wait_;
  std::filesystem::path path_;
};

} // namespace recoil::testing
