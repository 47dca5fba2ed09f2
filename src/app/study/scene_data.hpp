#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

/// A scene and the files that it names, on their way to a folder: `<name>.json`, and `<name>-data` with
/// arrays, meshes and ids. They are written aside and replace earlier ones in commit(), so that a scene that
/// is there is complete. All members are collective and throw FileError on every rank.
class SceneData {
public:
  /// `comm` must outlive it; `folder` must exist.
  SceneData(const parallel::Communicator& comm, const std::filesystem::path& folder, const std::string& name);

  /// Adds an array of which this rank holds `rows`, in rank order; the result is how a scene names it. A name
  /// that was taken before gets a number.
  nlohmann::json add_array(const std::string& dataset, std::span<const double> rows, int columns);
  /// Adds a file with the text of the first rank; the result is how a scene names it.
  std::string add_text(const std::string& file, const std::string& text);
  /// Puts everything in place, the scene last.
  void commit(const nlohmann::json& scene);

private:
  void make_folder();

  const parallel::Communicator& comm_;
  std::filesystem::path scene_, data_, aside_;
  bool has_folder_ = false;
  std::map<std::string, int> times_; ///< that names of arrays were taken
  std::unique_ptr<io::Hdf5Writer> arrays_;
};

} // namespace recoil::app
