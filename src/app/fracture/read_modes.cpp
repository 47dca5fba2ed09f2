#include <system_error>

#include "app/fracture/fracture_folder.hpp"
#include "recoil/app/fracture/modes_file.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_damaged(const fs::path& file, const fs::path& folder) {
  throw FileError(file.string() +
                  ": the file is damaged or missing; put a sound copy in its place, or remove " +
                  (folder / "modes.json").string() + " and run recoil fracture --restart " + folder.string());
}

Json read_summary(const FracturePaths& paths) {
  std::error_code error;
  if (!fs::exists(paths.shape(), error))
    throw InputError(paths.root.string(),
                     "this is no folder of recoil fracture, it has no fracture.json; give one that `recoil "
                     "fracture shape.json -o folder/` has made");
  if (!fs::exists(paths.summary(), error))
    throw InputError(paths.root.string(), "the search for fracture modes has not ended; run recoil fracture "
                                          "--restart " +
                                              paths.root.string());
  const auto summary = unsealed(read_file(paths.summary()), paths.summary());
  if (!summary) refuse_damaged(paths.summary(), paths.root);
  return *summary;
}

/// All arrays of modes.h5.
class ModesReader {
public:
  explicit ModesReader(const fs::path& path) : file_(path) {}

  template <class T>
  std::vector<T> all(const std::string& name) const {
    if (!file_.contains(name)) return {};
    return file_.read_rows<T>(name, 0, file_.shape(name).rows);
  }
  int columns(const std::string& name) const { return file_.contains(name) ? file_.shape(name).columns : 0; }

  /// Rows of numbers as vectors of a fixed size.
  template <class Row>
  std::vector<Row> rows(const std::string& name) const {
    using Number = typename Row::value_type;
    std::vector<Row> result;
    const std::vector<Number> numbers = all<Number>(name);
    const auto width = static_cast<std::size_t>(columns(name));
    for (std::size_t at = 0; at < numbers.size(); at += width) {
      Row& row = result.emplace_back();
      for (std::size_t i = 0; i < width; ++i) row[i] = numbers[at + i];
    }
    return result;
  }

private:
  io::Hdf5Reader file_;
};

solvers::fracture_modes::ImpactModel read_model(const ModesReader& file, std::size_t num_modes) {
  solvers::fracture_modes::ImpactModel model;
  model.volumes = file.all<double>("pieces/volumes");
  model.masses = file.all<double>("pieces/masses");
  model.num_pieces = static_cast<int>(model.volumes.size());
  model.num_modes = static_cast<int>(num_modes);
  for (const auto& link : file.rows<std::array<std::int32_t, 2>>("pieces/links"))
    model.links.push_back({link[0], link[1]});
  model.modes = file.all<double>("pieces/modes");
  for (const std::int64_t vertex : file.all<std::int64_t>("impacts/vertices"))
    model.vertices.push_back(vertex);
  model.responses = file.all<double>("impacts/responses");
  return model;
}

void read_surface(const ModesReader& file, ModesFile& modes) {
  if (modes.dim == 2) {
    modes.outline.vertices = file.rows<Eigen::Vector2d>("surface/vertices");
    modes.outline.facets = file.rows<std::array<std::int32_t, 2>>("surface/facets");
    return;
  }
  modes.surface.mesh.vertices = file.rows<Eigen::Vector3d>("surface/vertices");
  modes.surface.mesh.facets = file.rows<std::array<std::int32_t, 3>>("surface/facets");
  modes.surface.attributes.colors = file.rows<Eigen::Vector3d>("surface/colors");
  for (const auto& row : file.rows<std::array<double, 6>>("surface/texture"))
    modes.surface.attributes.texture.push_back(
        {Eigen::Vector2d(row[0], row[1]), Eigen::Vector2d(row[2], row[3]), Eigen::Vector2d(row[4], row[5])});
}

} // namespace

ModesFile read_modes(const fs::path& folder) {
  const FracturePaths paths{folder};
  const Json summary = read_summary(paths);
  std::error_code error;
  const Json& recorded = summary.at("modes.h5");
  const auto bytes = fs::file_size(paths.modes(), error);
  if (error || bytes != recorded.at("bytes").get<std::uintmax_t>() ||
      file_crc32(paths.modes()) != recorded.at("crc32").get<std::uint32_t>())
    refuse_damaged(paths.modes(), folder);
  const ModesReader file(paths.modes());
  ModesFile modes;
  modes.dim = summary.at("dim");
  modes.repair_cells = summary.at("repair_elements");
  modes.smoothing_length = summary.at("smoothing_length");
  modes.blur_length = summary.at("blur_length");
  modes.vertices = file.rows<Eigen::Vector3d>("mesh/vertices");
  modes.cells = file.rows<std::array<std::int32_t, 4>>("mesh/cells");
  if (modes.dim == 2)
    for (auto& cell : modes.cells) cell[3] = -1;
  modes.piece_of_cell = file.all<std::int32_t>("mesh/pieces");
  modes.volume_ids = file.all<std::int32_t>("mesh/volume_ids");
  modes.masses = file.all<double>("mesh/masses");
  modes.energies = file.all<double>("modes/energies");
  modes.gaps = file.all<double>("modes/gaps");
  modes.model = read_model(file, modes.energies.size());
  read_surface(file, modes);
  return modes;
}

} // namespace recoil::app
