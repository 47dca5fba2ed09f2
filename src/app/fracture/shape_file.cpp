#include "app/fracture/shape_file.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include <nlohmann/json.hpp>

#include "recoil/app/scene/document.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;
namespace fm = solvers::fracture_modes;

fm::FaceWeight weight_of(const std::string& name) {
  static const std::map<std::string, fm::FaceWeight> weights{
      {"tv", fm::FaceWeight::tv},
      {"paper", fm::FaceWeight::paper},
      {"reference_code", fm::FaceWeight::reference_code}};
  return weights.at(name);
}

/// A tensor by its rows or its diagonal.
std::vector<double> read_tensor(const Item& item) {
  const std::size_t dim = item.size();
  std::vector<double> tensor(dim * dim, 0.0);
  const std::vector<Item> rows = item.items();
  for (std::size_t i = 0; i < dim; ++i) {
    if (rows[i].is_list() != rows.front().is_list() || (rows[i].is_list() && rows[i].size() != dim))
      item.fail("must be " + std::to_string(dim) + " numbers or " + std::to_string(dim) + " rows of as many");
    if (!rows[i].is_list()) {
      tensor[i * dim + i] = rows[i].number();
      continue;
    }
    const std::vector<double> row = rows[i].numbers();
    std::ranges::copy(row, tensor.begin() + static_cast<std::ptrdiff_t>(i * dim));
  }
  return tensor;
}

/// The cage of the only enabled entry, if it has one.
std::optional<CageSpec> read_cage(const Item& root, const Geometry& geometry) {
  std::optional<CageSpec> cage;
  for (const Item& entry : root["geometry"].items()) {
    if (!entry["enabled"].flag() || !entry.has("cage")) continue;
    const Item item = entry["cage"];
    if (entry.has("generator"))
      item.fail("is for surfaces; a `generator` makes elements itself: leave `cage` out");
    if (geometry.entries.size() > 1)
      item.fail("is for a shape with one entry; put all surfaces into one file, which may have several "
                "parts, and leave the other entries out");
    if (entry.has("array"))
      item.fail("does not go with `array`: the copies would break alike; leave `array` out");
    cage = CageSpec{item["elements"].integer(), item["repair_elements"].integer()};
  }
  return cage;
}

void check_names(const Geometry& geometry) {
  std::set<std::string> names;
  for (const mesh::GeometrySpec& entry : geometry.entries)
    if (!names.insert(entry.name).second)
      throw InputError(entry.where, "there is another entry '" + entry.name + "'; give it another `name`");
}

void read_modes(const Item& item, Shape& shape) {
  static const std::map<std::string, ModeType> types{
      {"scalar", ModeType::scalar}, {"vector", ModeType::vector}, {"full", ModeType::full}};
  shape.type = types.at(item["type"].text());
  for (const char* key : {"relative_omega", "strain"})
    if (item.has(key) && shape.type != ModeType::full)
      item[key].fail("belongs to \"type\": \"full\"; leave it out");
  if (item.has("relative_omega")) shape.relative_omega = item["relative_omega"].number();
  if (item.has("strain") && item["strain"].text() == "gradient") shape.strain = fm::StrainEnergy::gradient;
  shape.weight = weight_of(item["weight"].text());
  shape.modes.least_piece = item["least_piece"].number();
  shape.modes.count = item["count"].integer();
  shape.modes.cut_starts = item["cut_starts"].integer();
  shape.modes.eigenvector_starts = item["eigenvector_starts"].integer();
  shape.modes.random_starts = item["random_starts"].integer();
  shape.modes.seed = static_cast<std::uint32_t>(item["seed"].integer());
  shape.modes.replicated_elements = item["whole_elements"].integer();
  if (shape.modes.cut_starts + shape.modes.eigenvector_starts + shape.modes.random_starts == 0)
    item.fail("has no starts: no mode can be found; give one of cut_starts, eigenvector_starts and "
              "random_starts at least 1");
}

void read_materials(const Item& list, Shape& shape) {
  for (const Item& entry : list.items()) {
    FractureMaterialSpec& material = shape.materials.emplace_back();
    if (entry.has("id")) material.ids = entry["id"].integers();
    material.density = entry["density"].number();
    material.toughness = entry["toughness"].number();
    material.unbreakable = entry["unbreakable"].flag();
    material.may_be_absent = entry["may_be_absent"].flag();
    if (entry.has("cleavage")) material.cleavage = entry["cleavage"].numbers();
    if (material.unbreakable && !material.cleavage.empty())
      entry["cleavage"].fail("says how faults run through what is `unbreakable`; leave one of them out");
    for (const char* key : {"youngs_modulus", "poisson_ratio"})
      if (entry.has(key) && shape.type != ModeType::full)
        entry[key].fail("belongs to modes of \"type\": \"full\"; leave it out");
    if (entry.has("youngs_modulus")) material.youngs_modulus = entry["youngs_modulus"].number();
    if (entry.has("poisson_ratio")) material.poisson_ratio = entry["poisson_ratio"].number();
    if (entry.has("jump_tensor")) {
      if (shape.type == ModeType::scalar)
        entry["jump_tensor"].fail(
            "tells directions of `vector` modes apart; give `modes` \"type\": \"vector\", "
            "or leave it out (`cleavage` is for scalar modes too)");
      material.jump_tensor = read_tensor(entry["jump_tensor"]);
    }
    material.where = entry.where();
  }
}

