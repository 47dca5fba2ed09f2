#include "app/study/input/build_study.hpp"

#include <algorithm>
#include <map>

#include "recoil/app/scene/geometry_keys.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_particles.hpp"
#include "recoil/app/study/shapes/shape_form.hpp"

namespace recoil::app {
namespace {

constexpr Range one_or_more = from_to(1, 2147483647);

const char* unit_of_quantity(const std::string& name) {
  const ParameterKind* row = find_parameter_kind(name);
  return row ? row->unit : nullptr;
}

/// A number or flag with a default.
constexpr Key setting(const char* pattern, unsigned types, const char* fallback, Range range,
                      const char* doc) {
  return {.pattern = pattern, .types = types, .fallback = fallback, .range = range, .doc = doc};
}

constexpr Key experiments[] = {
    {.pattern = "/experiments",
     .types = one_or_list,
     .items = object,
     .length = {1, 1 << 30},
     .required = true,
     .doc = "The scenes that are run."},
    {.pattern = "/experiments/*/name", .types = text, .required = true, .doc = "Unique name."},
    {.pattern = "/experiments/*/scene", .types = path, .required = true, .doc = "Scene file."},
    setting("/experiments/*/candidate", boolean, "false", {},
            "An experiment that might be made next: no part of the objective; a fit tells how much its "
            "data would add (see [estimation.md](estimation.md#the-next-experiment)). Its objectives say "
            "what would be observed, by CSV files with the times and `sd` to come and any numbers."),
};

constexpr Key markers[] = {
    {.pattern = "/markers",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc =
         "Points that move with a body, for the objective `markers`. A `shape` takes them along: they stay "
         "at their place inside their element, which `rest` tells on the meshes of the scene."},
    {.pattern = "/markers/*/name",
     .types = text,
     .required = true,
     .doc = "Unique name, as in the column `marker` of the CSV file."},
    {.pattern = "/markers/*/body", .types = text, .required = true, .doc = "Deformable body."},
    {.pattern = "/markers/*/rest",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "Position at rest, before a shape has moved anything. Needed unless there is an `id`."},
    {.pattern = "/markers/*/id",
     .types = integer,
     .range = one_or_more,
     .doc = "In place of `rest`: the mean of the bonded particles of the body with this id of "
            "`point_selection`."},
};

constexpr Key sweep[] = {
    {.pattern = "/sweep", .types = object, .fallback = "{}", .doc = "The sweep backward through time."},
    setting("/sweep/store_every", integer, "1", one_or_more,
            "Steps between stored states; those between are computed again."),
    setting("/sweep/state_budget", integer | null, "null", from_to(2, 2147483647),
            "Most states held in memory at a time, with `store_every` > 1 at least the BDF order + 1; null: "
            "no limit."),
    setting("/sweep/tolerance", number, "1e-10", Range{0, 1e-2, true, false},
            "Relative residual of the linear solves; the error of the gradient is proportional to it."),
    {.pattern = "/check", .types = object, .fallback = "{}", .doc = "`recoil gradient --check`."},
    setting("/check/directions", integer, "3", one_or_more,
            "Random directions in which central differences are taken."),
    {.pattern = "/check/steps",
     .types = list,
     .items = number,
     .length = {2, 1 << 30},
     .fallback = "[1e-3, 1e-4, 1e-5, 1e-6, 1e-7]",
     .range = positive,
     .reason = "a slope needs two",
     .doc = "Relative sizes of the differences, descending."},
};

constexpr Key optimizer[] = {
    {.pattern = "/optimizer", .types = object, .fallback = "{}", .doc = "`recoil optimize`."},
    {.pattern = "/optimizer/method",
     .types = text,
     .fallback = "\"auto\"",
     .choices = "[\"auto\", \"quasi_newton\", \"gauss_newton\", \"conjugate_gradients\"]",
     .doc = "`quasi_newton`: limited-memory BFGS between bounds (Tao's BQNLS); `gauss_newton`: for sums of "
            "squares only; `conjugate_gradients`: nonlinear ones (BNCG); `auto`: the one that fits. PETSc "
            "options with the prefix `recoil_opt_` choose others."},
    setting("/optimizer/max_iterations", integer, "100", from_to(0, 2147483647), "Most iterations."),
    setting(
        "/optimizer/gradient_tolerance", number, "1e-6", non_negative,
        "Ends where the gradient by what the optimiser sees, without what points out of the bounds, is at "
        "most this many times that at the start; of `gauss_newton` with up to 300 values where no cosine "
        "of the angle between the residuals and their derivative by a value is larger than this. See "
        "[below](#the-end-of-a-fit)."),
    setting("/optimizer/step_tolerance", number, "1e-8", non_negative,
            "Ends where an iteration changes the parameters by no more than this, relative to their sizes at "
            "the start (`linear`) or as the optimiser sees them (other scales)."),
    setting("/optimizer/objective_tolerance", number | null, "null", {},
            "Ends where the objective is at most this."),
    setting("/optimizer/stop_at_noise", boolean, "true", {},
            "Ends where iterations change the objective by no more than its noise."),
    {.pattern = "/optimizer/starts",
     .types = integer | text,
     .fallback = "\"auto\"",
     .range = one_or_more,
     .choices = "[\"auto\"]",
     .doc = "Descents, the first from the start values, the others from points spread between the bounds, "
            "which all parameters then need; the best one counts. `auto`: three where Gauss-Newton fits up "
            "to ten values that all have bounds, else one; see [below](#several-starts)."},
    setting("/optimizer/seed", integer, "1", from_to(0, 2147483647), "Chooses these points."),
    {.pattern = "/optimizer/on_failure",
     .types = text,
     .fallback = "\"reject\"",
     .choices = "[\"reject\", \"drop\"]",
     .doc =
         "Where the run of an experiment fails: take other values, or go on without the experiment, with a "
         "warning."},
    {.pattern = "/optimizer/on_bad_fit",
     .types = text,
     .fallback = "\"report\"",
     .choices = "[\"report\", \"fail\"]",
     .doc = "Where the residuals do not agree with the standard deviations of the data (`verdict` of "
            "`fit.json`: `bad_fit`): end with exit code 0, or with 3. See "
            "[estimation.md](estimation.md#the-verdict)."},
    setting("/optimizer/warm_start", boolean, "true", {},
            "Runs start the solves of their steps near the states of the last run of their experiment, which "
            "`fit/evaluations` holds until the end; with `sweep/store_every` 1 only."),
    setting("/optimizer/match_peaks", boolean, "false", {},
            "Before the first iteration strengths of bonds are multiplied by the observed over the simulated "
            "peak of the reaction forces, to which they are in proportion until bonds soften; see "
            "[below](#bonded-particles)."),
    setting("/optimizer/min_quality", number, "1e-3", from_to(0, 1),
            "Rest shapes with an element of a smaller scaled Jacobian (1: regular, 0: flat) are not run: the "
            "step "
            "is shortened."),
    setting("/optimizer/renew_quality", number, "0.1", from_to(0, 1),
            "Where the scaled Jacobian of an element of a body that a shape moves falls below this, the "
            "inside of "
            "the body is smoothed, or meshed anew, and the optimiser starts again from there; see "
            "[below](#new-interiors). 0: never."),
    setting("/optimizer/gmsh", text, "\"gmsh\"", {}, "The program Gmsh, by name or path."),
    setting("/optimizer/gmsh_time_limit", number, "3600", positive,
            "How long Gmsh may work on one body [s]; it is ended then, and the fit with it."),
    {.pattern = "/optimizer/groups",
     .types = integer | text,
     .fallback = "\"auto\"",
     .range = one_or_more,
     .choices = "[\"auto\"]",
     .doc =
         "Parts that the ranks are divided into, to run starts and whole experiments side by side, starts "
         "first; at most one per rank. `auto`: as many as there are starts times experiments, if there are "
         "as many ranks. 1: all ranks work on one run at a time, which takes the least memory."},
    {.pattern = "/optimizer/time_budget",
     .types = number | null,
     .fallback = "null",
     .range = positive,
     .unit = "s",
     .doc = "Ends after the iteration in which the wall time, that before restarts included, exceeds this."},
    {.pattern = "/uncertainty",
     .types = object,
     .fallback = "{}",
     .doc = "How well the data determine what has been fitted, where the objective is a sum of squares."},
    setting("/uncertainty/intervals", boolean, "true", {},
            "Standard deviations, 95 % intervals and correlations, of the objective to second order."),
    {.pattern = "/uncertainty/profile",
     .types = list,
     .items = text,
     .fallback = "[]",
     .doc = "Parameters with few values whose 95 % intervals are also found by the profile likelihood, from "
            "fits of "
            "all others at fixed values: see [estimation.md](estimation.md#profiles)."},
    setting("/uncertainty/samples", integer, "0", from_to(0, 1000000),
            "So many values drawn from the Laplace posterior, in `samples.csv` "
            "([estimation.md](estimation.md#samples-and-bands))."),
    setting("/uncertainty/seed", integer, "1", non_negative, "Of these."),
    setting("/uncertainty/bands", boolean, "false", {},
            "Bands around what the experiments show at the fit, at every observation, in `bands.csv`; costs "
            "as much "
            "as a Jacobian."),
};

/// Numbers in the unit of the quantity, one for all components or one for each.
Key per_component(const char* pattern, Range range, const char* doc) {
  return {.pattern = pattern,
          .types = number | list,
          .items = number,
          .length = {1, 9},
          .required = true,
          .range = range,
          .unit_by = "quantity",
          .unit_for = unit_of_quantity,
          .reason = "one value per component",
          .doc = doc};
}

/// The keys of parameters but for the bases of shapes.
std::vector<Key> common_parameter_keys() {
  static const std::string names = names_as_json(parameter_kinds());
  return {
      {.pattern = "/parameters",
       .types = one_or_list,
       .items = object,
       .length = {1, 1 << 30},
       .required = true,
       .doc = "What the objective is differentiated by."},
      {.pattern = "/parameters/*/name", .types = text, .required = true, .doc = "Unique name."},
      {.pattern = "/parameters/*/quantity",
       .types = text,
       .required = true,
       .choices = names.c_str(),
       .doc = "See the table above."},
      {.pattern = "/parameters/*/body",
       .types = one_or_list,
       .items = text,
       .length = {1, 1 << 30},
       .implied = "all bodies",
       .doc = "Name or list of names."},
      {.pattern = "/parameters/*/region",
       .types = one_or_list,
       .items = integer,
       .length = {1, 1 << 30},
       .implied = "all",
       .doc = "Volume ids."},
      {.pattern = "/parameters/*/bodies",
       .types = list,
       .items = text,
       .length = {2, 2},
       .reason = "the two bodies that slide on each other; twice the same for self-contact",
       .doc = "`friction`: the pair; twice the same for self-contact."},
      {.pattern = "/parameters/*/boundary", .types = integer, .doc = "Surface id."},
      {.pattern = "/parameters/*/per",
       .types = text,
       .implied = "`global`",
       .choices = "[\"global\", \"body\", \"element\", \"vertex\", \"node\", \"bond\"]",
       .doc = "One value for all, per body, element, mesh vertex, bond of bonded particles, or node: where "
              "elements are of a higher order nodes are inside of edges, faces and cells, too."},
      {.pattern = "/parameters/*/per_step",
       .types = boolean,
       .implied = "false",
       .doc = "One value per time step, instead of the scene's formula of t, list of values per time and "
              "`interpolation`."},
      {.pattern = "/parameters/*/experiment",
       .types = one_or_list,
       .items = text,
       .length = {1, 1 << 30},
       .implied = "all",
       .doc = "Experiments in which the parameter acts."},
      {.pattern = "/parameters/*/initial",
       .types = number | list | object,
       .items = number,
       .length = {1, 9},
       .unit_by = "quantity",
       .unit_for = unit_of_quantity,
       .reason = "one value per component",
       .doc = "Start value, in place of that of the scene: a number or one per component; the same wherever "
              "there is one; or values of a file, see [below](#start-values-from-files). Needed unless the "
              "parameter is tied or a shape, which starts from the meshes."},
      {.pattern = "/parameters/*/initial/file",
       .types = path,
       .required = true,
       .doc =
           "HDF5 file, or `fit.json` of `recoil optimize`: the value there of the parameter of this name."},
      {.pattern = "/parameters/*/initial/dataset", .types = text, .doc = "Array of the HDF5 file."},
      {.pattern = "/parameters/*/prior",
       .types = object,
       .implied = "none",
       .doc =
           "What is known of each value beforehand, a normal distribution: a datum of least squares each."},
      per_component("/parameters/*/prior/mean", {}, "A number or one per component."),
      per_component(
          "/parameters/*/prior/sd", positive,
          "Standard deviation. It is that of q; what the optimiser sees of q is normally distributed around "
          "that of `mean`, with `sd` carried over to first order: where the scale is `log`, ln q around ln "
          "mean with sd / mean."),
      {.pattern = "/parameters/*/prior/correlation_length",
       .types = number,
       .implied = "none",
       .range = positive,
       .unit = "m",
       .doc = "Of values per element: the distance at which the correlation between two of them has fallen "
              "to 0.14; see [below](#correlated-fields). Without, they are independent."},
      {.pattern = "/parameters/*/bounds",
       .types = list,
       .items = number,
       .length = {2, 2},
       .implied = "none",
       .unit_by = "quantity",
       .unit_for = unit_of_quantity,
       .reason = "[lowest, highest]",
       .doc = "[lowest, highest] value of every component."},
      {.pattern = "/parameters/*/component_bounds",
       .types = list,
       .items = list | null,
       .length = {1, 9},
       .implied = "none",
       .unit_by = "quantity",
       .unit_for = unit_of_quantity,
       .doc = "In place of `bounds`: [lowest, highest] or null for each component."},
      {.pattern = "/parameters/*/component_bounds/*",
       .types = list | null,
       .items = number,
       .length = {2, 2},
       .unit_by = "quantity",
       .unit_for = unit_of_quantity,
       .reason = "[lowest, highest] or null",
       .doc = "Those of a component."},
      {.pattern = "/parameters/*/held",
       .types = list,
       .items = boolean,
       .length = {1, 9},
       .implied = "none",
       .doc = "Components that stay at their start values, by true: [false, true, false] fits x and z."},
      {.pattern = "/parameters/*/scale",
       .types = text | object,
       .implied = "`log` or `linear`",
       .choices = "[\"linear\", \"log\", \"logit\"]",
       .doc = "What the optimiser sees: q, ln q, ln((q - low) / (high - q)), or q / factor. Without it `log` "
              "where all possible values are `> 0` (table of quantities), unless there is a `prior` or the "
              "lowest of the `bounds` is zero; else `linear`."},
      {.pattern = "/parameters/*/scale/factor",
       .types = number,
       .required = true,
       .range = positive,
       .unit_by = "quantity",
       .unit_for = unit_of_quantity,
       .doc = "Typical size of q."},
      {.pattern = "/parameters/*/tie",
       .types = text,
       .doc = "Name of another parameter of the same unit, components and `per` (not of fields), whose value "
              "this one "
              "has; both show the gradient by the common value."},
  };
}

std::span<const Key> experiment_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> rows(unit_keys().begin(), unit_keys().end());
    std::ranges::copy(experiments, std::back_inserter(rows));
    return rows;
  }();
  return keys;
}

