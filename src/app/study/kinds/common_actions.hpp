#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/app/study/fields/parameter_kind.hpp"

/// What actions of several kinds share.
namespace recoil::app {

/// The action on constants of a material and body forces, and its weights.
template <int dim>
void apply_to_cells(const ParameterField<dim>& field, FieldValues values, const VariantInputs<dim>& to);
template <int dim>
void cell_weights(const WeightsOf<dim>& of, const TakeWeight& take);

/// Gives a body a spin about the centre of the one that it has alone, if any, whose place it takes.
void replace_spin(const std::string& body, FieldValues value, const std::string& where, Scene& scene);
/// The spins of `scene` in its resolved form.
void write_spins(const Scene& scene, nlohmann::json& json);

/// How many values in time a parameter has.
std::size_t num_steps_of(const ParameterSpec& spec, const TimeSpec& time);
/// Gives a field one slot, or one per step.
template <int dim>
void make_step_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field);
/// Components of values per step as factors of time: the values at the ends of the steps, linear between,
/// zero at the start.
std::vector<TimeFactor> step_tables(const TimeSpec& time, FieldValues values, int components);
/// A value that acts at a time, and its weight there: of step_tables(), or the only value.
struct SlotWeight {
  std::size_t slot;
  double weight;
};
std::vector<SlotWeight> step_weights(const ParameterSpec& spec, const TimeSpec& time, double now);

} // namespace recoil::app
