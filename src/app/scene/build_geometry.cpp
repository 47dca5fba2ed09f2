#include <algorithm>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/geometry.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/app/scene/keys.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

void check_rotation(const Item& item, const mesh::Transformation& transformation) {
  const auto mode = in_lower_case(transformation.rotation_mode);
  const bool named = mode == "axis_angle" || mode == "rotation_vector" || mode == "quaternion";
  if (!named && (mode.empty() || mode.find_first_not_of("xyz") != std::string::npos))
    item["rotation_mode"].fail("must be axis letters such as \"xyz\", or \"axis_angle\", "
                               "\"rotation_vector\", \"quaternion\", is \"" +
                               transformation.rotation_mode + "\"");
  const auto size = transformation.rotation.size();
  const std::size_t expected = mode == "axis_angle" || mode == "quaternion" ? 4 : 3;
  if (size == 0 || size == 1 || size == expected) return;
  item["rotation"].fail("needs " + std::to_string(expected) + " numbers with rotation_mode \"" +
                        transformation.rotation_mode + "\" (2D: one), has " + std::to_string(size));
}

mesh::Transformation build_transformation(const Item& item, std::vector<std::string>& warnings) {
  mesh::Transformation transformation;
  transformation.translation = item["translation"].vector();
  const auto scale = item["scale"];
  if (scale.is_number())
    transformation.scale.setConstant(scale.number());
  else if (scale.size() > 0)
    transformation.scale = scale.vector();
  if (item.has("dimensions")) {
    const auto dimensions = item["dimensions"];
    if (dimensions.is_list())
      transformation.dimensions = dimensions.vector();
    else
      warnings.push_back(dimensions.where() + ": a single number has no effect; write a list");
  }
  transformation.rotation_mode = item["rotation_mode"].text();
  transformation.rotation = item["rotation"].numbers();
  check_rotation(item, transformation);
  return transformation;
}

mesh::Generator build_generator(const Item& item) {
  using mesh::GeneratorShape;
  struct Form {
    const char* name;
    GeneratorShape shape;
    std::size_t sizes; ///< entries of `size`; 0 = not used
    bool radius, height;
    std::size_t divisions;
  };
  static constexpr Form forms[] = {
      {"box", GeneratorShape::box, 3, false, false, 3},
      {"rectangle", GeneratorShape::rectangle, 2, false, false, 2},
      {"ball", GeneratorShape::ball, 0, true, false, 1},
      {"disk", GeneratorShape::disk, 0, true, false, 1},
      {"plate", GeneratorShape::plate, 3, false, false, 3},
      {"cylinder", GeneratorShape::cylinder, 0, true, true, 2},
  };
  const auto type = item["type"].text();
  const auto& form =
      *std::find_if(std::begin(forms), std::end(forms), [&](const Form& f) { return type == f.name; });
  const auto expect = [&](const char* name, bool used) {
    if (item.has(name) && !used) item[name].fail("a " + type + " has no `" + name + "`");
    if (!item.has(name) && used) item.fail("a " + type + " needs `" + name + "`");
  };
  expect("size", form.sizes > 0);
  expect("radius", form.radius);
  expect("height", form.height);

  mesh::Generator generator;
  generator.shape = form.shape;
  if (form.sizes) {
    generator.size = item["size"].numbers();
    if (generator.size.size() != form.sizes)
      item["size"].fail("a " + type + " has " + std::to_string(form.sizes) + " sizes, here are " +
                        std::to_string(generator.size.size()) +
                        (type == "box" && generator.size.size() == 2 ? "; in 2D write \"rectangle\"" : ""));
  }
  if (form.radius) generator.radius = item["radius"].number();
  if (form.height) generator.height = item["height"].number();
  generator.divisions = item["divisions"].integers();
  if (generator.divisions.size() == 1)
    generator.divisions.resize(form.divisions, generator.divisions.front());
  if (generator.divisions.size() != form.divisions)
    item["divisions"].fail("a " + type + " takes 1 or " + std::to_string(form.divisions) +
                           " numbers, here are " + std::to_string(generator.divisions.size()));
  return generator;
}

