#include <algorithm>

#include "app/study/parameters/checks.hpp"
#include "app/study/scene_draft.hpp"

namespace recoil::app {
namespace {

void refuse_replaced_load(const ExperimentScene& at, const ParameterSpec& parameter,
                          const std::vector<Varying>& in_space, const std::vector<Varying>& in_time,
                          const char* instead) {
  refuse_replaced(at, parameter, in_space, "space; write numbers there");
  if (!parameter.per_step && !is_static(at.scene)) refuse_replaced(at, parameter, in_time, instead);
}

constexpr const char* factor_instead =
    "time; write \"per_step\": true, or numbers there with an `interpolation`";

/// Derivatives by all loads of one sort on a facet are gathered together.
template <class Entry>
void refuse_shared_facets(const ExperimentScene& at, const ParameterSpec& parameter,
                          const std::vector<Entry>& entries, const std::vector<Entry>& others) {
  const auto is_set = [&](const Entry& entry) {
    return !parameter.boundary || acts_on(entry, *parameter.boundary);
  };
  for (const Entry& entry : entries)
    for (const Entry& other : others) {
      const bool apart =
          !entry.all && !other.all && std::ranges::find_first_of(entry.ids, other.ids) == entry.ids.end();
      const bool set_alike =
          &entries == &others && is_set(other) && entry.interpolation.empty() && other.interpolation.empty();
      if (&entry == &other || !is_set(entry) || apart || set_alike) continue;
      at.fail(parameter.where, "quantity",
              entry.where + " and " + other.where +
                  " load the same facets, and their derivatives cannot be told apart; give them facets of "
                  "their own");
    }
}

void check_traction(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& entries = at.scene.boundary_conditions.neumann;
  const auto& entry = find_entry(at, parameter, entries, "boundary_conditions/neumann_boundary",
                                 "; add an entry with this id, its value may be zero");
  refuse_replaced_load(at, parameter, position_dependence(entry.value, entry.where),
                       time_dependence(entry.value, entry.where), factor_instead);
  refuse_shared_facets(at, parameter, entries, entries);
  refuse_shared_entries(at, parameter, entries);
}

void check_pressure(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& conditions = at.scene.boundary_conditions;
  const std::string hint = conditions.normal_aligned_neumann.empty()
                               ? "; add an entry with this id, its value may be zero"
                               : " (normal_aligned_neumann_boundary is another load)";
  const auto& entry =
      find_entry(at, parameter, conditions.pressure, "boundary_conditions/pressure_boundary", hint);
  refuse_replaced_load(at, parameter, position_dependence(entry.formulas(), entry.where),
                       time_dependence(entry), factor_instead);
  refuse_shared_facets(at, parameter, conditions.pressure, conditions.pressure);
  refuse_shared_facets(at, parameter, conditions.pressure, conditions.normal_aligned_neumann);
  refuse_shared_entries(at, parameter, conditions.pressure);
}

void check_body_force(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_bodies_and_regions(at, parameter);
  const auto& rhs = at.scene.boundary_conditions.rhs;
  const std::string where = at.scene.file.string() + " (/boundary_conditions/rhs)";
  refuse_replaced_load(at, parameter, position_dependence(formulas_of(rhs), where),
                       time_dependence(formulas_of(rhs), where), "time; write numbers there");
  for (const MaterialValue& value : rhs)
    if (const auto* data = std::get_if<ElementData>(&value); data && parameter.per != Per::element)
      refuse_replaced(at, parameter, {{data->file.string() + ", " + data->dataset, where}},
                      "space, one value per element; write \"per\": \"element\", or numbers there");
}

/// Puts values into an entry: `set_values` the value, which is 1 where steps have values of their own.
template <class Entry>
void set_load(Entry& entry, const ParameterSpec& spec, const TimeSpec& time, std::span<const double> values,
              int components, void (*set_value)(Entry&, std::span<const double>)) {
  if (!spec.per_step) return set_value(entry, values);
  set_value(entry, std::vector<double>(components, 1.0));
  entry.interpolation = step_tables(time, values, components);
}

void set_traction(TractionEntry& entry, std::span<const double> values) {
  entry.value.clear();
  for (const double value : values) entry.value.emplace_back(value);
}

void set_pressure(PressureEntry& entry, std::span<const double> values) {
  entry.per_time.clear();
  entry.value = Expression(values[0]);
}

template <int dim>
void apply_traction(const ParameterField<dim>& field, std::span<const double> values,
                    const VariantInputs<dim>& to) {
  const auto& boundary = field.spec->boundary;
  for (TractionEntry& entry : to.scene.boundary_conditions.neumann)
    if (!boundary || acts_on(entry, *boundary))
      set_load(entry, *field.spec, to.scene.time, values, dim, set_traction);
}

template <int dim>
void apply_pressure(const ParameterField<dim>& field, std::span<const double> values,
                    const VariantInputs<dim>& to) {
  const auto& boundary = field.spec->boundary;
  for (PressureEntry& entry : to.scene.boundary_conditions.pressure)
    if (!boundary || acts_on(entry, *boundary))
      set_load(entry, *field.spec, to.scene.time, values, 1, set_pressure);
}

std::vector<double> numbers_of(const TractionEntry& entry) {
  std::vector<double> numbers;
  for (const Expression& value : entry.value) numbers.push_back(value({}));
  return numbers;
}
std::vector<double> numbers_of(const PressureEntry& entry) { return {entry.value({})}; }

/// Those of the entries `list` of the boundary conditions that a parameter sets.
template <class Entry>
void write_loads(const ParameterSpec& spec, const std::vector<Entry>& entries, nlohmann::json& list) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!spec.boundary || acts_on(entries[i], *spec.boundary))
      write_values_in_time(numbers_of(entries[i]), entries[i].interpolation, list[i]);
}

