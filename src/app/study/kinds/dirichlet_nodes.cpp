#include <algorithm>
#include <cmath>

#include "app/study/kinds/prescribed_motion.hpp"
#include "recoil/app/solvers/elastodynamics/build_problem.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {
namespace {

void check_nodes(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (parameter.per_step)
    at.fail(parameter.where, "per_step",
            "a boundary has values per step or per node, not both; an `interpolation` in the scene stays a "
            "factor on those per node");
  check_dirichlet(at, parameter);
}

/// The values of nodes in file order, NaN where there is none: this rank's block. Collective.
template <int dim>
std::vector<double> rows_of_nodes(const ParameterField<dim>& field, FieldValues values,
                                  const parallel::Communicator& comm) {
  std::vector<double> rows(field.node_ids.size() * dim, std::nan(""));
  for (std::size_t row = 0; row < field.node_ids.size(); ++row)
    if (const LocalIndex slot = field.slot_of_node[row]; slot >= 0)
      std::copy_n(values.begin() + std::ptrdiff_t{dim} * slot, dim, rows.begin() + row * dim);
  return io::BlockLayout(comm, field.node_ids).template to_blocks<double>(rows, dim);
}

/// Gives a field one slot per node with a component that the entries prescribe.
template <int dim>
void make_dirichlet_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  const ParameterSpec& spec = *field.spec;
  const fem::FunctionSpace<dim> space = builder.make_space();
  const auto& entries = builder.scene.boundary_conditions.dirichlet;
  std::vector<char> flags(space.num_nodes(), 0);
  const fem::DirichletDofs<dim> dofs(space, dirichlet_conditions(builder.scene, space));
  dofs.for_each([&](LocalIndex node, int, std::size_t condition) {
    if (spec.sets(entries[condition])) flags[node] = 1;
  });
  builder.add_node_slots(field, space, flags);
  if (space.comm().sum(GlobalIndex(field.num_owned_slots)) == 0)
    builder.refuse(spec, "boundary", "other entries prescribe all nodes there");
}

template <int dim>
void apply_at_nodes(const ParameterField<dim>& field, FieldValues values, const VariantInputs<dim>& to) {
  NodalValues at_nodes;
  for (std::size_t slot = 0; slot < field.slot_ids.size(); ++slot)
    std::copy_n(values.begin() + slot * dim, dim, at_nodes[field.slot_ids[slot]].begin());
  for (DirichletEntry& entry : to.scene.boundary_conditions.dirichlet)
    if (field.spec->sets(entry)) {
      set_value(entry, std::vector<double>(dim, 0.0));
      entry.at_nodes = at_nodes;
    }
}

template <int dim>
void write_at_nodes(const ParameterField<dim>& field, FieldValues values, SceneDraft<dim>& to) {
  const nlohmann::json array = to.data.add_array("parameters/" + std::to_string(field.index),
                                                 rows_of_nodes(field, values, *to.geometry.mesh.comm), dim);
  const auto& entries = to.scene.boundary_conditions.dirichlet;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (field.spec->sets(entries[i])) {
      nlohmann::json& entry = to.json["boundary_conditions"]["dirichlet_boundary"][i];
      entry["value"] = array;
      entry.erase("time_reference");
    }
}

template <int dim>
void dirichlet_node_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  const ParameterField<dim>& field = of.fields.front();
  const auto& ids = of.discrete.space().canonical_ids();
  take_prescribed(of, take, [&](LocalIndex node) -> std::size_t { return field.slot_at_node(ids[node]); });
}

template <int dim>
ParameterActions<dim> dirichlet_node_actions() {
  return {.make_slots = make_dirichlet_slots<dim>,
          .apply = apply_at_nodes<dim>,
          .write = write_at_nodes<dim>,
          .enters = Enters::prescribed,
          .weights = dirichlet_node_weights<dim>};
}

} // namespace

/// The row that adds a `per` to dirichlet_value in prescribed_motion.cpp.
std::vector<ParameterKind> dirichlet_nodes_parameters() {
  return {{.name = "dirichlet_value",
           .unit = "m",
           .components = Components::vector,
           .takes = {"boundary", "per", "per_step"},
           .needs = {"boundary"},
           .per = {Per::node},
           .doc = "`value` of the `dirichlet_boundary` with this id, of all of it or per node of it; an "
                  "`interpolation` stays a factor on it.",
           .quantities = {parameters::quantities::displacement},
           .check = check_nodes,
           .by_dimension = {dirichlet_node_actions<2>(), dirichlet_node_actions<3>()}}};
}

} // namespace recoil::app
