#include "app/study/kinds/initial_state.hpp"

namespace recoil::app {
namespace {

/// Gives a field one slot for each node of the selected cells. Nodes inside of edges, faces and cells of
/// higher orders have values of their own.
template <int dim>
void make_start_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  const fem::FunctionSpace<dim> space = builder.make_space();
  std::vector<char> flags(space.num_nodes(), 0);
  GlobalIndex count = 0;
  for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell) {
    if (!builder.selects(*field.spec, cell)) continue;
    ++count;
    for (const LocalIndex node : space.cell_nodes(cell)) flags[node] = 1;
  }
  builder.require_cells(*field.spec, count);
  builder.add_node_slots(field, space, flags);
}

struct SlotsOfNodes {
  template <int dim, class Act>
  static void for_nodes(const ParameterField<dim>& field, const fem::FunctionSpace<dim>& space, Act act) {
    for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
      if (const LocalIndex slot = field.slot_at_node(space.canonical_ids()[node]); slot >= 0)
        act(node, slot, 1.0);
  }
};

template <int dim, linalg::Vector stepping::State::*member>
ParameterActions<dim> start_actions() {
  auto actions = nodal_actions<SlotsOfNodes, dim, member>();
  actions.make_slots = make_start_slots<dim>;
  return actions;
}

template <linalg::Vector stepping::State::*member>
ParameterKind start_per_node(const char* name, const char* unit, parameters::Quantity quantity) {
  return {.name = name,
          .unit = unit,
          .components = Components::vector,
          .per = {Per::node},
          .quantities = {quantity},
          .check = check_initial,
          .by_dimension = {start_actions<2, member>(), start_actions<3, member>()}};
}

} // namespace

/// The rows that add a `per` to the kinds in initial_state.cpp.
std::vector<ParameterKind> initial_nodes_parameters() {
  namespace quantities = parameters::quantities;
  return {start_per_node<&stepping::State::v>("initial_velocity", "m/s", quantities::velocity),
          start_per_node<&stepping::State::u>("initial_displacement", "m", quantities::displacement)};
}

} // namespace recoil::app
