#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "recoil/parallel/communicator.hpp"

namespace recoil::testing {

/// A folder of all ranks' own, removed at the end. Construction and destruction are collective.
class TemporaryFolder {
public:
  explicit TemporaryFolder(const parallel::Communicator& comm) : comm_(comm) {
    std::string name = (std::filesystem::temp_directory_path() / "recoil_test_XXXXXX").string();
    if (comm.rank() == 0 && !::mkdtemp(name.data())) ADD_FAILURE() << "cannot make " << name;
    comm.broadcast(name);
    path_ = name;
  }
  ~TemporaryFolder() {
    comm_.barrier();
    std::error_code ignored;
    if (comm_.rank() == 0) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
  const parallel::Communicator& comm_;
  std::filesystem::path path_;
};

} // namespace recoil::testing
