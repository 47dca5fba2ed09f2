#include <algorithm>
#include <cmath>
#include <set>

#include "app/study/kinds/boundary_entries.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/elastodynamics/build_contact.hpp"
#include "recoil/app/solvers/elastodynamics/build_problem.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {
namespace {

void refuse_varying_motion(const ExperimentScene& at, const ParameterSpec& parameter,
                           const DirichletEntry& entry) {
  std::vector<Varying> in_space = position_dependence(entry);
  if (entry.nodal) in_space = {{entry.nodal->file.string() + ", " + entry.nodal->dataset, entry.where}};
  if (is_per_place(parameter.per)) in_space.clear();
  refuse_varying(at, parameter, in_space,
                 holds(parameter.kind->per, Per::node)
                     ? "space; write numbers or formulas of t there, or give the parameter one value per node"
                     : "space; write numbers or formulas of t there",
                 time_dependence(entry),
                 "time; write \"per_step\": true, or a number there with an `interpolation`");
}

void check_dirichlet(const ExperimentScene& at, const ParameterSpec& parameter) {
  const int id = *parameter.boundary;
  const KnownIds surfaces = surface_ids(at.scene);
  const auto obstacle = std::ranges::find_if(at.scene.geometry, [&](const mesh::GeometrySpec& body) {
    return body.is_obstacle && body.obstacle_id == id;
  });
  if (!surfaces.may_hold(id) && obstacle != at.scene.geometry.end())
    at.fail(parameter.where, "boundary",
            "the id " + std::to_string(id) + " is that of obstacle '" + obstacle->name +
                "'; take the quantity obstacle_motion with \"body\": \"" + obstacle->name + "\"");
  if (!surfaces.may_hold(id))
    at.fail(parameter.where, "boundary",
            "no facet has the surface id " + std::to_string(id) +
                "; ids in this scene: " + list_of(surfaces.ids));
  const DirichletEntry& entry = find_entry(at, parameter, at.scene.boundary_conditions.dirichlet,
                                           "boundary_conditions/dirichlet_boundary", "");
  for (const mesh::GeometrySpec& body : at.scene.geometry)
    if (body.is_obstacle && find_motion_of(at.scene, body) == &entry)
      at.fail(parameter.where, "boundary",
              entry.where + " also moves the obstacle '" + body.name +
                  "'; give the obstacle an entry of `obstacle_displacements`");
  refuse_varying_motion(at, parameter, entry);
  refuse_shared_entries(at, parameter, at.scene.boundary_conditions.dirichlet);
}

/// The derivatives of prescribed displacements, where slot_of(node) has the value of a local node.
template <int dim, class SlotOf>
void take_prescribed(const WeightsOf<dim>& of, const TakeWeight& take, SlotOf slot_of) {
  const ParameterSpec& spec = *of.fields.front().spec;
  const auto& entries = of.discrete.scene().boundary_conditions.dirichlet;
  of.discrete.solver().problem().dirichlet->for_each(
      [&](LocalIndex node, int component, std::size_t condition) {
        if (spec.sets(entries[condition]))
          take_in_time(of, entries[condition].interpolation, slot_of(node), node, component, take);
      });
}

void check_obstacle_motion(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_contact(at, parameter);
  const auto names = mesh_obstacle_names(at.scene);
  for (const std::string& name : parameter.bodies) {
    if (holds(names, name)) continue;
    if (is_plane(at.scene, name))
      at.fail(parameter.where, "body", "'" + name + "' is a plane, and planes do not move; use a mesh");
    if (find_geometry(at.scene, name))
      at.fail(parameter.where, "body",
              "'" + name + "' is deformable; take the quantity dirichlet_value with its `boundary`");
    at.fail(parameter.where, "body", "there is no obstacle '" + name + "'" + did_you_mean(name, names));
  }
  if (names.empty()) at.fail(parameter, "obstacle_motion is not used: the scene has no obstacle with a mesh");
  for (const std::string& name : parameter.bodies.empty() ? names : parameter.bodies)
    if (const DirichletEntry* entry = find_motion_of(at.scene, *find_geometry(at.scene, name)))
      refuse_varying_motion(at, parameter, *entry);
}

/// Gives a field one slot, one per obstacle, or one per step.
template <int dim>
void make_obstacle_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  const ParameterSpec& spec = *field.spec;
  const auto& obstacles = builder.geometry.obstacles;
  std::size_t num_slots = num_steps_of(spec, builder.scene.time);
  if (spec.per_step && spec.per == Per::body)
    builder.refuse(spec, "per",
                   "obstacles move per step or each on its own, not both; write one parameter per obstacle");
  field.slot_of_obstacle.assign(obstacles.names.size(), -1);
  LocalIndex count = 0;
  for (std::size_t k = 0; k < obstacles.names.size(); ++k)
    if (spec.takes_body(obstacles.names[k])) {
      field.slot_of_obstacle[k] = spec.per == Per::body ? count++ : 0;
      if (spec.per == Per::body) field.slot_names.push_back(obstacles.names[k]);
    }
  if (std::ranges::all_of(field.slot_of_obstacle, [](LocalIndex slot) { return slot < 0; }))
    builder.refuse(spec, "body", "no obstacle with a mesh has such a name");
  if (spec.per == Per::body) num_slots = count;
  builder.replicate(field, num_slots);
}

