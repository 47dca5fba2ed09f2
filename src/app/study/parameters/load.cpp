#include <algorithm>

#include "app/study/parameters/checks.hpp"

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
  refuse_replaced_load(at, parameter, position_dependence(rhs, where), time_dependence(rhs, where),
                       "time; write numbers there");
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

/// gradient += share(facet, component) times its factor in time, for the facets that entries of a parameter
/// load.
template <int dim, class Entry, class Share>
void add_load_products(const ParameterField<dim>& field, const PhysicalProducts<dim>& products,
                       const std::vector<Entry>& entries, double time, int components,
                       std::span<double> gradient, Share share) {
  const auto& boundary = field.spec->boundary;
  const auto& facets = products.discrete.space().boundary_facets();
  const auto weights = step_weights(*field.spec, products.discrete.scene().time, time);
  for (std::size_t f = 0; f < facets.size(); ++f) {
    const auto entry = std::ranges::find_if(entries, [&](const Entry& one) {
      return acts_on(one, facets[f].id) && (!boundary || acts_on(one, *boundary));
    });
    if (entry == entries.end()) continue;
    for (int c = 0; c < components; ++c) {
      const double factor = field.spec->per_step ? 1 : time_factor(entry->interpolation, c, time);
      for (const auto& [slot, weight] : weights)
        gradient[slot * components + c] += weight * factor * share(f, c);
    }
  }
}

template <int dim>
void add_traction_products(const ParameterField<dim>& field, const PhysicalProducts<dim>& products,
                           double time, std::span<double> gradient) {
  const auto& tractions = products.by.vectors(parameters::quantities::traction);
  add_load_products(field, products, products.discrete.scene().boundary_conditions.neumann, time, dim,
                    gradient, [&](std::size_t facet, int c) { return tractions[facet][c]; });
}

template <int dim>
void add_pressure_products(const ParameterField<dim>& field, const PhysicalProducts<dim>& products,
                           double time, std::span<double> gradient) {
  const auto& pressures = products.by.numbers(parameters::quantities::pressure);
  add_load_products(field, products, products.discrete.scene().boundary_conditions.pressure, time, 1,
                    gradient, [&](std::size_t facet, int) { return pressures[facet]; });
}

template <int dim>
void add_body_force_products(const ParameterField<dim>& field, const PhysicalProducts<dim>& products,
                             std::span<double> gradient) {
  const auto& by_cell = products.by.vectors(parameters::quantities::acceleration);
  for (std::size_t cell = 0; cell < by_cell.size(); ++cell)
    field.for_slots_of_cell(products.discrete.mesh(), cell, [&](std::size_t slot, double weight) {
      Eigen::Map<Eigen::Matrix<double, dim, 1>>(gradient.data() + slot * dim) += weight * by_cell[cell];
    });
}

template <int dim>
ParameterActions<dim> traction_actions() {
  return {.make_slots = make_step_slots<dim>,
          .apply = apply_traction<dim>,
          .add_loads = add_traction_products<dim>};
}

template <int dim>
ParameterActions<dim> pressure_actions() {
  return {.make_slots = make_step_slots<dim>,
          .apply = apply_pressure<dim>,
          .add_loads = add_pressure_products<dim>};
}

template <int dim>
ParameterActions<dim> body_force_actions() {
  return {.make_slots = [](const SlotBuilder<dim>& builder, auto& field) { builder.spread(field); },
          .apply = apply_to_cells<dim>,
          .add_transposed = add_body_force_products<dim>};
}

} // namespace

std::vector<ParameterKind> load_parameters() {
  return {
      {.name = "traction",
       .unit = "Pa",
       .components = Components::vector,
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `neumann_boundary` with this id (default: the only one).",
       .check = check_traction,
       .in_2d = traction_actions<2>(),
       .in_3d = traction_actions<3>()},
      {.name = "pressure",
       .unit = "Pa",
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `pressure_boundary` with this id (default: the only one).",
       .check = check_pressure,
       .in_2d = pressure_actions<2>(),
       .in_3d = pressure_actions<3>()},
      {.name = "body_force",
       .unit = "m/s^2",
       .components = Components::vector,
       .takes = cell_keys(),
       .per = {Per::global, Per::body, Per::element},
       .doc = "Acceleration `gravity` - `boundary_conditions/rhs`, with its natural sign.",
       .check = check_body_force,
       .in_2d = body_force_actions<2>(),
       .in_3d = body_force_actions<3>()},
  };
}

} // namespace recoil::app
