#include "app/study/scene_data.hpp"

#include <system_error>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* arrays_file = "values.h5";

void discard(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw FileError(path.string() + ": cannot be removed: " + error.message());
}

} // namespace

SceneData::SceneData(const parallel::Communicator& comm, const fs::path& folder, const std::string& name)
    : comm_(comm), scene_(fs::absolute(folder / (name + ".json")).lexically_normal()),
      data_(fs::absolute(folder / (name + "-data")).lexically_normal()), aside_(data_.string() + ".part") {}

void SceneData::make_folder() {
  if (has_folder_) return;
  has_folder_ = true;
  parallel::collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    discard(aside_);
    std::error_code error;
    fs::create_directory(aside_, error);
    if (error) throw FileError(aside_.string() + ": cannot be made: " + error.message());
  });
}

nlohmann::json SceneData::add_array(const std::string& dataset, std::span<const double> rows, int columns) {
  make_folder();
  if (!arrays_) arrays_ = std::make_unique<io::Hdf5Writer>(comm_, aside_ / arrays_file);
  const int before = times_[dataset]++;
  const std::string name = before == 0 ? dataset : dataset + "-" + std::to_string(before + 1);
  arrays_->write_rows<double>(name, rows, columns);
  return {{"file", (data_ / arrays_file).string()}, {"dataset", "/" + name}};
}

std::string SceneData::add_text(const std::string& file, const std::string& text) {
  make_folder();
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) write_file_atomically(aside_ / file, text);
  });
  return (data_ / file).string();
}

void SceneData::commit(const nlohmann::json& scene) {
  if (arrays_) arrays_->close();
  parallel::collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    // Without its scene, data of one moment can never be read with the values of another.
    discard(scene_);
    discard(data_);
    if (has_folder_) rename_durably(aside_, data_);
    write_file_atomically(scene_, scene.dump(2) + "\n");
  });
}

} // namespace recoil::app
