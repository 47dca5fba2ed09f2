#include "app/impact/impacts_file.hpp"

#include <nlohmann/json.hpp>

#include "recoil/app/impact/impact.hpp"
#include "recoil/app/scene/document.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

extern const char* const impacts_page; // of docs/impacts.md.in

namespace {

namespace fm = solvers::fracture_modes;

constexpr const char* magnitude_doc =
    "How hard. A fault opens where `magnitude` times the difference of what the pieces on its sides feel is "
    "at least "
    "`sigma`; the mean of that over the shape is 1. Twice the magnitude is the same as half of `sigma`.";
constexpr const char* sigma_doc = "How strong the shape is; see `magnitude`. A piece with the share a of the "
                                  "mass that is hit alone feels 1/a: with "
                                  "magnitude/sigma = 0.2 pieces of up to a fifth come off.";
constexpr const char* projection_doc =
    "`pieces`: each piece feels the mean over itself of the impact, which spreads from its place; what is "
    "far "
    "away stays together. `modes`: the projection onto the modes, as in the paper; parts far away move along "
    "with the modes that are met.";
constexpr const char* speed_doc =
    "Velocity of the centre of mass of the shape afterwards. Each piece moves along `direction`, faster the "
    "more it feels of the impact; the momentum is the mass of the shape times this.";

constexpr Key of_impact(const char* pattern, unsigned types, const char* fallback, Range range,
                        const char* unit, const char* doc) {
  return {.pattern = pattern, .types = types, .fallback = fallback, .range = range, .unit = unit, .doc = doc};
}
constexpr Key projection_of(const char* pattern) {
  return {.pattern = pattern,
          .types = text,
          .fallback = "\"pieces\"",
          .choices = "[\"pieces\", \"modes\"]",
          .doc = projection_doc};
}
constexpr Range share{0, 1, true, false};

constexpr Key impacts[] = {
    {.pattern = "/impacts",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc = "What hits the shape; each one by itself, on the whole shape. The results are in the folders "
            "`fractured_0`, `fractured_1`, .."},
    {.pattern = "/impacts/*/place",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "Where: the nearest point of the surface of the mesh or cage is hit."},
    {.pattern = "/impacts/*/vertex",
     .types = integer,
     .range = from_to(0, 2147483647),
     .doc =
         "In place of `place`: a vertex on the boundary of the mesh, a row of `mesh/vertices` in `modes.h5`, "
         "counted from 0."},
    {.pattern = "/impacts/*/direction",
     .types = list,
     .items = number,
     .length = {2, 3},
     .implied = "into the body, against the normal of its surface",
     .doc = "Which way, of any length. Decides which way pieces move, not which faults open."},
    of_impact("/impacts/*/magnitude", number, "1", non_negative, nullptr, magnitude_doc),
    of_impact("/impacts/*/sigma", number, "1", positive, nullptr, sigma_doc),
    projection_of("/impacts/*/projection"),
    of_impact("/impacts/*/speed", number, "1", non_negative, "m/s", speed_doc),
};

constexpr Key random_rows[] = {
    {.pattern = "/random",
     .types = object,
     .fallback = "{}",
     .doc = "Impacts at random places of the surface, each part of it as likely as its area is large, after "
            "those of `impacts`: for sets of data."},
    of_impact("/random/count", integer, "0", from_to(0, 1000000), nullptr, "How many."),
    of_impact("/random/seed", integer, "1", from_to(0, 2147483647), nullptr,
              "Of places and magnitudes. Impact k is the same whatever `count` is."),
    {.pattern = "/random/magnitude",
     .types = number | list,
     .items = number,
     .length = {2, 2},
     .fallback = "[0.5, 2]",
     .range = positive,
     .doc = "One for all, or the least and the largest one; their logarithms are distributed uniformly."},
    of_impact("/random/sigma", number, "1", positive, nullptr, sigma_doc),
    projection_of("/random/projection"),
    of_impact("/random/speed", number, "1", non_negative, "m/s", speed_doc),
};

constexpr Key output[] = {
    {.pattern = "/output", .types = object, .fallback = "{}", .doc = "What is written."},
    {.pattern = "/output/format",
     .types = text,
     .fallback = "\"obj\"",
     .choices = "[\"obj\", \"ply\"]",
     .doc =
         "Of the pieces. `ply` is binary, smaller, and has the triangle of the input that each triangle is a "
         "part of; in 2D `obj` alone."},
    {.pattern = "/output/smoothing_length",
     .types = number | null,
     .fallback = "null",
     .range = non_negative,
     .unit = "m",
     .doc =
         "Over which faults are smoothed; 0: as far as the means over the cells around a vertex do it. null: "
         "as the folder of modes says."},
    of_impact("/output/least_piece", number, "1e-4", Range{0, 0.5, false, true}, nullptr,
              "Parts with less of the volume of the shape than this are joined to the neighbour with which "
              "they share the "
              "most of their faults: where faults graze the surface, crumbs come off."),
};

constexpr Key bodies[] = {
    {.pattern = "/bodies",
     .types = object,
     .implied = "no scenes",
     .doc =
         "Writes meshes of the pieces and `scene.json` for `recoil simulate` into the folder of each impact: "
         "pieces that fly apart, touch and rub on each other."},
    of_impact("/bodies/E", number, "1e7", positive, "Pa", "Young's modulus."),
    of_impact("/bodies/nu", number, "0.3", Range{-1, 0.5, true, true}, nullptr, "Poisson's ratio."),
    of_impact(
        "/bodies/density", number, "1000", positive, "kg/m^dim",
        "Of the shape. Where the pieces are those of a body in a cage, the density of each mesh is such "
        "that it has the mass of its piece."),
    of_impact("/bodies/friction", number, "0.3", non_negative, nullptr,
              "Coulomb coefficient of pieces on each other and on the floor."),
    of_impact("/bodies/gap", number, "0.02", Range{0, 0.1, true, false}, nullptr,
              "Distance between pieces at the start, over the mean edge of the mesh: vertices of faults move "
              "inwards by half of it, halved again until no pieces intersect. `contact/dhat` is half of it."),
    {.pattern = "/bodies/gravity",
     .types = list,
     .items = number,
     .length = {2, 3},
     .implied = "9.81 m/s^2 against the last axis",
     .unit = "m/s^2",
     .doc = "Acceleration."},
    of_impact("/bodies/floor", boolean, "true", {}, nullptr,
              "A plane across gravity below the shape, if there is gravity."),
    of_impact("/bodies/dt", number, "1e-3", positive, "s", "Time step."),
    of_impact("/bodies/tend", number, "0.5", positive, "s", "End."),
};

constexpr Key bonds[] = {
    {.pattern = "/bonds",
     .types = object,
     .implied = "none",
     .doc = "Writes the shape as bonded particles into the folder `bonded`, with strengths of bonds that are "
            "low across the faults of the modes: `particles.csv`, `bonds.csv` and a scene. 3D only."},
    {.pattern = "/bonds/radius",
     .types = number,
     .required = true,
     .range = positive,
     .unit = "m",
     .doc = "Of the particles, a hexagonal packing."},
    of_impact("/bonds/E", number, "1e7", positive, "Pa", "Young's modulus of the bonds."),
    of_impact("/bonds/nu", number, "0.3", Range{-1, 0.5, true, true}, nullptr,
              "Poisson's ratio of the bonds."),
    of_impact("/bonds/density", number, "1000", positive, "kg/m^3", "Of the bulk."),
    of_impact("/bonds/tensile_strength", number, "1e5", positive, "Pa", "Of bonds within a piece."),
    of_impact("/bonds/shear_strength", number, "1e5", positive, "Pa", "Of bonds within a piece."),
    of_impact(
        "/bonds/fault_share", number, "0.2", share, nullptr,
        "Strength of bonds across a fault of the first mode, over that within a piece. Across faults that "
        "open first in mode k it is E_k/E_1 times this, at most 1."),
};

std::vector<KeySection> sections() {
  return {{"impacts", impacts},
          {"random", random_rows},
          {"output", output},
          {"bodies", bodies},
          {"bonds", bonds}};
}

/// Components along the axes of the shape. A third one may stand in 2D if it is 0.
std::vector<double> vector_of(const Item& item, int dim) {
  std::vector<double> values = item.numbers();
  if (static_cast<int>(values.size()) == dim) return values;
  if (dim == 3) item.fail("has two components, but the shape is in 3D: give three");
  if (values[2] != 0) item.fail("has a third component, but the shape is in 2D: give two");
  values.resize(2);
  return values;
}

void read_common(const Item& item, ImpactSpec& spec) {
  spec.sigma = item["sigma"].number();
  spec.speed = item["speed"].number();
  spec.projection =
      item["projection"].text() == "modes" ? fm::ImpactProjection::modes : fm::ImpactProjection::pieces;
  spec.where = item.where();
}

ImpactSpec read_impact(const Item& item, int dim) {
  ImpactSpec spec;
  read_common(item, spec);
  spec.magnitude = item["magnitude"].number();
  if (item.has("place") == item.has("vertex"))
    item.fail(item.has("place") ? "has both `place` and `vertex`: give one of them"
                                : "has neither `place` nor `vertex`: say where the shape is hit");
  if (item.has("place")) spec.place = vector_of(item["place"], dim);
  if (item.has("vertex")) spec.vertex = item["vertex"].integer();
  if (item.has("direction")) {
    spec.direction = vector_of(item["direction"], dim);
    double norm = 0;
    for (const double component : spec.direction) norm = std::max(norm, std::abs(component));
    if (norm == 0)
      item["direction"].fail("is zero: give a vector of any other length, or leave it out for an impact into "
                             "the body");
  }
  return spec;
}

RandomImpacts read_random(const Item& item) {
  RandomImpacts random;
  random.count = item["count"].integer();
  random.seed = static_cast<std::uint64_t>(item["seed"].integer());
  const Item magnitude = item["magnitude"];
  if (magnitude.is_list()) {
    random.least_magnitude = magnitude.numbers()[0];
    random.largest_magnitude = magnitude.numbers()[1];
    if (random.least_magnitude > random.largest_magnitude)
      magnitude.fail("has its larger number first: give the least one, then the largest one");
  } else {
    random.least_magnitude = random.largest_magnitude = magnitude.number();
  }
  read_common(item, random.like);
  return random;
}

BodiesSpec read_bodies(const Item& item, int dim) {
  BodiesSpec spec;
  spec.youngs_modulus = item["E"].number();
  spec.poisson_ratio = item["nu"].number();
  spec.density = item["density"].number();
  spec.friction = item["friction"].number();
  spec.gap = item["gap"].number();
  if (item.has("gravity"))
    spec.gravity = vector_of(item["gravity"], dim);
  else
    (spec.gravity = std::vector<double>(dim, 0.0)).back() = -9.81;
  spec.floor = item["floor"].flag();
  spec.time_step = item["dt"].number();
  spec.end = item["tend"].number();
  spec.where = item.where();
  return spec;
}

BondsSpec read_bonds(const Item& item, int dim) {
  if (dim != 3) item.fail("is for shapes in 3D, bonded particles are spheres: leave it out");
  BondsSpec spec;
  spec.radius = item["radius"].number();
  spec.youngs_modulus = item["E"].number();
  spec.poisson_ratio = item["nu"].number();
  spec.density = item["density"].number();
  spec.tensile_strength = item["tensile_strength"].number();
  spec.shear_strength = item["shear_strength"].number();
  spec.fault_share = item["fault_share"].number();
  spec.where = item.where();
  return spec;
}

void refuse_other_files(const Document& document) {
  if (!document.root.is_object()) return;
  for (const char* key : {"geometry", "experiments"})
    if (document.root.contains(key))
      throw InputError(
          document.file.string(),
          std::string("has `") + key +
              "` and is no file of impacts: that names places where a shape is hit; the shape is "
              "the folder that `recoil fracture` has made");
}

} // namespace

