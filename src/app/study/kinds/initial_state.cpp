#include <algorithm>
#include <cmath>
#include <utility>

#include "app/study/kinds/common_actions.hpp"
#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/elastodynamics/build_problem.hpp"
#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"

namespace recoil::app {
namespace {

/// A spin of several bodies, or of volumes, turns them about one centre, which none of them would keep.
void check_replaced_spins(const ExperimentScene& at, const ParameterSpec& parameter) {
  for (const AngularVelocity& spin : at.scene.initial_conditions.angular_velocity) {
    const bool of_one_body = spin.region.ids.empty() && spin.region.bodies.size() == 1;
    if (!of_one_body && may_overlap(spin.region, at.scene, parameter.bodies, {}))
      at.fail(parameter, "'" + parameter.name + "' would replace part of the spin at " + spin.region.where +
                             "; write one entry with one `body` for every body there");
  }
}

void check_initial(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_bodies_and_regions(at, parameter);
  const std::string name = parameter.kind->name;
  const bool displacement = name == "initial_displacement";
  if (is_static(at.scene))
    at.fail(parameter,
            name +
                " is not used: the scene is static (it has no `time`); drop the parameter or give it time");
  if (at.scene.time.kind == TimeKind::quasistatic && !displacement)
    at.fail(parameter, name + " is not used: a quasistatic scene has no inertia");
  const bool frictional = has_friction(at.scene) || has_parameter(at, "friction");
  // Whether the rim of a surface under pressure moves is known with the mesh only.
  const auto& conditions = at.scene.boundary_conditions;
  const bool follows = !conditions.normal_aligned_neumann.empty() || !conditions.pressure.empty();
  if (at.scene.time.kind == TimeKind::quasistatic && !frictional && !has_damping(at.scene) && !follows)
    at.fail(parameter,
            name + " is not used: a quasistatic scene without friction, damping, normal tractions and "
                   "pressures does not depend on where it starts");
  if (parameter.kind->turns_bodies) return check_replaced_spins(at, parameter);
  const auto& initial = at.scene.initial_conditions;
  for (const InitialField& field : displacement ? initial.solution : initial.velocity)
    if (!is_per_place(parameter.per) &&
        may_overlap(field.region, at.scene, parameter.bodies, parameter.regions))
      refuse_replaced(at, parameter,
                      field.nodes
                          ? std::vector<Varying>{{field.nodes->file.string() + ", " + field.nodes->dataset,
                                                  field.region.where}}
                          : position_dependence(field.value, field.region.where),
                      std::string("space; write numbers there, or give the parameter one value per ") +
                          name_of(parameter.kind->per.back()));
}

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
constexpr const char* name_of_list(linalg::Vector stepping::State::*member) {
  return member == &stepping::State::v ? "velocity" : "solution";
}

/// All but make_slots, for values that a scene has as an array.
template <class Slots, int dim, linalg::Vector stepping::State::*member>
ParameterActions<dim> nodal_actions() {
  return {.write =
              [](const auto& field, FieldValues values, auto& to) {
                to.json["initial_conditions"][name_of_list(member)].push_back(
                    nodal_entry<Slots>(field, values, to));
              },
          .apply_to_state =
              [](const auto& field, FieldValues values, const auto& space, stepping::State& state) {
                put_into_nodes<Slots>(field, values, space, state.*member);
              },
          .enters = Enters::initial,
          .weights = node_weights<Slots, dim>};
}

// Of slots, for_nodes(field, space, act) calls act(owned node, slot, weight) for what makes the value of a
// node.

/// The slots of the cell with the highest input id around a node decide, as within an entry of a scene.
struct SlotsOfCells {
  template <int dim, class Act>
  static void for_nodes(const ParameterField<dim>& field, const fem::FunctionSpace<dim>& space, Act act) {
    const auto& mesh = space.mesh();
    std::vector<LocalIndex> cell_of_node(space.num_owned_nodes(), -1);
    std::vector<int> place(cell_of_node.size(), 0);
    for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
      if (field.slot_of_cell[cell] < 0) continue;
      const auto nodes = space.cell_nodes(cell);
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        if (nodes[a] >= space.num_owned_nodes()) continue;
        LocalIndex& chosen = cell_of_node[nodes[a]];
        if (chosen >= 0 && mesh.cell_ids[chosen] > mesh.cell_ids[cell]) continue;
        chosen = cell;
        place[nodes[a]] = a;
      }
    }
    for (std::size_t node = 0; node < cell_of_node.size(); ++node) {
      const LocalIndex cell = cell_of_node[node];
      if (cell < 0) continue;
      if (field.slot_of_vertex.empty()) {
        act(node, field.slot_of_cell[cell], 1.0);
        continue;
      }
      const auto position = space.basis(space.order(cell)).node(place[node]);
      const auto& vertices = mesh.cells[cell];
      for (int b = 0; b <= dim; ++b) {
        const double weight = b == 0 ? 1 - position.sum() : position[b - 1];
        if (weight != 0) act(node, field.slot_of_vertex[vertices[b]], weight);
      }
    }
  }
};

