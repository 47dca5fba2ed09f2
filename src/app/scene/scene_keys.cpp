#include "recoil/app/scene/scene_keys.hpp"

#include "recoil/app/scene/key_documentation.hpp"
#include "recoil/app/scene/scene_documentation.hpp"

namespace recoil::app {
namespace {

constexpr const char* scene_introduction =
    "# Scene files\n\n"
    "<!-- Written by `recoil schema scene --markdown` from the table of keys; a test compares. -->\n\n"
    "A scene is one JSON object with the key names and meaning of PolyFEM, plus recoil's own. Every key is "
    "checked: an\n"
    "unknown key, a wrong type, a value out of range or a missing file ends the program with exit code 2 "
    "and a message\n"
    "that names the file, the line, the JSON pointer and the nearest valid name. `recoil schema scene` "
    "prints the same\n"
    "table as a JSON Schema for editors.\n\n"
    "- `*` stands for any entry of a list, `{a, b}` for any of these names.\n"
    "- Where a list is expected, an object or value alone stands for a list of one where the type says "
    "so.\n"
    "- Units are SI. A number may be written `{\"value\": 2e5, \"unit\": \"Pa\"}`; other units are "
    "refused, not converted.\n"
    "- A formula is a text of `x, y, z` (rest position after transformation, z = 0 in 2D) and `t`. "
    "Operators `+ - * / % ^`;\n"
    "  `^` groups from the left and binds weaker than a sign (`-x^2` is `(-x)^2`); `log` is base 10, `ln` "
    "natural; `if(c, a, b)`\n"
    "  is a when c >= 0. Functions: `abs acos asin atan atan2 ceil cos cosh exp fac floor ln log log10 ncr "
    "npr pow sin sinh sqrt\n"
    "  tan tanh min max sign deg2rad smoothstep half_smoothstep smooth_abs rotate_2D_x rotate_2D_y compare "
    "if`, constants\n"
    "  `pi` and `e`.\n"
    "- *Ignored* keys are PolyFEM's and do not change the answer (two may a little: "
    "[polyfem.md](polyfem.md)); they are accepted with a debug note. "
    "*Refused* keys would\n"
    "  give a wrong answer if they were accepted in silence.\n"
    "- In 2D a third component of a value may stand if it is 0.\n";

} // namespace

std::span<const KeySection> scene_key_sections() {
  static const KeySection sections[] = {
      {"The file", "", root_keys()},
      {"`geometry`",
       "Order of operations for a deformable body: read, normalise, transform, take the bounding box, "
       "refine, select points, "
       "facets and volumes, copy.",
       geometry_keys()},
      {"Selections", "", selection_keys()},
      {"`materials`",
       "Constants may be numbers, formulas of x, y, z (not of t), or one value per element, "
       "`{\"file\": \"f.h5\", \"dataset\": \"/E\"}`: a column of doubles with exactly one row per element of "
       "all deformable bodies, also those of other materials, one body after the other as in `geometry` and "
       "each in the order of its mesh file. What refinement and arrays make of an element has its value; a "
       "column with a row for each of these is accepted, too, as `gradient.h5` holds them.",
       material_keys()},
      {"`boundary_conditions`", "", boundary_keys()},
      {"`initial_conditions`", "", initial_keys()},
      {"`time`", "", time_keys()},
      {"`contact`", "", contact_keys()},
      {"`solver`", "", solver_keys()},
      {"`output` and `tests`", "", output_keys()},
  };
  return sections;
}

const KeyTable& scene_keys() {
  static const KeyTable table{"scene", scene_introduction, scene_key_sections(),
                              build_key_tree(scene_key_sections())};
  return table;
}

std::string scene_json_schema() { return json_schema(scene_keys()); }

std::string scene_markdown() { return markdown(scene_keys()); }

} // namespace recoil::app