const KeyTable& impacts_keys() {
  static const std::vector<KeySection> all = sections();
  static const KeyTable table{"impacts", impacts_page, all, build_key_tree(all)};
  return table;
}

std::string impacts_json_schema() { return json_schema(impacts_keys()); }
std::string impacts_markdown() { return markdown(impacts_keys()); }

ImpactsFile read_impacts(const std::filesystem::path& path, int dim) {
  Document document = load_document(path, impacts_keys());
  refuse_other_files(document);
  ImpactsFile file;
  resolve_against_keys(document, impacts_keys(), file.notes);
  const Item root(document.root, "", document.locations);
  for (const Item& item : root["impacts"].items()) file.impacts.push_back(read_impact(item, dim));
  file.random = read_random(root["random"]);
  if (file.impacts.empty() && file.random.count == 0)
    root.fail("has no impacts: give `impacts`, or `random` with a `count`");
  const Item of_output = root["output"];
  if (of_output["format"].text() == "ply") {
    if (dim == 2) of_output["format"].fail("is for surfaces in 3D; outlines are written as \"obj\"");
    file.format = pieces::PieceFormat::ply;
  }
  if (const Item length = of_output["smoothing_length"]; !length.is_null())
    file.smoothing_length = length.number();
  file.least_piece = of_output["least_piece"].number();
  if (root.has("bodies")) file.bodies = read_bodies(root["bodies"], dim);
  if (root.has("bonds")) file.bonds = read_bonds(root["bonds"], dim);
  file.resolved = document.root.dump(2) + "\n";
  return file;
}

} // namespace recoil::app