std::span<const Key> parameter_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> rows = common_parameter_keys();
    std::ranges::copy(basis_keys(), std::back_inserter(rows));
    return rows;
  }();
  return keys;
}

std::span<const KeySection> study_sections() {
  static const KeySection sections[] = {{"experiments", experiment_keys()},
                                        {"parameters", parameter_keys()},
                                        {"objectives", objective_keys()},
                                        {"markers", markers},
                                        {"sweep", sweep},
                                        {"optimizer", optimizer}};
  return sections;
}

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
  static const std::map<Components, const char*> shown{{Components::one, "1"},
                                                       {Components::vector, "d"},
                                                       {Components::matrix, "d d"},
                                                       {Components::spin, "1 in 2D, 3 in 3D"},
                                                       {Components::basis, "of the basis"}};
  return shown.at(components);
}

std::string quantity_table() {
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
    text += "| " + name + " | " + (row.unit ? row.unit : "") + " | " + shown_components(row.components) +
            " | " + row.range.describe() + " | " + code_list(row.takes, row.needs) + " | " +
            (per.size() > 1 ? code_list(per, {}) : "") + " | " + table_cell(row.doc) + " |\n";
  }
  return text;
}

std::string objective_table() {
  std::string text = "| type | keys beside the common ones | value |\n|---|---|---|\n";
  for (const ObjectiveType& row : objective_types())
    text += "| `" + std::string(row.name) + "` | " + code_list(row.takes(), row.needs()) + " | " +
            table_cell(row.doc) + " |\n";
  return text;
}

/// Names of the rows that bonded particles have.
template <class Rows, class Has>
std::string names_on_particles(const Rows& rows, Has has) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    if (has(row)) names.emplace_back(row.name);
  return code_list(names, {}) + "\n";
}

} // namespace

extern const char* const study_page; // of docs/study.md.in

const KeyTable& study_keys() {
  static const KeyTable table{"study", study_page, study_sections(), build_key_tree(study_sections())};
  return table;
}

OptionNames study_option_names() { return {{"store_every", "/sweep/store_every"}}; }

std::string study_json_schema() { return json_schema(study_keys()); }

std::string study_markdown() {
  std::string page = markdown(study_keys());
  fill_in(page, "quantities", quantity_table());
  fill_in(page, "objective_types", objective_table());
  fill_in(page, "particle_quantities", names_on_particles(parameter_kinds(), [](const ParameterKind& row) {
            return row.on_particles != nullptr;
          }));
  fill_in(page, "particle_types", names_on_particles(objective_types(), [](const ObjectiveType& row) {
            return holds(observables_on_particles(), row.asks);
          }));
  return page;
}

} // namespace recoil::app