/// Defaults are filled in, so what was not written looks like what was written as the default.
void refuse_mesh_settings(const Item& plane) {
  const auto refuse_unless = [](bool is_default, const Item& item) {
    if (!is_default)
      item.fail(
          "has no effect on a plane, which is given by `point` and `normal`; leave it out and change those");
  };
  const auto transformation = plane["transformation"];
  const auto refuse_other_than = [&](double wanted, const Item& item) {
    const auto given = item.is_number() ? std::vector<double>{item.number()} : item.numbers();
    refuse_unless(std::all_of(given.begin(), given.end(), [&](double entry) { return entry == wanted; }),
                  item);
  };
  refuse_other_than(0, transformation["translation"]);
  refuse_other_than(1, transformation["scale"]);
  refuse_other_than(0, transformation["rotation"]);
  refuse_unless(transformation["rotation_mode"].text() == "xyz", transformation["rotation_mode"]);
  if (transformation.has("dimensions")) refuse_unless(false, transformation["dimensions"]);
  refuse_unless(plane["n_refs"].integer() == 0, plane["n_refs"]);
  refuse_unless(plane["extract"].text() == "volume", plane["extract"]);
  const auto normalize = plane["advanced"]["normalize_mesh"];
  refuse_unless(!normalize.flag(), normalize);
}

/// By which it moves, if it has one.
std::optional<int> obstacle_id_of(const Item& entry) {
  if (!entry.has("surface_selection")) return {};
  const auto id = entry["surface_selection"];
  if (!id.is_number())
    id.fail("an obstacle takes one integer as surface_selection: the id by which it moves");
  if (id.integer() < 0) id.fail("the id of an obstacle must be 0 or more");
  return id.integer();
}

PlaneObstacle build_plane(const Item& entry) {
  for (const char* name : {"mesh", "generator", "array", "volume_selection", "point_selection"})
    if (entry.has(name)) entry[name].fail("a plane has no `" + std::string(name) + "`");
  if (!entry["is_obstacle"].flag()) entry.fail("a plane is an obstacle: write \"is_obstacle\": true");
  for (const char* name : {"point", "normal"})
    if (!entry.has(name)) entry.fail("a plane needs `" + std::string(name) + "`");
  refuse_mesh_settings(entry);
  PlaneObstacle plane;
  plane.name = entry["name"].text();
  plane.where = entry.where();
  plane.point = entry["point"].vector();
  const auto normal = entry["normal"].vector();
  if (!(normal.norm() > 0)) entry["normal"].fail("must not be zero");
  plane.normal = normal.normalized();
  plane.id = obstacle_id_of(entry);
  return plane;
}

mesh::Extract extract_of(const std::string& name) {
  if (name == "surface") return mesh::Extract::surface;
  if (name == "edges") return mesh::Extract::edges;
  return name == "points" ? mesh::Extract::points : mesh::Extract::volume;
}

void build_obstacle_id(const Item& entry, mesh::GeometrySpec& spec, std::vector<std::string>& warnings) {
  spec.obstacle_id = obstacle_id_of(entry);
  for (const char* name : {"volume_selection", "point_selection"})
    if (entry.has(name)) warnings.push_back(entry[name].where() + ": has no effect on an obstacle");
}

/// Units of the scene per unit of the mesh file.
double file_scale_of(const Item& entry, const UnitSystem& units) {
  const std::string name = entry.has("unit") ? entry["unit"].text() : "";
  if (name.empty()) return 1;
  if (!entry.has("mesh")) entry["unit"].fail("is of mesh files, and this entry has none; leave it out");
  const std::optional<double> factor = unit_factor(name, "m", units);
  if (!factor) entry["unit"].fail("is no unit of length: " + entry["unit"].dump() + "; write \"mm\", say");
  return *factor;
}

