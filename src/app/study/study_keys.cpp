#include "app/study/study_keys.hpp"

#include <fmt/format.h>

#include "app/study/objectives/objective_type.hpp"
#include "app/study/parameters/parameter_kind.hpp"
#include "recoil/app/scene/key_documentation.hpp"
#include "recoil/app/study/study_documentation.hpp"

namespace recoil::app {
namespace {

constexpr const char* study_introduction =
    "# Study files\n\n"
    "<!-- Written by `recoil schema study --markdown` from the table of keys; a test compares. -->\n\n"
    "What `recoil gradient` reads: experiments, parameters and objectives by name. As in\n"
    "[scenes](scene.md) every key is checked: an unknown key, a wrong type, a value out of range, a name "
    "that "
    "is nowhere\n"
    "or a missing file ends the program with exit code 2 and a message that names the file, the line, the "
    "JSON pointer and\n"
    "how to mend it, before any solve. `recoil schema study` prints the same table as a JSON Schema for "
    "editors.\n\n"
    "```json\n"
    "{ \"experiments\": [ {\"name\": \"drop\", \"scene\": \"drop.json\"} ],\n"
    "  \"parameters\":  [ {\"name\": \"E\", \"quantity\": \"young_modulus\", \"body\": \"ball\", "
    "\"initial\": "
    "2e5, \"bounds\": [1e4, 1e7], \"scale\": \"log\"},\n"
    "                   {\"name\": \"mu\", \"quantity\": \"friction\", \"bodies\": [\"ball\", \"floor\"], "
    "\"initial\": 0.3, \"bounds\": [0, 1]},\n"
    "                   {\"name\": \"v0\", \"quantity\": \"initial_velocity\", \"body\": \"ball\", "
    "\"initial\": [1, 0, 0]} ],\n"
    "  \"objectives\":  [ {\"name\": \"path\", \"type\": \"center_of_mass\", \"experiment\": \"drop\", "
    "\"body\": \"ball\", \"target\": \"observed.csv\", \"time\": \"integral\"} ],\n"
    "  \"sweep\":       {\"store_every\": 1, \"state_budget\": null, \"tolerance\": 1e-10},\n"
    "  \"check\":       {\"directions\": 3, \"steps\": [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]} }\n"
    "```\n\n"
    "- `*` stands for any entry of a list. Where a list is expected, an object or value alone stands for a "
    "list of one where\n"
    "  the type says so.\n"
    "- Relative paths start from the folder of the study.\n"
    "- Units are SI. A number may be written `{\"value\": 2e5, \"unit\": \"Pa\"}`; other units are refused, "
    "not converted.\n"
    "- A parameter replaces what the scene says at that place by one value; a formula, list or field there "
    "that one value\n"
    "  cannot stand for is refused.\n"
    "- Of a scene's `output` only `chunk` counts: states are stored every `sweep/store_every` steps, without "
    "fields, and with\n"
    "  `store_every` > 1 each in a file of its own.\n";

constexpr const char* refusals =
    "Before any solve, by name:\n\n"
    "- a parameter that no potential in its experiments uses, such as friction without contact, a constant "
    "of another law,\n"
    "  initial velocities, or densities in statics without body force or an objective of the centre of "
    "mass;\n"
    "- a law, potential or objective without the derivative asked for, such as a shape with loads by "
    "formulas of position;\n"
    "- `solver/contact/friction_iterations` > 1: use 1, or -1 (until converged), whose adjoint is solved "
    "nonsymmetrically;\n"
    "- statics with `lagged_regularization_weight` > 0 whose friction is not converged; a shape of a body "
    "that has a "
    "spin, a density\n"
    "  of one whose spin has no `center`; a shape with `dhat_relative`;\n"
    "- two parameters that set the same value; bounds that exclude the start value; a body, region, pair or "
    "marker that is\n"
    "  not there; a missing or non-monotone CSV file.\n\n"
    "An adaptive barrier stiffness has no derivative: a study makes one pilot run, freezes the largest "
    "stiffness that it used\n"
    "(reported, stored in the run folder) and differentiates that. The list of steps of the first forward "
    "run (predecessors,\n"
    "coefficients, dt) is recorded and replayed in every perturbed run of `--check`; a run that needs "
    "another "
    "list is\n"
    "reported, not compared.";

constexpr const char* observations =
    "A CSV file has the header `time,x,y[,z][,sd]` for the centre of mass and `time,marker,x,y[,z][,sd]` for "
    "markers, positions\n"
    "in metres, times ascending (for each marker), `sd` the standard deviation of each component (1 where "
    "the "
    "column is\n"
    "missing). Times between are interpolated linearly.";

constexpr const char* references =
    "The `reference` of a target holds its displacements u\\*, or its positions x\\*, which are given points "
    "of "
    "space: a\n"
    "`shape` does not move them.\n\n"
    "- A run folder holds them between its first and last stored state, linear in time between two; outside "
    "it is refused.\n"
    "  x\\* is its own rest mesh plus u\\*. Its meshes are compared with those of the experiment: the same "
    "elements at the same\n"
    "  places, with bodies, vertices and elements in whatever order; other meshes are refused. Only where a "
    "`shape` acts in the\n"
    "  experiment `target_position` also takes a run of another shape: the same elements in the same order "
    "at other places,\n"
    "  with a warning.\n"
    "- An HDF5 file holds one u\\* for all times, a row of d doubles per node in file order; x\\* is the "
    "rest "
    "mesh as the scene\n"
    "  gives it, which no shape has moved, plus u\\*.\n"
    "- Both are fields of the elements: inside of one they are interpolated between its nodes.";

constexpr const char* shapes =
    "The values of a `shape` are displacements [m] of the rest vertices X of its bodies, zero at the start. "
    "In "
    "what follows L are\n"
    "the sizes and c the centre of the box, along the axes, around the vertices of all of these bodies "
    "together.\n\n"
    "| basis | values, in this order | vertex X moves by |\n"
    "|---|---|---|\n"
    "| `vertices`, `boundary_vertices` | a vector per vertex | its vector |\n"
    "| `affine` | vectors a_x, a_y(, a_z), b | a_x (X - c)_x / L_x + a_y (X - c)_y / L_y (+ ..) + b |\n"
    "| `{\"box\": [nx, ny(, nz)]}` | a vector per control point, x fastest, from the lowest corner | their "
    "product of linear hats (bilinear, trilinear) |\n"
    "| `{\"modes\": ..}` | a number per mode, by the names of the arrays | sum of number times mode |\n\n"
    "So a_x is the difference between the displacements of the two ends of the box along x: [0.1, 0] makes "
    "it "
    "0.1 m longer, and\n"
    "b moves it as a whole. Vectors have their components side by side: x, y(, z) of the first one come "
    "first.";

constexpr const char* file_order =
    "Rows of files belong to all deformable bodies, one after the other as in `geometry` of the scene, also "
    "those that a parameter\n"
    "or material does not touch; their number must fit exactly.\n\n"
    "- Vertices and elements: of each body in the order of its mesh file, or as its generator numbers them; "
    "of an `array` copy\n"
    "  by copy. After `n_refs` these are those of the refined mesh. Vertices that no element uses have no "
    "row.\n"
    "- Nodes: the vertices, then for higher orders those inside of edges, of faces and of cells, as "
    "`coordinates` in `mesh.h5` of a\n"
    "  trajectory lists them.\n\n"
    "An array of `gradient.h5` has NaN where the parameter has no value. One per element can be read back as "
    "a\n"
    "constant of a material (`{\"file\": .., \"dataset\": ..}` in a scene) that acts where it has values.";

constexpr const char* result =
    "`gradient.json` in the run folder: `objective`, `per_objective` {name: value}, `parameters` {name: "
    "{value, "
    "unit, gradient,\n"
    "gradient_scaled}}, `forward_s`, `sweep_s`, `newton_iterations`, `sweep_linear_iterations`, "
    "`sweep_relative_residual` (the\n"
    "largest of the linear solves), `ranks`, `peak_memory_mb` {max, sum}, `version`; `barrier_stiffness` "
    "{experiment: value} where\n"
    "a pilot run has frozen it. A parameter per body also has `bodies`, whose values these are, in their "
    "order. "
    "Fields with one\n"
    "value per element or vertex go to `gradient.h5` in [file order](#file-order), a group "
    "`<experiment>/<parameter>` for every\n"
    "experiment that they act in (`file`, `groups`), with the arrays `value`, `gradient`, `gradient_scaled` "
    "and the attribute `unit`:\n"
    "where experiments share a mesh, the derivative by common values is the sum.\n"
    "\n"
    "`objective_error` is the estimated change of the objective if all steps were solved exactly: adjoint "
    "times "
    "residual, to first order.\n"
    "`warnings`, where there are any, says why the gradient is not that of the scene: a frozen barrier "
    "stiffness, or steps solved so loosely\n"
    "that derivatives are off by about 1e-3 or more.\n"
    "\n"
    "With `--check` also `check` {direction: {slope, relative_error, verdict, derivative, difference, noise, "
    "and "
    "lists over `steps`:\n"
    "differences, relative_errors, uncertainties, remainders}}: random directions through all values, and "
    "one "
    "through those of each parameter where\n"
    "there are several. Error and difference are those of the step with the smallest error; `noise` is the "
    "standard deviation "
    "of the "
    "objective\n"
    "between runs with nearly the same values, `uncertainties` what the differences are known to, relative "
    "to "
    "them\n"
    "([gradients.md](gradients.md) says how). The verdict begins with\n"
    "\n"
    "- `agrees`: within the uncertainty, and that is below 1e-3; steps that are not solved exactly may add "
    "1e-6;\n"
    "- `wrong derivative`: off by more than the uncertainty at the step with the smallest uncertainty and at "
    "another one: exit code 3;\n"
    "- `noise`: the differences are lost in noise of the objective at all steps, or off at one step only;\n"
    "- `not converged`: they still change at the smallest step: take smaller ones;\n"
    "- `loosely solved`: off, but by no more than steps that are not solved exactly explain;\n"
    "- `not comparable`: runs with changed values fail or take other steps, but for one step at most.\n"
    "\n"
    "All but the first are warnings. The check begins when the gradient is written; `--restart` with "
    "`--check` "
    "makes up for one that was\n"
    "cut off."
    "\n"
    "\n"
    "`--restart` goes on with the study, scenes and files that the gradient was begun with; `inputs.json` "
    "and "
    "the manifests of the\n"
    "runs hold their checksums. Observations and references may be replaced: the objective and its gradient "
    "are then computed\n"
    "anew from the stored runs, with a warning. So may the objectives and settings in `study.json` of the "
    "folder, once\n"
    "`inputs.json` is removed, which tells that the change is meant; the parameters may not.";

std::string code_list(const std::vector<std::string>& names, const std::vector<std::string>& needed) {
  std::string list;
  for (const auto& name : names) {
    list += (list.empty() ? "`" : ", `") + name + "`";
    for (const auto& other : needed)
      if (other == name) list += " (required)";
  }
  return list;
}

std::string shown_components(Components components) {
  switch (components) {
  case Components::one:
    return "1";
  case Components::vector:
    return "d";
  case Components::spin:
    return "1 in 2D, 3 in 3D";
  case Components::basis:
    break;
  }
  return "of the basis";
}

std::string parameter_introduction() {
  std::string text =
      "| quantity | unit | components | values | keys beside the common ones | `per` | what it stands for |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const ParameterKind& row : parameter_kinds()) {
    std::string name = "`" + std::string(row.name) + "`";
    if (row.parameter && row.parameter->constant->max_terms > 0) {
      // One row for all terms of a list.
      if (row.parameter->term > 0) continue;
      const potentials::LawConstant& list = *row.parameter->constant;
      name += fmt::format(" .. `{}_{}`", list.quantity, list.max_terms);
    }
    std::vector<std::string> per;
    for (const Per one : row.per) per.push_back(name_of(one));
    const Range range{row.min, row.max, row.min_open, row.max_open};
    text += "| " + name + " | " + (row.unit ? row.unit : "") + " | " + shown_components(row.components) +
            " | " + range.describe() + " | " + code_list(row.takes, row.needs) + " | " +
            (per.size() > 1 ? code_list(per, {}) : "") + " | " + table_cell(row.doc) + " |\n";
  }
  text.pop_back();
  return text;
}

std::string objective_introduction() {
  std::string text = "| type | keys beside the common ones | value |\n|---|---|---|\n";
  for (const ObjectiveType& row : objective_types())
    text += "| `" + std::string(row.name) + "` | " + code_list(row.takes(), row.needs()) + " | " +
            table_cell(row.doc) + " |\n";
  text.pop_back();
  return text;
}

std::span<const KeySection> study_sections() {
  static const std::string of_parameters = parameter_introduction(), of_objectives = objective_introduction();
  static const KeySection sections[] = {
      {"`experiments`", "", experiment_keys()},
      {"`parameters`", of_parameters.c_str(), parameter_keys()},
      {"`objectives`", of_objectives.c_str(), objective_keys()},
      {"`markers`", "", marker_keys()},
      {"`sweep` and `check`", "", sweep_keys()},
      {"Values of a shape", shapes, {}},
      {"Observations", observations, {}},
      {"References", references, {}},
      {"File order", file_order, {}},
      {"What is refused", refusals, {}},
      {"Result", result, {}},
  };
  return sections;
}

} // namespace

const KeyTable& study_keys() {
  static const KeyTable table{"study", study_introduction, study_sections(),
                              build_key_tree(study_sections())};
  return table;
}

std::string study_json_schema() { return json_schema(study_keys()); }

std::string study_markdown() { return markdown(study_keys()); }

} // namespace recoil::app
