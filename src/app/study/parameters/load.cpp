#include <algorithm>

#include "app/study/parameters/checks.hpp"

namespace recoil::app {
namespace {

void refuse_replaced_load(const ExperimentScene& at, const ParameterSpec& parameter,
                          const std::vector<Varying>& in_space, const std::vector<Varying>& in_time,
                          const char* instead) {
  refuse_replaced(at, parameter, in_space, "space; write numbers there");
  if (!is_static(at.scene)) refuse_replaced(at, parameter, in_time, instead);
}

constexpr const char* factor_instead = "time; write numbers there, with an `interpolation`";

/// Derivatives by pressures and by normal tractions are kept together, per facet.
void refuse_normal_traction(const ExperimentScene& at, const ParameterSpec& parameter,
                            const PressureEntry& pressure) {
  for (const PressureEntry& other : at.scene.boundary_conditions.normal_aligned_neumann)
    if (pressure.all || other.all ||
        std::ranges::find_first_of(pressure.ids, other.ids) != pressure.ids.end())
      at.fail(parameter.where, "quantity",
              pressure.where + " and " + other.where +
                  " load the same facets, and their derivatives cannot be told apart; give them facets of "
                  "their own");
}

void check_traction(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& entries = at.scene.boundary_conditions.neumann;
  const auto& entry = find_entry(at, parameter, entries, "boundary_conditions/neumann_boundary",
                                 "; add an entry with this id, its value may be zero");
  refuse_replaced_load(at, parameter, position_dependence(entry.value, entry.where),
                       time_dependence(entry.value, entry.where), factor_instead);
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
  refuse_normal_traction(at, parameter, entry);
  refuse_shared_entries(at, parameter, conditions.pressure);
}

void check_body_force(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_bodies_and_regions(at, parameter);
  const auto& rhs = at.scene.boundary_conditions.rhs;
  const std::string where = at.scene.file.string() + " (/boundary_conditions/rhs)";
  refuse_replaced_load(at, parameter, position_dependence(rhs, where), time_dependence(rhs, where),
                       "time; write numbers there");
}

template <int dim>
void apply_traction(const ParameterField<dim>& field, std::span<const double> values,
                    const VariantInputs<dim>& to) {
  const auto& boundary = field.spec->boundary;
  for (TractionEntry& entry : to.scene.boundary_conditions.neumann)
    if (!boundary || acts_on(entry, *boundary)) {
      entry.value.clear();
      for (const double value : values) entry.value.emplace_back(value);
    }
}

template <int dim>
void apply_pressure(const ParameterField<dim>& field, std::span<const double> values,
                    const VariantInputs<dim>& to) {
  const auto& boundary = field.spec->boundary;
  for (PressureEntry& entry : to.scene.boundary_conditions.pressure)
    if (!boundary || acts_on(entry, *boundary)) {
      entry.per_time.clear();
      entry.value = Expression(values[0]);
    }
}

/// act(facet) for the facets that an entry of a parameter loads.
template <int dim, class Entry, class Act>
void for_loaded_facets(const ParameterField<dim>& field, const PhysicalProducts<dim>& products,
                       const std::vector<Entry>& entries, Act act) {
  const auto& boundary = field.spec->boundary;
  const auto& facets = products.discrete.space().boundary_facets();
  for (std::size_t f = 0; f < facets.size(); ++f)
    if (std::ranges::any_of(entries, [&](const Entry& entry) {
          return acts_on(entry, facets[f].id) && (!boundary || acts_on(entry, *boundary));
        }))
      act(f);
}

template <int dim>
void add_traction_products(const ParameterField<dim>& field, const PhysicalProducts<dim>& products,
                           std::span<double> gradient) {
  const auto& tractions = products.by.vectors(parameters::quantities::traction);
  Eigen::Map<Eigen::Matrix<double, dim, 1>> sum(gradient.data());
  for_loaded_facets(field, products, products.discrete.scene().boundary_conditions.neumann,
                    [&](std::size_t f) { sum += tractions[f]; });
}

template <int dim>
void add_pressure_products(const ParameterField<dim>& field, const PhysicalProducts<dim>& products,
                           std::span<double> gradient) {
  const auto& pressures = products.by.numbers(parameters::quantities::pressure);
  for_loaded_facets(field, products, products.discrete.scene().boundary_conditions.pressure,
                    [&](std::size_t f) { gradient[0] += pressures[f]; });
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
  return {.apply = apply_traction<dim>, .add_transposed = add_traction_products<dim>};
}

template <int dim>
ParameterActions<dim> pressure_actions() {
  return {.apply = apply_pressure<dim>, .add_transposed = add_pressure_products<dim>};
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
       .takes = {"boundary"},
       .doc = "`value` of the `neumann_boundary` with this id (default: the only one).",
       .check = check_traction,
       .in_2d = traction_actions<2>(),
       .in_3d = traction_actions<3>()},
      {.name = "pressure",
       .unit = "Pa",
       .takes = {"boundary"},
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