void refuse_other_files(const Document& document) {
  if (document.root.contains("experiments"))
    throw InputError(document.file.string(),
                     "is a study, which `recoil gradient` and `recoil optimize` take, and not a shape");
  if (document.root.contains("solver") || document.root.contains("time") ||
      document.root.contains("boundary_conditions"))
    throw InputError(document.file.string(),
                     "is a scene, which `recoil simulate` takes, and not a shape; a shape has `geometry`, "
                     "`modes`, `materials`, `impacts` and `output`");
}

/// Keys of scenes that shapes do not have.
void add_what_scenes_have(nlohmann::json& root) {
  int index = 0;
  for (auto& entry : root["geometry"]) {
    if (!entry.contains("name")) entry["name"] = "body" + std::to_string(index);
    entry["is_obstacle"] = false;
    entry["extract"] = "volume";
    if (const auto list = entry.find("volume_selection"); list != entry.end() && list->is_array())
      for (auto& selection : *list) selection["boundary_only"] = true;
    ++index;
  }
}

Shape build_shape(Document document) {
  add_what_scenes_have(document.root);
  const Item root(document.root, "", document.locations);
  Shape shape;
  shape.geometry = build_geometry(root, document.units);
  if (shape.geometry.entries.empty()) root["geometry"].fail("has no enabled entry; leave one enabled");
  check_names(shape.geometry);
  shape.cage = read_cage(root, shape.geometry);
  read_modes(root["modes"], shape);
  read_materials(root["materials"], shape);
  const Item of_impacts = root["impacts"];
  if (const Item blur = of_impacts["blur_length"]; !blur.is_null()) shape.blur_length = blur.number();
  shape.piece_threshold = of_impacts["piece_threshold"].number();
  shape.smallest_piece = of_impacts["least_piece"].number();
  if (const Item length = of_impacts["smoothing_length"]; !length.is_null())
    shape.smoothing_length = length.number();
  shape.save_interval = root["output"]["save_interval"].number();
  return shape;
}

ShapeFile resolve_shape(Document document) {
  refuse_other_files(document);
  ShapeFile file;
  resolve_against_keys(document, fracture_keys(), file.notes);
  file.resolved = document.root.dump(2) + "\n";
  file.locations = document.locations.to_text();
  return file;
}

/// The resolved text of a shape with the surface of a piece in the place of its meshes.
std::string text_of_piece(const std::string& whole, const fs::path& piece) {
  auto root = nlohmann::json::parse(whole);
  nlohmann::json entry{{"mesh", fs::absolute(piece).lexically_normal().string()},
                       {"cage", nlohmann::json::object()}};
  const auto& first = root["geometry"].front();
  if (root["geometry"].size() == 1) {
    if (first.contains("cage")) entry["cage"] = first["cage"];
    // Files of ids are about other elements.
    if (first.contains("volume_selection") && !first["volume_selection"].is_string())
      entry["volume_selection"] = first["volume_selection"];
  }
  root["geometry"] = nlohmann::json::array({entry});
  for (auto& material : root["materials"]) material["may_be_absent"] = true;
  return root.dump(2);
}

/// What the first rank has resolved, on all.
ShapeFile share_shape(const parallel::Communicator& comm, ShapeFile file, const fs::path& path) {
  comm.broadcast(file.resolved);
  comm.broadcast(file.locations);
  // The first rank too, so that all of them hold the same shape.
  file.shape = parallel::collectively(
      comm, [&] { return build_shape(resolved_document(file.resolved, file.locations, path)); });
  return file;
}

} // namespace

ShapeFile load_shape(const parallel::Communicator& comm, const fs::path& path) {
  ShapeFile file = parallel::collectively(comm, [&] {
    return comm.rank() == 0 ? resolve_shape(load_document(path, fracture_keys())) : ShapeFile();
  });
  return share_shape(comm, std::move(file), path);
}

ShapeFile shape_of_piece(const parallel::Communicator& comm, const std::string& whole,
                         const fs::path& piece) {
  ShapeFile file = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return ShapeFile();
    return resolve_shape(document_from_text(text_of_piece(whole, piece), piece.string(), piece.parent_path(),
                                            fracture_keys()));
  });
  return share_shape(comm, std::move(file), piece);
}

std::vector<fs::path> input_files(const Shape& shape) {
  std::vector<fs::path> files;
  for (const mesh::GeometrySpec& body : shape.geometry.entries) {
    if (!body.mesh.empty()) files.push_back(body.mesh);
    for (const mesh::Selection& selection : body.volume_selection)
      if (const auto* file = std::get_if<mesh::FileSelection>(&selection.shape)) files.push_back(file->path);
  }
  return files;
}

} // namespace recoil::app