mesh::GeometrySpec build_mesh_entry(const Item& entry, HasOwnShape has_own_shape, const UnitSystem& units,
                                    std::vector<std::string>& warnings) {
  mesh::GeometrySpec spec;
  spec.name = entry["name"].text();
  spec.where = entry.where();
  spec.is_obstacle = entry["is_obstacle"].flag();
  const bool has_other = !spec.is_obstacle && has_own_shape && has_own_shape(entry);
  if (entry.has("mesh") == entry.has("generator") && !has_other)
    entry.fail(entry.has("mesh") ? "has both `mesh` and `generator`; keep one"
                                 : "needs `mesh` (a file) or `generator`");
  if (entry.has("mesh")) spec.mesh = entry["mesh"].text();
  spec.file_scale = file_scale_of(entry, units);
  // Shapes have no such key.
  if (entry.has("repair")) {
    const Item repair = entry["repair"];
    if (repair.is_number())
      spec.repair = repair.number();
    else if (repair.flag())
      spec.repair = 1e-6;
  }
  if (entry.has("generator")) spec.generator = build_generator(entry["generator"]);
  for (const char* name : {"point", "normal"})
    if (entry.has(name)) entry[name].fail("belongs to an entry with \"type\": \"plane\"");
  spec.transformation = build_transformation(entry["transformation"], warnings);
  spec.normalize_mesh = entry["advanced"]["normalize_mesh"].flag();
  spec.n_refs = entry["n_refs"].integer();

  const bool array = entry["type"].text() == "mesh_array";
  if (array != entry.has("array"))
    entry.fail(array ? "\"type\": \"mesh_array\" needs `array`" : "`array` needs \"type\": \"mesh_array\"");
  if (array) {
    const auto given = entry["array"];
    spec.array =
        mesh::ArrayCopies{given["size"].integers(), given["offset"].number(), given["relative"].flag()};
  }

  spec.extract = extract_of(entry["extract"].text());
  if (spec.is_obstacle) {
    build_obstacle_id(entry, spec, warnings);
  } else {
    if (spec.extract != mesh::Extract::volume)
      entry["extract"].fail("a deformable body keeps its \"volume\"; other parts are for obstacles");
    if (entry.has("volume_selection"))
      spec.volume_selection = build_selections(entry["volume_selection"], warnings);
    if (entry.has("surface_selection"))
      spec.surface_selection = build_selections(entry["surface_selection"], warnings);
    if (entry.has("point_selection")) {
      const Item selection = entry["point_selection"];
      if (selection.is_list())
        for (const Item& shape : selection.items())
          if (shape.has("group"))
            shape["group"].fail("vertices and particles have no physical groups; select them by their "
                                "places, or take the group in `surface_selection`");
      spec.point_selection = build_selections(selection, warnings);
    }
  }
  return spec;
}

} // namespace

void check_sphere_transformation(const Item& entry) {
  const Item transformation = entry["transformation"];
  if (transformation.has("dimensions"))
    transformation["dimensions"].fail("would make ellipsoids of spheres; write one `scale`");
  const Item scale = transformation["scale"];
  const std::vector<double> factors = scale.is_number() ? std::vector{scale.number()} : scale.numbers();
  const bool alike =
      factors.empty() || (factors.size() == (scale.is_number() ? 1 : 3) &&
                          std::ranges::all_of(factors, [&](double f) { return f == factors[0]; }));
  if (!alike || (!factors.empty() && !(factors[0] > 0)))
    scale.fail("spheres stay spheres: write one positive number");
}

Geometry build_geometry(const Item& root, const UnitSystem& units, HasOwnShape has_own_shape) {
  Geometry geometry;
  for (const auto& entry : root["geometry"].items()) {
    if (!entry["enabled"].flag()) continue;
    if (entry["type"].text() == "plane")
      geometry.planes.push_back(build_plane(entry));
    else
      geometry.entries.push_back(build_mesh_entry(entry, has_own_shape, units, geometry.warnings));
  }
  return geometry;
}

} // namespace recoil::app
