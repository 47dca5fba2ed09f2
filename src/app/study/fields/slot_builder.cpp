#include "recoil/app/study/fields/parameter_kind.hpp"

#include <algorithm>
#include <numeric>

#include "recoil/base/error.hpp"

namespace recoil::app {

std::string ParameterKind::possible_values() const {
  const std::string values = range.describe();
  return name + std::string(values.starts_with("between") ? " must lie " : " must be ") + values;
}

int num_components(Components components, int dim) {
  RECOIL_ASSERT(components != Components::basis);
  if (components == Components::one) return 1;
  if (components == Components::matrix) return dim * dim;
  return components == Components::spin && dim == 2 ? 1 : dim;
}

template <int dim>
void SlotBuilder<dim>::refuse(const ParameterSpec& spec, const char* key, const std::string& why) {
  throw InputError(spec.where.of(key), "parameter '" + spec.name + "': " + why);
}

template <int dim>
void SlotBuilder<dim>::replicate(Field& field, std::size_t num_slots) {
  field.extent = Field::Extent::replicated;
  field.slot_ids.resize(num_slots);
  std::iota(field.slot_ids.begin(), field.slot_ids.end(), GlobalIndex{0});
  field.num_owned_slots = num_slots;
  field.num_rows = std::ssize(field.slot_ids);
}

template <int dim>
bool SlotBuilder<dim>::selects(const ParameterSpec& spec, std::size_t cell) const {
  const std::string& body = geometry.mesh.body_names[geometry.mesh.cell_body[cell]];
  return spec.takes_body(body) &&
         (spec.regions.empty() || holds(spec.regions, geometry.mesh.cell_volume_id[cell]));
}

template <int dim>
void SlotBuilder<dim>::require_cells(const ParameterSpec& spec, GlobalIndex count) const {
  if (geometry.mesh.comm->sum(count) == 0)
    refuse(spec, spec.regions.empty() ? "body" : "region",
           "no element is in its region; name other bodies or volume ids");
  for (const int id : spec.regions) {
    ParameterSpec alone = spec;
    alone.regions = {id};
    GlobalIndex found = 0;
    for (std::size_t cell = 0; cell < geometry.mesh.cells.size(); ++cell)
      found += selects(alone, cell) ? 1 : 0;
    if (geometry.mesh.comm->sum(found) == 0)
      refuse(spec, "region", "no element of its bodies has the volume id " + std::to_string(id));
  }
}

template <int dim>
void SlotBuilder<dim>::spread_over_cells(Field& field) const {
  const ParameterSpec& spec = *field.spec;
  field.slot_of_cell.assign(geometry.mesh.cells.size(), -1);
  GlobalIndex count = 0;
  // Bodies in the order of the mesh; those without a selected cell have no slot.
  std::vector<double> used(geometry.mesh.body_names.size(), 0.0);
  for (std::size_t cell = 0; cell < geometry.mesh.cells.size(); ++cell) {
    if (!selects(spec, cell)) continue;
    ++count;
    used[geometry.mesh.cell_body[cell]] = 1;
  }
  require_cells(spec, count);
  geometry.mesh.comm->sum(used);
  if (spec.per != Per::element) {
    LocalIndex num_slots = 0;
    field.slot_of_body.assign(used.size(), -1);
    for (std::size_t body = 0; body < used.size(); ++body)
      if (used[body] > 0) {
        field.slot_of_body[body] = spec.per == Per::body ? num_slots++ : 0;
        if (spec.per == Per::body) field.slot_names.push_back(geometry.mesh.body_names[body]);
      }
    replicate(field, spec.per == Per::body ? num_slots : 1);
  } else {
    field.extent = Field::Extent::cells;
    field.num_rows = geometry.mesh.num_cells_global;
  }
  for (std::size_t cell = 0; cell < geometry.mesh.cells.size(); ++cell) {
    if (!selects(spec, cell)) continue;
    if (spec.per != Per::element) {
      field.slot_of_cell[cell] = field.slot_of_body[geometry.mesh.cell_body[cell]];
      continue;
    }
    field.slot_of_cell[cell] = std::ssize(field.slot_ids);
    field.slot_ids.push_back(geometry.mesh.cell_ids[cell]);
    if (std::cmp_less(cell, geometry.mesh.num_owned_cells)) field.num_owned_slots = field.slot_ids.size();
  }
}

template <int dim>
std::vector<char> SlotBuilder<dim>::selected_vertices(const ParameterSpec& spec) const {
  std::vector<char> flags(geometry.mesh.vertices.size(), 0);
  GlobalIndex count = 0;
  for (std::size_t cell = 0; cell < geometry.mesh.cells.size(); ++cell) {
    if (!selects(spec, cell)) continue;
    ++count;
    for (const LocalIndex vertex : geometry.mesh.cells[cell]) flags[vertex] = 1;
  }
  require_cells(spec, count);
  return flags;
}

template <int dim>
void SlotBuilder<dim>::add_vertex_slots(Field& field, const std::vector<char>& flags) const {
  field.extent = Field::Extent::vertices;
  field.num_rows = geometry.mesh.num_vertices_global;
  field.slot_of_vertex.assign(geometry.mesh.vertices.size(), -1);
  for (std::size_t vertex = 0; vertex < flags.size(); ++vertex) {
    if (flags[vertex] == 0) continue;
    field.slot_of_vertex[vertex] = std::ssize(field.slot_ids);
    field.slot_ids.push_back(geometry.mesh.vertex_ids[vertex]);
    if (std::cmp_less(vertex, geometry.mesh.num_owned_vertices))
      field.num_owned_slots = field.slot_ids.size();
  }
}

template <int dim>
void SlotBuilder<dim>::add_node_slots(Field& field, const fem::FunctionSpace<dim>& space,
                                      const std::vector<char>& flags) {
  field.extent = Field::Extent::nodes;
  field.num_rows = space.num_nodes_global();
  std::vector<std::pair<GlobalIndex, char>> nodes;
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
    nodes.emplace_back(space.canonical_ids()[node], flags[node]);
  std::ranges::sort(nodes);
  for (const auto& [id, flag] : nodes) {
    field.node_ids.push_back(id);
    field.slot_of_node.push_back(flag != 0 ? std::ssize(field.slot_ids) : -1);
    if (flag != 0) field.slot_ids.push_back(id);
  }
  field.num_owned_slots = field.slot_ids.size();
}

template <int dim>
fem::FunctionSpace<dim> SlotBuilder<dim>::make_space() const {
  return {geometry.mesh, body_orders(scene, geometry.mesh.body_names)};
}

template <int dim>
void SlotBuilder<dim>::spread_over_vertices(Field& field) const {
  add_vertex_slots(field, selected_vertices(*field.spec));
  field.slot_of_cell.assign(geometry.mesh.cells.size(), -1);
  for (std::size_t cell = 0; cell < geometry.mesh.cells.size(); ++cell)
    if (selects(*field.spec, cell)) field.slot_of_cell[cell] = 0;
}

template <int dim>
void SlotBuilder<dim>::spread(Field& field) const {
  RECOIL_ASSERT(field.spec->per != Per::node);
  if (field.spec->per == Per::vertex)
    spread_over_vertices(field);
  else
    spread_over_cells(field);
}

template <int dim>
ParameterFields<dim> make_parameter_fields(const Study& study, int experiment, const Scene& scene,
                                           const DistributedGeometry<dim>& geometry) {
  const SlotBuilder<dim> builder(scene, geometry);
  parallel::collectively(*geometry.mesh.comm, [&] {
    for (const ParameterSpec& spec : study.parameters)
      if (const auto check = actions_of<dim>(spec).check_cells; check && spec.acts_in(experiment))
        check(builder, spec);
  });
  ParameterFields<dim> fields;
  for (std::size_t i = 0; i < study.parameters.size(); ++i) {
    const ParameterSpec& spec = study.parameters[i];
    if (!spec.acts_in(experiment)) continue;
    ParameterField<dim>& field = fields.emplace_back();
    field.spec = &spec;
    field.index = i;
    if (spec.kind->components != Components::basis)
      field.components = num_components(spec.kind->components, dim);
    if (const auto make = actions_of<dim>(spec).make_slots)
      make(builder, field);
    else
      builder.replicate(field, 1);
  }
  return fields;
}

template class SlotBuilder<2>;
template class SlotBuilder<3>;
template ParameterFields<2> make_parameter_fields(const Study&, int, const Scene&,
                                                  const DistributedGeometry<2>&);
template ParameterFields<3> make_parameter_fields(const Study&, int, const Scene&,
                                                  const DistributedGeometry<3>&);

} // namespace recoil::app