/// Gives the obstacles that move surface ids of their own, and these their motion.
template <int dim>
void apply_obstacle_motion(const ParameterField<dim>& field, FieldValues values,
                           const VariantInputs<dim>& to) {
  Scene& scene = to.scene;
  auto& obstacles = to.geometry.obstacles;
  auto& motions = scene.boundary_conditions.obstacle_displacements;
  for (std::int32_t k = 0; k < std::ssize(obstacles.names); ++k) {
    if (field.slot_of_obstacle[k] < 0) continue;
    DirichletEntry entry;
    entry.where = field.spec->where.entry;
    entry.start_time = scene.time.t0;
    entry.value.resize(dim);
    if (const DirichletEntry* before =
            find_obstacle_motion(scene.boundary_conditions, obstacles.surface_ids[k]))
      entry.interpolation = before->interpolation;
    const std::size_t own = field.slot_of_obstacle[k] * dim;
    set_in_time(entry, *field.spec, scene.time, field.spec->per_step ? values : values.subspan(own, dim),
                dim);
    constexpr std::int32_t first_free_id = 1 << 30;
    obstacles.surface_ids[k] = first_free_id + k;
    entry.ids = {obstacles.surface_ids[k]};
    motions.insert(motions.begin(), std::move(entry));
  }
}

/// Takes `id` out of the motions of a scene, in which no id may come twice and "all" must be the only entry.
void remove_motion(int id, const std::set<int>& others, nlohmann::json& motions) {
  nlohmann::json kept = nlohmann::json::array();
  for (nlohmann::json& entry : motions) {
    std::set<int> ids = others;
    if (entry["id"].is_number())
      ids = {entry["id"].get<int>()};
    else if (entry["id"].is_array())
      ids = entry["id"].get<std::set<int>>();
    ids.erase(id);
    entry["id"] = ids;
    if (!ids.empty()) kept.push_back(std::move(entry));
  }
  motions = std::move(kept);
}

/// Ids of the obstacles of a scene, as often as they are given.
std::multiset<int> obstacle_ids(const nlohmann::json& geometry) {
  std::multiset<int> ids;
  for (const nlohmann::json& entry : geometry)
    if (entry.value("is_obstacle", false) && entry.contains("surface_selection"))
      ids.insert(entry["surface_selection"].get<int>());
  return ids;
}