const std::vector<TractionEntry>& entries_of(const BoundaryConditions& conditions, const TractionEntry*) {
  return conditions.neumann;
}
const std::vector<PressureEntry>& entries_of(const BoundaryConditions& conditions, const PressureEntry*) {
  return conditions.pressure;
}

template <int dim, class Entry>
void load_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  const ParameterField<dim>& field = of.fields.front();
  const ParameterSpec& spec = *field.spec;
  const auto& entries = entries_of(of.discrete.scene().boundary_conditions, static_cast<Entry*>(nullptr));
  const auto& facets = of.discrete.space().boundary_facets();
  const auto weights = step_weights(spec, of.discrete.scene().time, of.at.time);
  const std::size_t width = field.components;
  for (std::size_t f = 0; f < facets.size(); ++f) {
    const auto entry = std::ranges::find_if(entries, [&](const Entry& one) {
      return acts_on(one, facets[f].id) && (!spec.boundary || acts_on(one, *spec.boundary));
    });
    if (entry == entries.end()) continue;
    for (std::size_t c = 0; c < width; ++c) {
      const double factor = spec.per_step ? 1 : time_factor(entry->interpolation, c, of.at.time);
      for (const auto& [slot, weight] : weights) take(slot * width + c, f * width + c, weight * factor);
    }
  }
}

template <int dim>
ParameterActions<dim> traction_actions() {
  return {.make_slots = make_step_slots<dim>,
          .apply = apply_traction<dim>,
          .write =
              [](const auto& field, std::span<const double>, auto& to) {
                write_loads(*field.spec, to.scene.boundary_conditions.neumann,
                            to.json["boundary_conditions"]["neumann_boundary"]);
              },
          .enters = Enters::loads,
          .weights = load_weights<dim, TractionEntry>};
}

template <int dim>
ParameterActions<dim> pressure_actions() {
  return {.make_slots = make_step_slots<dim>,
          .apply = apply_pressure<dim>,
          .write =
              [](const auto& field, std::span<const double>, auto& to) {
                write_loads(*field.spec, to.scene.boundary_conditions.pressure,
                            to.json["boundary_conditions"]["pressure_boundary"]);
              },
          .enters = Enters::loads,
          .weights = load_weights<dim, PressureEntry>};
}

template <int dim>
ParameterActions<dim> body_force_actions() {
  return {.make_slots = [](const SlotBuilder<dim>& builder, auto& field) { builder.spread(field); },
          .apply = apply_to_cells<dim>,
          .write = [](const auto&, std::span<const double>, auto& to) { write_body_force(to); },
          .weights = cell_weights<dim>};
}

} // namespace

std::vector<ParameterKind> load_parameters() {
  return {
      {.name = "traction",
       .unit = "Pa",
       .components = Components::vector,
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `neumann_boundary` with this id (default: the only one).",
       .quantities = {parameters::quantities::traction},
       .check = check_traction,
       .in_2d = traction_actions<2>(),
       .in_3d = traction_actions<3>()},
      {.name = "pressure",
       .unit = "Pa",
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `pressure_boundary` with this id (default: the only one).",
       .quantities = {parameters::quantities::pressure},
       .check = check_pressure,
       .in_2d = pressure_actions<2>(),
       .in_3d = pressure_actions<3>()},
      {.name = "body_force",
       .unit = "m/s^2",
       .components = Components::vector,
       .takes = cell_keys(),
       .per = {Per::global, Per::body, Per::element},
       .doc = "Acceleration `gravity` - `boundary_conditions/rhs`, with its natural sign.",
       .quantities = {parameters::quantities::acceleration},
       .check = check_body_force,
       .in_2d = body_force_actions<2>(),
       .in_3d = body_force_actions<3>()},
  };
}

} // namespace recoil::app