/// Adds entries, of which the last counts. A scene names bodies or volume ids; both together, and values per
/// vertex, are an array.
template <int dim>
void write_initial(const ParameterField<dim>& field, FieldValues values, SceneDraft<dim>& to,
                   const char* list) {
  const ParameterSpec& spec = *field.spec;
  nlohmann::json& entries = to.json["initial_conditions"][list];
  const auto add = [&](const char* key, const auto& region, std::size_t slot) {
    const auto value = values.subspan(slot * dim, dim);
    entries.push_back({{key, region}, {"value", std::vector<double>(value.begin(), value.end())}});
  };
  const bool one_region = spec.regions.empty() || (spec.bodies.empty() && spec.per != Per::body);
  if (is_per_place(spec.per) || !one_region) {
    entries.push_back(nodal_entry<SlotsOfCells>(field, values, to));
    return;
  }
  if (!spec.regions.empty()) return add("id", spec.regions, 0);
  const auto& bodies = to.geometry.mesh.body_names;
  for (std::size_t k = 0; k < bodies.size(); ++k)
    if (field.slot_of_body[k] >= 0) add("body", std::vector{bodies[k]}, field.slot_of_body[k]);
}

template <int dim>
void apply_spin(const ParameterField<dim>& field, FieldValues values, const VariantInputs<dim>& to) {
  const auto& bodies = to.geometry.mesh.body_names;
  const std::size_t width = field.components;
  for (std::size_t k = 0; k < bodies.size(); ++k)
    if (field.slot_of_body[k] >= 0)
      replace_spin(bodies[k], values.subspan(field.slot_of_body[k] * width, width), field.spec->where.entry,
                   to.scene);
}

/// v = omega x (X - centre).
template <int dim>
void spin_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  const ParameterField<dim>& field = of.fields.front();
  const auto& space = of.discrete.space();
  const auto& mesh = space.mesh();
  std::vector<Eigen::Vector3d> centres(mesh.body_names.size(), Eigen::Vector3d::Zero());
  for (const AngularVelocity& spin : of.discrete.scene().initial_conditions.angular_velocity)
    for (std::size_t body = 0; body < centres.size(); ++body)
      if (contains(spin.region, mesh.body_names[body], 0))
        centres[body] = spin_center(spin, of.discrete.solver().problem());
  std::vector<char> done(space.num_owned_nodes(), 0);
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const std::size_t index = cell;
    if (field.slot_of_cell[index] < 0) continue;
    for (const LocalIndex node : space.cell_nodes(cell)) {
      if (node >= space.num_owned_nodes() || std::exchange(done[node], 1) != 0) continue;
      Eigen::Vector3d arm = -centres[mesh.cell_body[index]];
      arm.template head<dim>() += space.node_positions()[node];
      for (int c = 0; c < field.components; ++c) {
        const Eigen::Vector3d axis = Eigen::Vector3d::Unit(dim == 2 ? 2 : c), velocity = axis.cross(arm);
        for (int i = 0; i < dim; ++i)
          if (velocity[i] != 0)
            take(field.slot_of_cell[index] * field.components + c, node * dim + i, velocity[i]);
      }
    }
  }
}

template <int dim>
void make_initial_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  builder.spread(field);
}

template <int dim, linalg::Vector stepping::State::*member>
ParameterActions<dim> field_actions() {
  auto actions = nodal_actions<SlotsOfCells, dim, member>();
  actions.make_slots = make_initial_slots<dim>;
  actions.write = [](const auto& field, FieldValues values, auto& to) {
    write_initial(field, values, to, name_of_list(member));
  };
  return actions;
}

template <int dim>
ParameterActions<dim> spin_actions() {
  return {.make_slots = make_initial_slots<dim>,
          .apply = apply_spin<dim>,
          .write = [](const auto&, FieldValues, auto& to) { write_spins(to.scene, to.json); },
          .enters = Enters::initial,
          .weights = spin_weights<dim>};
}

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

std::vector<ParameterKind> initial_state_parameters() {
  return {
      {.name = "initial_velocity",
       .unit = "m/s",
       .components = Components::vector,
       .takes = cell_keys(),
       .per = {Per::global, Per::body, Per::vertex},
       .doc =
           "`velocity` of `initial_conditions`; nodes between two regions have that of the later parameter.",
       .quantities = {parameters::quantities::velocity},
       .check = check_initial,
       .by_dimension = {field_actions<2, &stepping::State::v>(), field_actions<3, &stepping::State::v>()},
       .on_particles = &particle_velocity},
      {.name = "initial_angular_velocity",
       .unit = "rad/s",
       .components = Components::spin,
       .takes = {"body", "per"},
       .per = {Per::global, Per::body},
       .doc =
           "`angular_velocity` of `initial_conditions`, about the centre given there or the centre of mass.",
       .quantities = {parameters::quantities::velocity},
       .turns_bodies = true,
       .check = check_initial,
       .by_dimension = {spin_actions<2>(), spin_actions<3>()},
       .on_particles = &particle_spin},
      {.name = "initial_displacement",
       .unit = "m",
       .components = Components::vector,
       .takes = cell_keys(),
       .per = {Per::global, Per::body, Per::vertex},
       .doc =
           "`solution` of `initial_conditions`; nodes between two regions have that of the later parameter.",
       .quantities = {parameters::quantities::displacement},
       .check = check_initial,
       .by_dimension = {field_actions<2, &stepping::State::u>(), field_actions<3, &stepping::State::u>()},
       .on_particles = &particle_displacement},
  };
}

/// The rows that add a `per` to kinds of initial_state_parameters().
std::vector<ParameterKind> initial_nodes_parameters() {
  namespace quantities = parameters::quantities;
  return {start_per_node<&stepping::State::v>("initial_velocity", "m/s", quantities::velocity),
          start_per_node<&stepping::State::u>("initial_displacement", "m", quantities::displacement)};
}

} // namespace recoil::app