/// An obstacle that shares its id, or has none, gets one of its own.
template <int dim>
void write_obstacle_motion(const ParameterField<dim>& field, FieldValues, SceneDraft<dim>& to) {
  const auto& obstacles = to.geometry.obstacles;
  nlohmann::json& motions = to.json["boundary_conditions"]["obstacle_displacements"];
  for (std::size_t k = 0; k < obstacles.names.size(); ++k) {
    if (field.slot_of_obstacle[k] < 0) continue;
    const DirichletEntry& motion =
        *find_obstacle_motion(to.scene.boundary_conditions, obstacles.surface_ids[k]);
    nlohmann::json& body = to.body(obstacles.names[k]);
    const std::multiset<int> ids = obstacle_ids(to.json["geometry"]);
    int id = body.contains("surface_selection") ? body["surface_selection"].get<int>() : -1;
    if (ids.count(id) != 1) id = obstacles.surface_ids[k];
    body["surface_selection"] = id;
    remove_motion(id, {ids.begin(), ids.end()}, motions);
    nlohmann::json entry{{"id", {id}}, {"value", nlohmann::json::array()}};
    write_values_in_time(numbers_of(motion), motion.interpolation, entry);
    motions.push_back(std::move(entry));
  }
}

template <int dim>
void obstacle_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  const ParameterField<dim>& field = of.fields.front();
  const auto& obstacles = of.discrete.obstacles();
  const auto& surface = of.discrete.solver().problem().contact->surface();
  for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
    const LocalIndex vertex = surface.obstacle_vertex(v);
    if (vertex < 0) continue;
    const auto obstacle = obstacles.vertex_surface[vertex];
    const LocalIndex slot = field.slot_of_obstacle[obstacle];
    if (slot < 0) continue;
    const DirichletEntry& entry =
        *find_obstacle_motion(of.discrete.scene().boundary_conditions, obstacles.surface_ids[obstacle]);
    for (int i = 0; i < dim; ++i) take_in_time(of, entry.interpolation, slot, v, i, take);
  }
}

template <int dim>
ParameterActions<dim> dirichlet_actions() {
  return {.make_slots = make_step_slots<dim>,
          .apply = apply_to_entries<&BoundaryConditions::dirichlet>,
          .write = write_dirichlet_entries,
          .enters = Enters::prescribed,
          .weights = [](const WeightsOf<dim>& of, const TakeWeight& take) {
            take_prescribed(of, take, [](LocalIndex) { return std::size_t{0}; });
          }};
}

template <int dim>
ParameterActions<dim> obstacle_actions() {
  return {.make_slots = make_obstacle_slots<dim>,
          .apply = apply_obstacle_motion<dim>,
          .write = write_obstacle_motion<dim>,
          .enters = Enters::obstacles,
          .weights = obstacle_weights<dim>};
}

// Values per node of dirichlet_value.

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

std::vector<ParameterKind> prescribed_motion_parameters() {
  return {
      {.name = "dirichlet_value",
       .unit = "m",
       .components = Components::vector,
       .takes = {"boundary", "per_step"},
       .needs = {"boundary"},
       .doc = "`value` of the `dirichlet_boundary` with this id; an `interpolation` stays a factor on it.",
       .quantities = {parameters::quantities::displacement},
       .moves_supports = true,
       .check = check_dirichlet,
       .by_dimension = {dirichlet_actions<2>(), dirichlet_actions<3>()},
       .on_particles = &particle_motion},
      {.name = "obstacle_motion",
       .unit = "m",
       .components = Components::vector,
       .takes = {"body", "per", "per_step"},
       .per = {Per::global, Per::body},
       .doc =
           "Total displacement of obstacles (`body`: names of obstacles, default all that have a mesh); an "
           "`interpolation` stays a factor on it.",
       .quantities = {parameters::quantities::obstacle_positions},
       .moves_supports = true,
       .check = check_obstacle_motion,
       .by_dimension = {obstacle_actions<2>(), obstacle_actions<3>()}},
      {.name = "dirichlet_value",
       .unit = "m",
       .components = Components::vector,
       .takes = {"boundary", "per", "per_step"},
       .needs = {"boundary"},
       .per = {Per::node},
       .doc = "`value` of the `dirichlet_boundary` with this id, of all of it or per node of it; an "
              "`interpolation` stays a factor on it.",
       .quantities = {parameters::quantities::displacement},
       .check = check_nodes,
       .by_dimension = {dirichlet_node_actions<2>(), dirichlet_node_actions<3>()}},
  };
}

} // namespace recoil::app
