#include "app/study/kinds/common_actions.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::app {

/// take(value, entry, weight) for the numbers of all local cells.
template <int dim, class Take>
void for_cell_weights(const ParameterField<dim>& field, const mesh::DistributedMesh<dim>& mesh, Take take) {
  const std::size_t width = field.components;
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell)
    field.for_slots_of_cell(mesh, cell, [&](std::size_t slot, double weight) {
      for (std::size_t i = 0; i < width; ++i) take(slot * width + i, cell * width + i, weight);
    });
}

template <int dim>
void apply_to_cells(const ParameterField<dim>& field, FieldValues values, const VariantInputs<dim>& to) {
  const auto& mesh = to.geometry.mesh;
  const std::string& constant = field.spec->kind->constant;
  std::vector<std::span<double>> components;
  for (int i = 0; i < field.components; ++i) {
    components.emplace_back(
        to.overrides.of_cells(constant.empty() ? acceleration(i) : constant, mesh.num_cells()));
    for (std::size_t cell = 0; cell < field.slot_of_cell.size(); ++cell)
      if (field.slot_of_cell[cell] >= 0) components.back()[cell] = 0;
  }
  const std::size_t width = components.size();
  for_cell_weights(field, mesh, [&](std::size_t value, std::size_t entry, double weight) {
    components[entry % width][entry / width] += weight * values[value];
  });
}

template <int dim>
void cell_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  for_cell_weights(of.fields.front(), of.discrete.mesh(), take);
}

void replace_spin(const std::string& body, FieldValues value, const std::string& where, Scene& scene) {
  auto& spins = scene.initial_conditions.angular_velocity;
  AngularVelocity spin{{{}, {body}, where}, {value.begin(), value.end()}, {}};
  const auto turns_it = [&](const AngularVelocity& before) {
    return before.region.bodies == spin.region.bodies;
  };
  for (const AngularVelocity& before : spins)
    if (turns_it(before)) spin.center = before.center;
  std::erase_if(spins, turns_it);
  spins.push_back(std::move(spin));
}

void write_spins(const Scene& scene, nlohmann::json& json) {
  nlohmann::json& list = json["initial_conditions"]["angular_velocity"] = nlohmann::json::array();
  for (const AngularVelocity& spin : scene.initial_conditions.angular_velocity) {
    nlohmann::json& entry = list.emplace_back();
    if (!spin.region.bodies.empty())
      entry["body"] = spin.region.bodies;
    else if (!spin.region.ids.empty())
      entry["id"] = spin.region.ids;
    entry["value"] = spin.value;
    const std::ptrdiff_t dim = spin.value.size() == 1 ? 2 : 3;
    if (spin.center) entry["center"] = std::vector<double>(spin.center->data(), spin.center->data() + dim);
  }
}

std::size_t num_steps_of(const ParameterSpec& spec, const TimeSpec& time) {
  return spec.per_step ? time.steps : 1;
}

template <int dim>
void make_step_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  builder.replicate(field, num_steps_of(*field.spec, builder.scene.time));
}

std::vector<TimeFactor> step_tables(const TimeSpec& time, FieldValues values, int components) {
  std::vector<TimeFactor> tables(components);
  for (int c = 0; c < components; ++c) {
    tables[c].kind = TimeFactor::Kind::piecewise_linear;
    tables[c].points = {time.t0};
    tables[c].values = {0.0};
    for (int n = 1; n <= time.steps; ++n) {
      tables[c].points.push_back(time.time_of_step(n));
      tables[c].values.push_back(values[(n - 1) * components + c]);
    }
  }
  return tables;
}

std::vector<SlotWeight> step_weights(const ParameterSpec& spec, const TimeSpec& time, double now) {
  if (!spec.per_step || time.kind == TimeKind::statics) return {{0, 1.0}};
  const double position = (now - time.t0) / time.dt;
  const int before = std::floor(position + 1e-9);
  const double share = std::max(position - before, 0.0);
  std::vector<SlotWeight> weights;
  if (before > 0) weights.emplace_back(before - 1, share > 1e-9 ? 1 - share : 1);
  if (share > 1e-9) weights.emplace_back(before, share);
  return weights;
}

template void make_step_slots(const SlotBuilder<2>&, ParameterField<2>&);
template void make_step_slots(const SlotBuilder<3>&, ParameterField<3>&);
template void apply_to_cells(const ParameterField<2>&, std::span<const double>, const VariantInputs<2>&);
template void apply_to_cells(const ParameterField<3>&, std::span<const double>, const VariantInputs<3>&);
template void cell_weights(const WeightsOf<2>&, const TakeWeight&);
template void cell_weights(const WeightsOf<3>&, const TakeWeight&);

} // namespace recoil::app
