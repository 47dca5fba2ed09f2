#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"

/// What parameters for initial displacement and velocity share. Of their `Slots`, for_nodes(field, space,
/// act) calls act(owned node, slot, weight) for what makes the value of a node.
namespace recoil::app {

/// Refuses what does not fit the scene. @throws InputError.
void check_initial(const ExperimentScene& at, const ParameterSpec& parameter);

/// Puts values into the nodes of a region. Nodes between two regions take the value that is put there last.
template <class Slots, int dim>
void put_into_nodes(const ParameterField<dim>& field, FieldValues values,
                    const fem::FunctionSpace<dim>& space, linalg::Vector& vector) {
  auto entries = vector.write_owned();
  std::vector<char> reached(space.num_owned_nodes(), 0);
  Slots::for_nodes(field, space, [&](std::size_t node, LocalIndex slot, double weight) {
    for (std::size_t i = 0; i < dim; ++i) {
      double& entry = entries[node * dim + i];
      if (reached[node] == 0) entry = 0;
      entry += weight * values[slot * dim + i];
    }
    reached[node] = 1;
  });
}

/// What is put at a node last is all that remains there.
template <class Slots, int dim>
void node_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  const ParameterField<dim>& field = of.fields.front();
  const auto& space = of.discrete.space();
  std::vector<char> replaced(space.num_owned_nodes(), 0);
  for (const ParameterField<dim>& later : of.fields.subspan(1))
    if (later.spec->kind == field.spec->kind)
      actions_of<dim>(*later.spec)
          .weights({of.quantity, {&later, 1}, of.discrete, of.at},
                   [&](std::size_t, std::size_t entry, double) { replaced[entry / dim] = 1; });
  Slots::for_nodes(field, space, [&](std::size_t node, LocalIndex slot, double weight) {
    if (replaced[node] != 0) return;
    for (std::size_t i = 0; i < dim; ++i) take(slot * dim + i, node * dim + i, weight);
  });
}

/// An entry with an array of the values of nodes, NaN where there is none.
template <class Slots, int dim>
nlohmann::json nodal_entry(const ParameterField<dim>& field, FieldValues values, SceneDraft<dim>& to) {
  const auto& mesh = to.geometry.mesh;
  const fem::FunctionSpace<dim> space(mesh, body_orders(to.scene, mesh.body_names));
  std::vector<double> nodes(space.num_owned_nodes() * dim, std::nan(""));
  linalg::Vector sums(space.layout());
  put_into_nodes<Slots>(field, values, space, sums);
  Slots::for_nodes(field, space, [&](std::size_t node, LocalIndex, double) {
    std::copy_n(sums.owned().begin() + node * dim, dim, nodes.begin() + node * dim);
  });
  const std::vector<double> rows = node_layout(space).template to_blocks<double>(nodes, dim);
  return {{"body", mesh.body_names},
          {"value", to.data.add_array("parameters/" + std::to_string(field.index), rows, dim)}};
}

/// In `initial_conditions` of a scene.
constexpr const char* list_of(linalg::Vector stepping::State::*member) {
  return member == &stepping::State::v ? "velocity" : "solution";
}

/// All but make_slots, for values that a scene has as an array.
template <class Slots, int dim, linalg::Vector stepping::State::*member>
ParameterActions<dim> nodal_actions() {
  return {.write =
              [](const auto& field, FieldValues values, auto& to) {
                to.json["initial_conditions"][list_of(member)].push_back(
                    nodal_entry<Slots>(field, values, to));
              },
          .apply_to_state =
              [](const auto& field, FieldValues values, const auto& space, stepping::State& state) {
                put_into_nodes<Slots>(field, values, space, state.*member);
              },
          .enters = Enters::initial,
          .weights = node_weights<Slots, dim>};
}

} // namespace recoil::app
