#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

#include "app/fracture/shape_file.hpp"
#include "recoil/app/fracture/fracture.hpp"
#include "recoil/app/scene/geometry_keys.hpp"

namespace recoil::app {

extern const char* const fracture_page; // of docs/fracture_modes.md.in

namespace {

/// Rows of scenes that say something else for shapes.
struct ChangedRow {
  std::string_view pattern;
  const char* doc;
  const char* choices = nullptr;
};
constexpr ChangedRow changed_rows[] = {
    {"/geometry",
     "The body. Several entries, and unconnected parts of a mesh, are one body whose parts break "
     "each for itself."},
    {"/geometry/*/name", "Unique name, for messages."},
    {"/geometry/*/type", "A mesh, or copies of it on a lattice (`array`).", "[\"mesh\", \"mesh_array\"]"},
    {"/geometry/*/mesh",
     "Mesh file of tetrahedra or, in 2D, triangles: Gmsh 2.2 or 4.1 (.msh), OBJ (2D), MEDIT "
     "(.mesh). With `cage` a surface: OBJ or STL, in 2D polylines of an OBJ file."},
    {"/geometry/*/n_refs", "Levels of uniform refinement."},
};
constexpr std::string_view absent_rows[] = {"/geometry/*/is_obstacle", "/geometry/*/extract",
                                            "/geometry/*/unit",        "/geometry/*/repair",
                                            "/geometry/*/point",       "/geometry/*/normal"};
constexpr std::string_view selections_pattern =
    "/geometry/*/{volume_selection,surface_selection,point_selection}";
constexpr const char* selection_doc =
    "Ids of elements, for `materials`: one id for all, a file, or a list of shapes of which the first that "
    "matches gives the id. Elements are tested by their barycentre, in transformed, refined coordinates. "
    "Without selection: the physical tags of the file (of a Gmsh element in several groups the lowest, with "
    "a "
    "warning), 0 for generators and cages.";

/// Rows of scenes as shapes have them.
std::vector<Key> rows_of_scenes(std::span<const Key> rows, std::deque<std::string>& patterns) {
  std::vector<Key> kept;
  for (Key row : rows) {
    const std::string_view pattern = row.pattern;
    if (std::ranges::count(absent_rows, pattern) > 0 || pattern.ends_with("/boundary_only")) continue;
    const auto* const changed = std::ranges::find(changed_rows, pattern, &ChangedRow::pattern);
    if (changed != std::end(changed_rows)) {
      row.doc = changed->doc;
      row.reason = nullptr;
      if (changed->choices != nullptr) row.choices = changed->choices;
    }
    if (pattern.starts_with(selections_pattern)) {
      patterns.push_back("/geometry/*/volume_selection" +
                         std::string(pattern.substr(selections_pattern.size())));
      row.pattern = patterns.back().c_str();
      if (pattern == selections_pattern) row.doc = selection_doc;
    }
    kept.push_back(row);
  }
  return kept;
}

constexpr Key cage[] = {
    {.pattern = "/geometry/*/cage",
     .types = object,
     .doc = "Makes the elements: those of a body-centred cubic lattice that contain what the surface `mesh` "
            "encloses. It may have holes, intersections and several parts."},
    {.pattern = "/geometry/*/cage/elements",
     .types = integer,
     .fallback = "10000",
     .range = from_to(1, 1e8),
     .doc = "About how many."},
    {.pattern = "/geometry/*/cage/repair_elements",
     .types = integer,
     .fallback = "200000",
     .range = from_to(1000, 1e8),
     .doc = "A surface with holes or intersections is replaced by another one, which is found on a lattice "
            "with so many elements."},
};

constexpr Range count_from(int least) { return from_to(least, 1000); }

constexpr Key modes[] = {
    {.pattern = "/modes",
     .types = object,
     .required = true,
     .doc = "How many modes are looked for, and how. Without this key a file is no shape."},
    {.pattern = "/modes/count",
     .types = integer,
     .fallback = "10",
     .range = count_from(1),
     .doc = "Modes beyond the constants. Each one adds about one piece."},
    {.pattern = "/modes/type",
     .types = text,
     .fallback = "\"scalar\"",
     .choices = "[\"scalar\", \"vector\", \"full\"]",
     .doc =
         "`scalar`: one amplitude per element. `vector`: the elements move in all directions, which "
         "`jump_tensor` of materials tells apart; without that the scalar modes say as much in a fraction of "
         "the time. `full`: the elements are strained, too; for bodies of some hundred elements."},
    {.pattern = "/modes/relative_omega",
     .types = number,
     .implied = "0.1",
     .range = positive,
     .doc = "`full`: what faults cost beside strain, omega over omega*, at which the first strain mode and "
            "the first "
            "fault cost the same. Below 0.5 or so bodies break, above 2 they only bend."},
    {.pattern = "/modes/strain",
     .types = text,
     .implied = "`elastic`",
     .choices = "[\"elastic\", \"gradient\"]",
     .doc = "`full`: the energy of strain, that of linear elasticity (in plane strain in 2D) or 1/2 int E "
            "|grad u|^2, "
            "which rotations cost too."},
    {.pattern = "/modes/weight",
     .types = text,
     .fallback = "\"tv\"",
     .choices = "[\"tv\", \"paper\", \"reference_code\"]",
     .doc = "What a face of area A costs to open: `tv` A, which does not depend on the mesh; `paper` "
            "sqrt(A), equation 5 of the paper, which prefers coarse regions and grows when the mesh is "
            "refined; `reference_code` 2 A, the authors' program."},
    {.pattern = "/modes/least_piece",
     .types = number,
     .fallback = "0.05",
     .range = Range{0, 0.5, false, true},
     .doc =
         "Least share of the mass of its body, or unconnected part of one, that each part on either side "
         "of a fault has. All modes together leave no piece lighter than that, or than 1 / (4 (count + 1)) "
         "if "
         "that is less. With 0 the modes of bodies in 3D break off single elements, as the energy of a small "
         "part falls with its size. Of scalar modes."},
    {.pattern = "/modes/cut_starts",
     .types = integer,
     .fallback = "3",
     .range = count_from(0),
     .doc = "Descents per mode from the known cuts of the least energy."},
    {.pattern = "/modes/eigenvector_starts",
     .types = integer,
     .fallback = "1",
     .range = count_from(0),
     .doc = "Descents per mode from eigenvectors of the Laplacian."},
    {.pattern = "/modes/random_starts",
     .types = integer,
     .fallback = "1",
     .range = count_from(0),
     .doc = "Descents per mode from random combinations of eigenvectors."},
    {.pattern = "/modes/seed",
     .types = integer,
     .fallback = "1",
     .range = from_to(0, 2147483647),
     .doc = "Of the random combinations."},
    {.pattern = "/modes/whole_elements",
     .types = integer,
     .fallback = "40000",
     .range = from_to(0, 1000000),
     .doc = "Up to so many elements are searched one by one, on every rank; larger shapes through pieces, "
            "which are divided along faults."},
};

constexpr Key materials[] = {
    {.pattern = "/materials",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc =
         "What the shape is made of, where that is not the default. Later entries hold over earlier ones."},
    {.pattern = "/materials/*/id",
     .types = one_or_list,
     .items = integer,
     .implied = "all elements",
     .doc = "Ids of `volume_selection`."},
    {.pattern = "/materials/*/jump_tensor",
     .types = list,
     .items = number | list,
     .length = {2, 3},
     .implied = "the identity",
     .doc =
         "Tensor T of `vector` and `full` modes, symmetric and positive definite, or its diagonal: a jump J "
         "of the "
         "motion "
         "across a face of area A costs A |T J|. [10, 10, 1] makes sliding along x and y ten times as dear "
         "as motion along z; both sides of a face are averaged."},
    {.pattern = "/materials/*/jump_tensor/*",
     .types = number | list,
     .items = number,
     .length = {2, 3},
     .doc = "An entry of the diagonal, or a row."},
    {.pattern = "/materials/*/youngs_modulus",
     .types = number,
     .implied = "1",
     .range = positive,
     .unit = "Pa",
     .doc = "Of `full` modes. Where it is the same everywhere it changes no mode."},
    {.pattern = "/materials/*/poisson_ratio",
     .types = number,
     .implied = "0.3",
     .range = Range{-1, 0.5, true, true},
     .doc = "Of `full` modes with `elastic` strain."},
    {.pattern = "/materials/*/may_be_absent",
     .types = boolean,
     .fallback = "false",
     .doc = "No error where no element has its ids, as in a piece of the shape."},
    {.pattern = "/materials/*/density",
     .types = number,
     .fallback = "1",
     .range = positive,
     .unit = "kg/m^dim",
     .doc = "Mass per volume, or per area in 2D. Where it is the same everywhere it changes no mode."},
    {.pattern = "/materials/*/toughness",
     .types = number,
     .fallback = "1",
     .range = positive,
     .doc = "Factor of what it costs to open a face; both sides of a face are averaged."},
    {.pattern = "/materials/*/unbreakable",
     .types = boolean,
     .fallback = "false",
     .doc = "No fault passes between two elements of it."},
    {.pattern = "/materials/*/cleavage",
     .types = list,
     .items = number,
     .length = {2, 3},
     .implied = "1 in all directions",
     .range = positive,
     .doc = "Factors a by the normal n of a fault: the toughness is multiplied by sqrt(sum_i (a_i n_i)^2). "
            "[10, 10, 1] makes planes z = const ten times weaker than planes along z."},
};

constexpr Key impacts[] = {
    {.pattern = "/impacts", .types = object, .fallback = "{}", .doc = "What is prepared for impacts."},
    {.pattern = "/impacts/blur_length",
     .types = number | null,
     .fallback = "null",
     .range = non_negative,
     .unit = "m",
     .doc = "How far an impact reaches; null: a tenth of the diagonal of the bounding box."},
    {.pattern = "/impacts/piece_threshold",
     .types = number,
     .fallback = "1e-6",
     .range = Range{0, 1, false, true},
     .doc = "Elements are one piece where no mode jumps between them by more than this part of its largest "
            "jump."},
    {.pattern = "/impacts/least_piece",
     .types = number,
     .fallback = "0.01",
     .range = Range{0, 0.5, false, true},
     .doc = "Pieces lighter than this share of the mass of their body, or unconnected part of one, are "
            "joined to the "
            "neighbour with which they have the most in common. Such slivers lie between faults of different "
            "modes "
            "that run along each other."},
    {.pattern = "/impacts/smoothing_length",
     .types = number | null,
     .fallback = "null",
     .range = non_negative,
     .unit = "m",
     .doc =
         "How far the faults between pieces are smoothed; 0: not at all; null: the mean length of the edges "
         "of the elements."},
};

constexpr Key output[] = {
    {.pattern = "/output", .types = object, .fallback = "{}", .doc = "What is written while it works."},
    {.pattern = "/output/save_interval",
     .types = number,
     .fallback = "10",
     .range = non_negative,
     .unit = "s",
     .doc = "Wall time between saved states of the search, inside of modes too; 0: after every descent."},
};

/// Rows of all sections; made once.
struct ShapeRows {
  std::deque<std::string> patterns;
  std::deque<std::vector<Key>> of_scenes;
  std::vector<KeySection> sections;

  ShapeRows() {
    for (const KeySection& section : geometry_sections())
      if (std::string_view(section.name) != "root") {
        of_scenes.push_back(rows_of_scenes(section.keys, patterns));
        sections.push_back({section.name, of_scenes.back()});
      }
    sections.insert(sections.end(), {{"cage", cage},
                                     {"modes", modes},
                                     {"materials", materials},
                                     {"impacts", impacts},
                                     {"output", output}});
  }
};

} // namespace

const KeyTable& fracture_keys() {
  static const ShapeRows rows;
  static const KeyTable table{"shape", fracture_page, rows.sections, build_key_tree(rows.sections)};
  return table;
}

std::string fracture_json_schema() { return json_schema(fracture_keys()); }
std::string fracture_markdown() { return markdown(fracture_keys()); }

} // namespace recoil::app
