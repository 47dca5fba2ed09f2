#include "app/study/initial_parameters.hpp"

#include <algorithm>
#include <utility>

namespace recoil::app {

namespace {

/// Calls act(owned node, slot, weight) for what makes the value of a node: the slots of the cell with the
/// highest input id around it decide, as within an entry of a scene.
template <int dim, class Act>
void for_node_slots(const ParameterField<dim>& field, const fem::FunctionSpace<dim>& space, Act act) {
  const auto& mesh = space.mesh();
  std::vector<LocalIndex> cell_of_node(static_cast<std::size_t>(space.num_owned_nodes()), -1);
  std::vector<int> place(cell_of_node.size(), 0);
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    if (field.slot_of_cell[static_cast<std::size_t>(cell)] < 0) continue;
    const auto nodes = space.cell_nodes(cell);
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      if (nodes[a] >= space.num_owned_nodes()) continue;
      LocalIndex& chosen = cell_of_node[static_cast<std::size_t>(nodes[a])];
      if (chosen >= 0 &&
          mesh.cell_ids[static_cast<std::size_t>(chosen)] > mesh.cell_ids[static_cast<std::size_t>(cell)])
        continue;
      chosen = cell;
      place[static_cast<std::size_t>(nodes[a])] = static_cast<int>(a);
    }
  }
  for (std::size_t node = 0; node < cell_of_node.size(); ++node) {
    const LocalIndex cell = cell_of_node[node];
    if (cell < 0) continue;
    if (field.slot_of_vertex.empty()) {
      act(node, field.slot_of_cell[static_cast<std::size_t>(cell)], 1.0);
      continue;
    }
    const auto position = space.basis(space.order(cell)).node(place[node]);
    const auto& vertices = mesh.cells[static_cast<std::size_t>(cell)];
    for (int b = 0; b <= dim; ++b) {
      const double weight = b == 0 ? 1 - position.sum() : position[b - 1];
      if (weight != 0)
        act(node, field.slot_of_vertex[static_cast<std::size_t>(vertices[static_cast<std::size_t>(b)])],
            weight);
    }
  }
}

bool is_field(const ParameterSpec& spec) {
  return spec.quantity == Quantity::initial_velocity || spec.quantity == Quantity::initial_displacement;
}

} // namespace

template <int dim>
void apply_to_initial_state(const ParameterField<dim>& field, std::span<const double> values,
                            const fem::FunctionSpace<dim>& space, stepping::State& state) {
  if (!is_field(*field.spec)) return;
  auto entries = (field.spec->quantity == Quantity::initial_velocity ? state.v : state.u).write_owned();
  std::vector<char> reached(static_cast<std::size_t>(space.num_owned_nodes()), 0);
  for_node_slots(field, space, [&](std::size_t node, LocalIndex slot, double weight) {
    for (std::size_t i = 0; i < dim; ++i) {
      double& entry = entries[node * dim + i];
      if (reached[node] == 0) entry = 0;
      entry += weight * values[static_cast<std::size_t>(slot) * dim + i];
    }
    reached[node] = 1;
  });
}

template <int dim>
void add_initial_products(const std::vector<ParameterField<dim>>& fields,
                          const fem::FunctionSpace<dim>& space, std::span<const double> y,
                          std::span<const double> z, std::vector<std::vector<double>>& gradients) {
  const auto num_nodes = static_cast<std::size_t>(space.num_owned_nodes());
  for (const auto& [quantity, values] :
       {std::pair(Quantity::initial_displacement, y), std::pair(Quantity::initial_velocity, z)}) {
    // What is put at a node last is all that remains there.
    std::vector<std::size_t> last(num_nodes, fields.size());
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (fields[k].spec->quantity == quantity)
        for_node_slots(fields[k], space, [&](std::size_t node, LocalIndex, double) { last[node] = k; });
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (fields[k].spec->quantity == quantity)
        for_node_slots(fields[k], space, [&](std::size_t node, LocalIndex slot, double weight) {
          if (last[node] != k) return;
          for (std::size_t i = 0; i < dim; ++i)
            gradients[k][static_cast<std::size_t>(slot) * dim + i] += weight * values[node * dim + i];
        });
  }
}

template <int dim>
void add_spin_products(const ParameterField<dim>& field, const fem::FunctionSpace<dim>& space,
                       const std::vector<Eigen::Vector3d>& centres, std::span<const double> z,
                       std::span<double> gradient) {
  const auto& mesh = space.mesh();
  std::vector<char> done(static_cast<std::size_t>(space.num_owned_nodes()), 0);
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const auto index = static_cast<std::size_t>(cell);
    if (field.slot_of_cell[index] < 0) continue;
    for (const LocalIndex node : space.cell_nodes(cell)) {
      if (node >= space.num_owned_nodes() || std::exchange(done[static_cast<std::size_t>(node)], 1) != 0)
        continue;
      Eigen::Vector3d arm = -centres[static_cast<std::size_t>(mesh.cell_body[index])],
                      value = Eigen::Vector3d::Zero();
      arm.template head<dim>() += space.node_positions()[static_cast<std::size_t>(node)];
      for (int i = 0; i < dim; ++i) value[i] = z[static_cast<std::size_t>(node * dim + i)];
      // z . (omega x arm) = omega . (arm x z)
      const Eigen::Vector3d by_spin = arm.cross(value);
      double* slot =
          gradient.data() + static_cast<std::ptrdiff_t>(field.slot_of_cell[index]) * field.components;
      if constexpr (dim == 2)
        slot[0] += by_spin[2];
      else
        for (int i = 0; i < 3; ++i) slot[i] += by_spin[i];
    }
  }
}

template void add_spin_products(const ParameterField<2>&, const fem::FunctionSpace<2>&,
                                const std::vector<Eigen::Vector3d>&, std::span<const double>,
                                std::span<double>);
template void add_spin_products(const ParameterField<3>&, const fem::FunctionSpace<3>&,
                                const std::vector<Eigen::Vector3d>&, std::span<const double>,
                                std::span<double>);
template void apply_to_initial_state(const ParameterField<2>&, std::span<const double>,
                                     const fem::FunctionSpace<2>&, stepping::State&);
template void apply_to_initial_state(const ParameterField<3>&, std::span<const double>,
                                     const fem::FunctionSpace<3>&, stepping::State&);
template void add_initial_products(const std::vector<ParameterField<2>>&, const fem::FunctionSpace<2>&,
                                   std::span<const double>, std::span<const double>,
                                   std::vector<std::vector<double>>&);
template void add_initial_products(const std::vector<ParameterField<3>>&, const fem::FunctionSpace<3>&,
                                   std::span<const double>, std::span<const double>,
                                   std::vector<std::vector<double>>&);

} // namespace recoil::app
