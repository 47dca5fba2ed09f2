#pragma once

#include <algorithm>

#include "app/study/kinds/common_actions.hpp"
#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"

/// What parameters for the values of whole entries of boundary conditions share.
namespace recoil::app {

inline constexpr const char* numbers_instead = "space; write numbers there";
inline constexpr const char* factor_instead =
    "time; write \"per_step\": true, or numbers there with an `interpolation`";

/// The entry with the id of a parameter, or the only one where it gives none.
template <class Entry>
const Entry& find_entry(const ExperimentScene& at, const ParameterSpec& parameter,
                        const std::vector<Entry>& entries, const std::string& list, const std::string& hint) {
  std::set<int> ids;
  bool all = false;
  for (const Entry& entry : entries) {
    ids.insert(entry.ids.begin(), entry.ids.end());
    all = all || entry.all;
    if (parameter.boundary ? acts_on(entry, *parameter.boundary) : entries.size() == 1) return entry;
  }
  const std::string name = parameter.kind->name;
  if (!parameter.boundary && entries.size() > 1)
    at.fail(parameter,
            name + " needs `boundary`: " + list + " has several entries, with the ids " + list_of(ids));
  at.fail(parameter.where, "boundary",
          name + " is not used: there is no " + list +
              (parameter.boundary ? " with the id " + std::to_string(*parameter.boundary) +
                                        "; ids there: " + (all ? "\"all\"" : list_of(ids))
                                  : "") +
              hint);
}

/// A parameter stands for the value of whole entries, so two must not share one.
template <class Entry>
void refuse_shared_entries(const ExperimentScene& at, const ParameterSpec& parameter,
                           const std::vector<Entry>& entries) {
  for (const ParameterSpec& other : at.study.parameters) {
    if (&other == &parameter) return;
    if (other.kind != parameter.kind || !other.acts_in(at.index)) continue;
    for (const Entry& entry : entries)
      if (other.sets(entry) && parameter.sets(entry))
        at.fail(parameter.where, parameter.boundary ? "boundary" : "quantity",
                "'" + parameter.name + "' and '" + other.name + "' would both set the value of " +
                    entry.where + "; split it into one entry for each");
  }
}

/// Derivatives by all loads of one sort on a facet are gathered together.
template <class Entry>
void refuse_shared_facets(const ExperimentScene& at, const ParameterSpec& parameter,
                          const std::vector<Entry>& entries, const std::vector<Entry>& others) {
  for (const Entry& entry : entries)
    for (const Entry& other : others) {
      const bool apart =
          !entry.all && !other.all && std::ranges::find_first_of(entry.ids, other.ids) == entry.ids.end();
      const bool set_alike = &entries == &others && parameter.sets(other) && entry.interpolation.empty() &&
                             other.interpolation.empty();
      if (&entry == &other || !parameter.sets(entry) || apart || set_alike) continue;
      at.fail(parameter,
              entry.where + " and " + other.where +
                  " load the same facets, and their derivatives cannot be told apart; give them facets of "
                  "their own");
    }
}

/// Refuses values of a scene that differ from place to place, or from time to time unless the parameter has
/// values per step.
inline void refuse_varying(const ExperimentScene& at, const ParameterSpec& parameter,
                           const std::vector<Varying>& in_space, const char* instead_of_space,
                           const std::vector<Varying>& in_time, const char* instead_of_time) {
  refuse_replaced(at, parameter, in_space, instead_of_space);
  if (!parameter.per_step && !is_static(at.scene)) refuse_replaced(at, parameter, in_time, instead_of_time);
}

inline void set_value(TractionEntry& entry, FieldValues values) {
  entry.value.assign(values.begin(), values.end());
}
inline void set_value(PressureEntry& entry, FieldValues values) {
  entry.per_time.clear();
  entry.value = Expression(values[0]);
}
inline void set_value(DirichletEntry& entry, FieldValues values) {
  entry.nodal.reset();
  entry.at_nodes.reset();
  for (std::size_t c = 0; c < values.size(); ++c) {
    entry.value[c].per_time.clear();
    entry.value[c].value = Expression(values[c]);
  }
}

/// Puts values into an entry, those of steps as factors on a value of 1.
template <class Entry>
void set_in_time(Entry& entry, const ParameterSpec& spec, const TimeSpec& time, FieldValues values,
                 int components) {
  if (!spec.per_step) return set_value(entry, values);
  set_value(entry, std::vector<double>(components, 1.0));
  entry.interpolation = step_tables(time, values, components);
}

inline std::vector<double> numbers_of(const PressureEntry& entry) { return {entry.value({})}; }
inline std::vector<double> numbers_of(const TractionEntry& entry) {
  std::vector<double> numbers;
  for (const Expression& value : entry.value) numbers.push_back(value({}));
  return numbers;
}
inline std::vector<double> numbers_of(const DirichletEntry& entry) {
  std::vector<double> numbers;
  for (const ComponentValue& component : entry.value) numbers.push_back(component.value({}));
  return numbers;
}

/// Puts values into the entries of BoundaryConditions::*list that the parameter sets; of any actions.
template <auto list>
inline constexpr auto apply_to_entries = [](const auto& field, FieldValues values, const auto& to) {
  for (auto& entry : to.scene.boundary_conditions.*list)
    if (field.spec->sets(entry)) set_in_time(entry, *field.spec, to.scene.time, values, field.components);
};

/// Writes these values into a scene, where the list has the name `name`.
template <auto list>
void write_entries(const auto& field, auto& to, const char* name) {
  const auto& entries = to.scene.boundary_conditions.*list;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (field.spec->sets(entries[i]))
      write_values_in_time(numbers_of(entries[i]), entries[i].interpolation,
                           to.json["boundary_conditions"][name][i]);
}

inline constexpr auto write_dirichlet_entries = [](const auto& field, FieldValues, auto& to) {
  write_entries<&BoundaryConditions::dirichlet>(field, to, "dirichlet_boundary");
};

/// The derivatives of a component of the vector `row` of a quantity, which an entry prescribes: by the values
/// of steps, or by that of `slot`, which the interpolation of the entry multiplies.
template <int dim>
void take_in_time(const WeightsOf<dim>& of, const std::vector<TimeFactor>& interpolation, std::size_t slot,
                  std::size_t row, int component, const TakeWeight& take) {
  const ParameterSpec& spec = *of.fields.front().spec;
  const std::size_t width = of.fields.front().components;
  const double factor = spec.per_step ? 1 : time_factor(interpolation, component, of.at.time);
  for (const auto& [step, weight] : step_weights(spec, of.discrete.scene().time, of.at.time))
    take((step + slot) * width + component, row * width + component, weight * of.at.load_factor * factor);
}

template <int dim, auto list>
void load_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  const ParameterField<dim>& field = of.fields.front();
  const auto& entries = of.discrete.scene().boundary_conditions.*list;
  const auto& facets = of.discrete.space().boundary_facets();
  for (std::size_t f = 0; f < facets.size(); ++f) {
    const auto entry = std::ranges::find_if(
        entries, [&](const auto& one) { return acts_on(one, facets[f].id) && field.spec->sets(one); });
    if (entry == entries.end()) continue;
    for (int c = 0; c < field.components; ++c) take_in_time(of, entry->interpolation, 0, f, c, take);
  }
}

/// The actions of a parameter for the values of loads on facets, BoundaryConditions::*list, which scenes call
/// `name`.
template <int dim, auto list, const char* name>
ParameterActions<dim> facet_load_actions() {
  return {.make_slots = make_step_slots<dim>,
          .apply = apply_to_entries<list>,
          .write = [](const auto& field, FieldValues, auto& to) { write_entries<list>(field, to, name); },
          .enters = Enters::loads,
          .weights = load_weights<dim, list>};
}

} // namespace recoil::app
