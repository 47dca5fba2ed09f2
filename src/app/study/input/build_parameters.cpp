#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/study/input/build_study.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/shapes/shape_form.hpp"

namespace recoil::app {

namespace {

std::vector<int> experiments_of(const Item& entry, const Study& study) {
  const std::vector<std::string> names = names_of(study.experiments);
  std::vector<int> indices;
  if (!entry.has("experiment")) {
    for (int i = 0; i < std::ssize(names); ++i) indices.push_back(i);
    return indices;
  }
  distinct_texts(entry["experiment"]);
  for (const Item& name : entry["experiment"].items()) indices.push_back(index_of(name, names, "experiment"));
  std::ranges::sort(indices);
  return indices;
}

Per per_of(const Item& entry, const ParameterKind& quantity) {
  if (!entry.has("per")) return Per::global;
  std::string possible;
  for (const Per per : quantity.per) {
    if (entry["per"].text() == name_of(per)) return per;
    possible += std::string(possible.empty() ? "\"" : ", \"") + name_of(per) + "\"";
  }
  entry["per"].fail(std::string(quantity.name) + " has one value " + possible + ", not per " +
                    entry["per"].text());
}

std::string short_number(double value) { return nlohmann::json(value).dump(); }

std::vector<double> numbers_of(const Item& item) {
  return item.is_list() ? item.numbers() : std::vector<double>{item.number()};
}

std::vector<double> initial_of(const Item& item, const ParameterKind& quantity) {
  const std::vector<double> initial = numbers_of(item);
  const auto needs = [&](int dim) { return num_components(quantity.components, dim); };
  if (std::ssize(initial) != needs(2) && std::ssize(initial) != needs(3))
    item.fail(std::string(quantity.name) + " has " +
              (quantity.components == Components::one      ? "one component"
               : quantity.components == Components::vector ? "one component per space dimension, 2 or 3"
               : quantity.components == Components::matrix ? "four components in 2D, nine in 3D"
                                                           : "one component in 2D, three in 3D") +
              ", here are " + std::to_string(initial.size()));
  for (const double value : initial)
    if (!quantity.range.contains(value)) item.fail(quantity.possible_values() + ", is " + item.dump());
  return initial;
}

std::array<double, 2> bounds_of(const Item& item, const ParameterKind& quantity) {
  const auto given = item.numbers();
  if (!(given[0] < given[1]))
    item.fail("the lowest value comes first and must be smaller than the highest: " + item.dump());
  for (const double value : given)
    if (!quantity.range.contains(value))
      item.fail("may not let the value become " + short_number(value) + ": " + quantity.possible_values());
  return {given[0], given[1]};
}

parameters::Scaling scale_of(const Item& item) {
  using parameters::Scaling;
  if (item.is_object()) return {&Scaling::multiple, item["factor"].number()};
  for (const Scaling::Form* form : {&Scaling::logarithm, &Scaling::logit})
    if (item.text() == form->name) return {form};
  return {};
}

StartFile start_file_of(const Item& item, const std::string& parameter) {
  StartFile start{item["file"].text(), "", parameter};
  const bool fit = start.file.extension() == ".json";
  if (fit && item.has("dataset"))
    item["dataset"].fail("a fit.json gives the value of the parameter '" + parameter +
                         "'; leave `dataset` out, or name its fit.h5");
  if (!fit && !item.has("dataset"))
    item.fail("needs `dataset`, the array of " + start.file.string() + ", such as \"" + parameter +
              "\" of a fit.h5 or \"experiment/" + parameter + "/value\" of a gradient.h5");
  if (!fit) start.dataset = item["dataset"].text();
  return start;
}

double correlation_length_of(const Item& prior, const ParameterKind& quantity,
                             const ParameterSpec& parameter) {
  const Item item = prior["correlation_length"];
  if (parameter.per != Per::element || quantity.components != Components::one)
    item.fail(
        "needs a parameter with one number per element: give it `per` \"element\", or leave this key out");
  const bool has_bounds = parameter.bounds || !parameter.component_bounds.empty();
  if (has_bounds && parameter.scale.form != &parameters::Scaling::logit)
    item.fail("a correlated field is found without bounds; take the scale \"log\" to keep it positive, or "
              "\"logit\" to keep it between the bounds");
  return item.number();
}

PriorSpec prior_of(const Item& item, const ParameterKind& quantity, const ParameterSpec& parameter) {
  using parameters::Scaling;
  PriorSpec prior{numbers_of(item["mean"]), numbers_of(item["sd"]), {}};
  if (item.has("correlation_length"))
    prior.correlation_length = correlation_length_of(item, quantity, parameter);
  const bool shape = quantity.components == Components::basis;
  for (const char* key : {"mean", "sd"})
    if (const std::size_t count = numbers_of(item[key]).size(); count > 1) {
      if (shape || quantity.components == Components::one)
        item[key].fail("one number is needed, which counts for every value; here are " +
                       std::to_string(count));
    }
  if (prior.mean.size() > 1 && prior.sd.size() > 1 && prior.mean.size() != prior.sd.size())
    item["sd"].fail("has " + std::to_string(prior.sd.size()) + " components, `mean` has " +
                    std::to_string(prior.mean.size()));
  for (const double mean : prior.mean) {
    if (!quantity.range.contains(mean))
      item["mean"].fail(quantity.possible_values() + ", is " + item["mean"].dump());
    if (parameter.scale.form == &Scaling::logarithm && !(mean > 0))
      item["mean"].fail("must be positive where the scale is \"log\", is " + item["mean"].dump());
    if (parameter.scale.form == &Scaling::logit &&
        !(mean > parameter.scale.low && mean < parameter.scale.high))
      item["mean"].fail("must lie between the bounds where the scale is \"logit\", is " +
                        item["mean"].dump());
  }
  return prior;
}

/// A start value that the optimiser cannot reach or whose scaled value does not exist.
void check_values(const Item& entry, const ParameterSpec& parameter) {
  // A shape starts from zero displacement.
  std::vector<double> start = parameter.initial.empty() ? std::vector<double>{0} : parameter.initial;
  if (parameter.initial_file) start.clear(); // they are checked when they are read
  const bool logit = parameter.scale.form == &parameters::Scaling::logit;
  const std::string shown = entry.has("initial") ? entry["initial"].dump() : "0 (no displacement)";
  if (logit && !parameter.bounds)
    entry["scale"].fail("\"logit\" maps the interval between the bounds: give `bounds`");
  if (parameter.bounds)
    for (const double value : start) {
      const auto [low, high] = *parameter.bounds;
      if (value < low || value > high)
        entry["bounds"].fail("exclude the initial value " + shown + "; move the bounds or `initial`");
      if (logit && (value == low || value == high))
        entry["scale"].fail("\"logit\" is infinite on a bound, and the initial value is " + shown +
                            "; start between the bounds");
    }
  if (parameter.scale.form != &parameters::Scaling::logarithm) return;
  for (const double value : start)
    if (!(value > 0))
      entry["scale"].fail("\"log\" needs positive values, and the initial value is " + shown +
                          "; start above zero or take another scale");
  if (parameter.bounds && !((*parameter.bounds)[0] > 0))
    entry["bounds"].fail("must be positive where the scale is \"log\", the lowest is " +
                         entry["bounds"].items()[0].dump());
}

/// The logarithm of what can have only positive values, unless a prior is normal in the value itself, or a
/// bound says otherwise.
parameters::Scaling default_scale(const Item& entry, const ParameterKind& quantity,
                                  const ParameterSpec& parameter) {
  const bool may_be_zero = parameter.bounds && (*parameter.bounds)[0] <= 0;
  if (!quantity.is_positive() || may_be_zero || entry.has("prior")) return {};
  return {&parameters::Scaling::logarithm};
}

/// Bounds of single components, and which of these stay where they are.
void build_components(const Item& entry, const ParameterKind& quantity, ParameterSpec& parameter) {
  const auto require_components = [&](const char* key, std::size_t count) {
    if (quantity.components == Components::basis || parameter.initial_file)
      entry[key].fail("is of parameters whose `initial` is a number or one per component; leave it out");
    if (count != parameter.initial.size())
      entry[key].fail("has " + std::to_string(count) +
                      " entries, one per component is needed: `initial` has " +
                      std::to_string(parameter.initial.size()));
  };
  if (entry.has("component_bounds")) {
    const Item list = entry["component_bounds"];
    if (parameter.bounds) list.fail("excludes `bounds`; keep one");
    if (parameter.scale.form == &parameters::Scaling::logit)
      list.fail("\"logit\" maps one interval: give `bounds`, or take another scale");
    require_components("component_bounds", list.size());
    for (std::size_t c = 0; c < list.size(); ++c) {
      const Item item = list.items()[c];
      auto& bounds = parameter.component_bounds.emplace_back();
      if (item.is_null()) continue;
      bounds = bounds_of(item, quantity);
      if (parameter.initial[c] < (*bounds)[0] || parameter.initial[c] > (*bounds)[1])
        item.fail("excludes the initial value of its component, " + short_number(parameter.initial[c]) +
                  "; move the bounds or `initial`");
      if (parameter.scale.form == &parameters::Scaling::logarithm && !((*bounds)[0] > 0))
        item.fail("must be positive where the scale is \"log\"");
    }
  }
  if (entry.has("held")) {
    for (const Item& item : entry["held"].items()) parameter.held.push_back(item.flag() ? 1 : 0);
    require_components("held", parameter.held.size());
    if (std::ranges::all_of(parameter.held, [](char held) { return held != 0; }))
      entry["held"].fail("holds the whole parameter; leave the parameter out, the scene has its value");
  }
}

void build_start(const Item& entry, const ParameterKind& quantity, ParameterSpec& parameter) {
  if (entry.has("tie")) {
    for (const char* name : {"initial", "bounds", "component_bounds", "held", "scale", "prior"})
      if (entry.has(name))
        entry[name].fail("a tied parameter has the `" + std::string(name) + "` of '" + entry["tie"].text() +
                         "'; leave it out here");
    return;
  }
  const bool shape = quantity.components == Components::basis;
  const bool from_file = entry.has("initial") && entry["initial"].is_object();
  if (shape && entry.has("initial") && !from_file)
    entry["initial"].fail(
        "a shape starts from the meshes of the scene, or from values in a file; leave it out");
  if (!shape && !entry.has("initial"))
    entry.fail("needs `initial`, the value to start from" +
               std::string(quantity.unit ? " [" + std::string(quantity.unit) + "]" : ""));
  if (from_file)
    parameter.initial_file = start_file_of(entry["initial"], parameter.name);
  else if (!shape)
    parameter.initial = initial_of(entry["initial"], quantity);
  if (entry.has("bounds")) parameter.bounds = bounds_of(entry["bounds"], quantity);
  parameter.scale = entry.has("scale") ? scale_of(entry["scale"]) : default_scale(entry, quantity, parameter);
  if (parameter.bounds) {
    parameter.scale.low = (*parameter.bounds)[0];
    parameter.scale.high = (*parameter.bounds)[1];
  }
  check_values(entry, parameter);
  build_components(entry, quantity, parameter);
  if (entry.has("prior")) parameter.prior = prior_of(entry["prior"], quantity, parameter);
}

ParameterSpec parameter_from(const Item& entry, const Study& study) {
  const ParameterKind& quantity = *find_parameter_kind(entry["quantity"].text());
  check_keys(entry, quantity.name,
             {"name", "quantity", "experiment", "initial", "bounds", "component_bounds", "held", "scale",
              "prior", "tie"},
             quantity.takes, quantity.needs);
  ParameterSpec parameter;
  parameter.name = entry["name"].text();
  parameter.kind = &quantity;
  if (quantity.unit != nullptr) parameter.unit = study.units.name_of(quantity.unit);
  parameter.where = places_of(entry);
  if (entry.has("body")) parameter.bodies = distinct_texts(entry["body"]);
  if (entry.has("bodies")) parameter.bodies = entry["bodies"].texts();
  if (entry.has("region")) parameter.regions = entry["region"].integers();
  if (entry.has("boundary")) {
    parameter.boundary = entry["boundary"].integer();
    if (*parameter.boundary < 1)
      entry["boundary"].fail("ids of boundary conditions on bodies start at 1, is " +
                             entry["boundary"].dump());
  }
  parameter.per = per_of(entry, quantity);
  parameter.per_step = entry.has("per_step") && entry["per_step"].flag();
  parameter.experiments = experiments_of(entry, study);
  if (entry.has("basis")) parameter.basis = read_basis(entry["basis"]);
  build_start(entry, quantity, parameter);
  return parameter;
}

std::string describe_form(const ParameterSpec& parameter) {
  const ParameterKind& quantity = *parameter.kind;
  std::string text = std::string(quantity.name) + " [" + (quantity.unit ? quantity.unit : "1") + "] " +
                     (parameter.per_step ? "per step and " : "") + name_of(parameter.per);
  if (parameter.per == Per::body && !parameter.bodies.empty())
    text += " for " + std::to_string(parameter.bodies.size()) + " bodies";
  return text;
}

/// The sizes that are known without a mesh.
bool have_one_form(const ParameterSpec& a, const ParameterSpec& b) {
  const ParameterKind &qa = *a.kind, &qb = *b.kind;
  const bool same_basis = !a.basis || !b.basis || a.basis->is_as_large_as(*b.basis);
  const bool same_bodies =
      a.per != Per::body || a.bodies.empty() || b.bodies.empty() || a.bodies.size() == b.bodies.size();
  return qa.components == qb.components && std::string(qa.unit ? qa.unit : "") == (qb.unit ? qb.unit : "") &&
         a.per == b.per && a.per_step == b.per_step && same_basis && same_bodies;
}

void resolve_ties(const std::vector<Item>& entries, const std::vector<std::string>& names, Study& study) {
  std::vector<int> direct; // -1: none
  for (const Item& entry : entries)
    direct.push_back(entry.has("tie") ? index_of(entry["tie"], names, "parameter") : -1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (direct[i] < 0) continue;
    const Item tie = entries[i]["tie"];
    std::string chain = names[i];
    std::vector<char> seen(entries.size(), 0);
    seen[i] = 1;
    int root = direct[i];
    for (;; root = direct[root]) {
      chain += " -> " + names[root];
      if (seen[root])
        tie.fail("ties go in a circle: " + chain + "; one parameter must have a value of its own");
      seen[root] = 1;
      if (direct[root] < 0) break;
    }
    ParameterSpec& tied = study.parameters[i];
    const ParameterSpec& other = study.parameters[root];
    if (is_per_place(tied.per) || (tied.basis && tied.basis->form->is_per_vertex))
      tie.fail("'" + tied.name +
               "' has a value for every element, vertex, node or bond, and such values cannot be tied; take "
               "one parameter with all bodies in `body`, or one value per body");
    if (!have_one_form(tied, other))
      tie.fail("'" + tied.name + "' (" + describe_form(tied) + ") cannot have the value of '" + other.name +
               "' (" + describe_form(other) + "): unit, components and `per` must be the same");
    const ParameterKind& quantity = *tied.kind;
    std::vector<double> reached = other.initial;
    if (other.bounds) reached.insert(reached.end(), other.bounds->begin(), other.bounds->end());
    for (const auto& bounds : other.component_bounds)
      if (bounds) reached.insert(reached.end(), bounds->begin(), bounds->end());
    for (const double value : reached)
      if (!quantity.range.contains(value))
        tie.fail(quantity.possible_values() + ", but '" + other.name + "' may be " + short_number(value));
    tied.tie = root;
    tied.initial = other.initial;
    tied.initial_file = other.initial_file;
    tied.bounds = other.bounds;
    tied.component_bounds = other.component_bounds;
    tied.held = other.held;
    tied.scale = other.scale;
  }
}

} // namespace

void build_parameters(const Item& list, Study& study) {
  const auto entries = list.items();
  const auto names = unique_names(entries, "parameter");
  for (const Item& entry : entries)
    if (entry["name"].text().starts_with("random "))
      entry["name"].fail("directions of --check have names like " + entry["name"].dump() +
                         "; give another `name`");
  for (const Item& entry : entries) study.parameters.push_back(parameter_from(entry, study));
  resolve_ties(entries, names, study);
}

} // namespace recoil::app
