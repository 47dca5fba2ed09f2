#include "app/study/parameter_field.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "recoil/app/simulation/node_layout.hpp"
#include "recoil/app/simulation/require_finite.hpp"
#include "recoil/app/study/read_study.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

namespace {

template <int dim>
class FieldBuilder {
public:
  using Field = ParameterField<dim>;

  FieldBuilder(const Scene& scene, const DistributedGeometry<dim>& geometry)
      : scene_(scene), mesh_(geometry.mesh), obstacles_(geometry.obstacles) {}

  Field build(const ParameterSpec& spec, int index) const {
    Field field;
    field.spec = &spec;
    field.index = index;
    const QuantityInfo& quantity = info(spec.quantity);
    switch (quantity.group) {
    case QuantityGroup::material:
    case QuantityGroup::density:
    case QuantityGroup::damping:
      if (quantity.parameter != nullptr && dim < quantity.parameter->constant->min_dimension)
        refuse(spec, "quantity",
               "`" + quantity.constant + "` of " + std::string(quantity.law->name) + " has no effect in " +
                   std::to_string(dim) + "D; leave the parameter out");
      [[fallthrough]];
    case QuantityGroup::initial:
      field.components = num_components(quantity.components, dim);
      spec.per == Per::vertex ? spread_over_vertices(field) : spread_over_cells(field);
      break;
    case QuantityGroup::shape:
      build_shape(field);
      break;
    case QuantityGroup::prescribed:
      field.components = num_components(quantity.components, dim);
      spread_over_steps(field);
      break;
    case QuantityGroup::contact:
    case QuantityGroup::load:
      field.components = num_components(quantity.components, dim);
      if (spec.quantity == Quantity::body_force)
        spread_over_cells(field);
      else
        replicate(field, 1);
      break;
    }
    return field;
  }

  /// Refuses constants that the materials of the selected elements do not have, or have as formulas. Not
  /// collective. @throws InputError.
  void check_materials(const ParameterSpec& spec) const {
    const QuantityGroup group = info(spec.quantity).group;
    if (group != QuantityGroup::material && group != QuantityGroup::density &&
        group != QuantityGroup::damping)
      return;
    std::set<std::pair<int, std::int32_t>> seen;
    for (std::size_t cell = 0; cell < mesh_.cells.size(); ++cell) {
      if (!selects(spec, cell)) continue;
      const std::string& body = mesh_.body_names[static_cast<std::size_t>(mesh_.cell_body[cell])];
      const int material = find_material_index(scene_, body, mesh_.cell_volume_id[cell]);
      if (material >= 0 && seen.emplace(material, mesh_.cell_body[cell]).second)
        check_replaces_material(spec, scene_.materials[static_cast<std::size_t>(material)], body);
    }
  }

private:
  [[noreturn]] static void refuse(const ParameterSpec& spec, const char* key, const std::string& why) {
    throw InputError(spec.where.of(key), "parameter '" + spec.name + "': " + why);
  }

  static void replicate(Field& field, std::size_t num_slots) {
    field.extent = Field::Extent::replicated;
    field.slot_ids.resize(num_slots);
    std::iota(field.slot_ids.begin(), field.slot_ids.end(), GlobalIndex{0});
    field.num_owned_slots = num_slots;
  }

  /// Prescribed values: one slot, one per obstacle, one per step.
  void spread_over_steps(Field& field) const {
    const ParameterSpec& spec = *field.spec;
    std::size_t num_slots = spec.per_step ? static_cast<std::size_t>(scene_.time.steps) : 1;
    if (spec.quantity == Quantity::obstacle_motion) {
      if (spec.per_step && spec.per == Per::body)
        refuse(spec, "per",
               "obstacles move per step or each on its own, not both; write one parameter per obstacle");
      field.slot_of_obstacle.assign(obstacles_.names.size(), -1);
      LocalIndex count = 0;
      for (std::size_t k = 0; k < obstacles_.names.size(); ++k)
        if (spec.bodies.empty() || std::ranges::find(spec.bodies, obstacles_.names[k]) != spec.bodies.end()) {
          field.slot_of_obstacle[k] = spec.per == Per::body ? count++ : 0;
          if (spec.per == Per::body) field.slot_names.push_back(obstacles_.names[k]);
        }
      if (std::ranges::all_of(field.slot_of_obstacle, [](LocalIndex slot) { return slot < 0; }))
        refuse(spec, "body", "no obstacle with a mesh has such a name");
      if (spec.per == Per::body) num_slots = static_cast<std::size_t>(count);
    }
    replicate(field, num_slots);
  }

  bool selects(const ParameterSpec& spec, std::size_t cell) const {
    const std::string& body = mesh_.body_names[static_cast<std::size_t>(mesh_.cell_body[cell])];
    const auto names = [](const auto& list, const auto& item) {
      return list.empty() || std::ranges::find(list, item) != list.end();
    };
    return names(spec.bodies, body) && names(spec.regions, mesh_.cell_volume_id[cell]);
  }

  void require_cells(const ParameterSpec& spec, GlobalIndex count) const {
    if (mesh_.comm->sum(count) == 0)
      refuse(spec, spec.regions.empty() ? "body" : "region",
             "no element is in its region; name other bodies or volume ids");
    for (const int id : spec.regions) {
      ParameterSpec alone = spec;
      alone.regions = {id};
      GlobalIndex found = 0;
      for (std::size_t cell = 0; cell < mesh_.cells.size(); ++cell) found += selects(alone, cell) ? 1 : 0;
      if (mesh_.comm->sum(found) == 0)
        refuse(spec, "region", "no element of its bodies has the volume id " + std::to_string(id));
    }
  }

  void spread_over_cells(Field& field) const {
    const ParameterSpec& spec = *field.spec;
    field.slot_of_cell.assign(mesh_.cells.size(), -1);
    GlobalIndex count = 0;
    // Bodies in the order of the mesh; those without a selected cell have no slot.
    std::vector<double> used(mesh_.body_names.size(), 0.0);
    for (std::size_t cell = 0; cell < mesh_.cells.size(); ++cell) {
      if (!selects(spec, cell)) continue;
      ++count;
      used[static_cast<std::size_t>(mesh_.cell_body[cell])] = 1;
    }
    require_cells(spec, count);
    mesh_.comm->sum(used);
    if (spec.per != Per::element) {
      LocalIndex num_slots = 0;
      field.slot_of_body.assign(used.size(), -1);
      for (std::size_t body = 0; body < used.size(); ++body)
        if (used[body] > 0) {
          field.slot_of_body[body] = spec.per == Per::body ? num_slots++ : 0;
          if (spec.per == Per::body) field.slot_names.push_back(mesh_.body_names[body]);
        }
      replicate(field, spec.per == Per::body ? static_cast<std::size_t>(num_slots) : 1);
    } else {
      field.extent = Field::Extent::cells;
    }
    for (std::size_t cell = 0; cell < mesh_.cells.size(); ++cell) {
      if (!selects(spec, cell)) continue;
      if (spec.per != Per::element) {
        field.slot_of_cell[cell] = field.slot_of_body[static_cast<std::size_t>(mesh_.cell_body[cell])];
        continue;
      }
      field.slot_of_cell[cell] = static_cast<LocalIndex>(field.slot_ids.size());
      field.slot_ids.push_back(mesh_.cell_ids[cell]);
      if (static_cast<LocalIndex>(cell) < mesh_.num_owned_cells)
        field.num_owned_slots = field.slot_ids.size();
    }
  }

  /// Flags of the local vertices of selected cells. A vertex that this rank knows may have its selected cells
  /// elsewhere; the owner has all cells around it.
  std::vector<char> selected_vertices(const ParameterSpec& spec) const {
    std::vector<char> flags(mesh_.vertices.size(), 0);
    GlobalIndex count = 0;
    for (std::size_t cell = 0; cell < mesh_.cells.size(); ++cell) {
      if (!selects(spec, cell)) continue;
      ++count;
      for (const LocalIndex vertex : mesh_.cells[cell]) flags[static_cast<std::size_t>(vertex)] = 1;
    }
    require_cells(spec, count);
    return flags;
  }

  void add_vertex_slots(Field& field, const std::vector<char>& flags) const {
    field.extent = Field::Extent::vertices;
    field.slot_of_vertex.assign(mesh_.vertices.size(), -1);
    for (std::size_t vertex = 0; vertex < flags.size(); ++vertex) {
      if (flags[vertex] == 0) continue;
      field.slot_of_vertex[vertex] = static_cast<LocalIndex>(field.slot_ids.size());
      field.slot_ids.push_back(mesh_.vertex_ids[vertex]);
      if (static_cast<LocalIndex>(vertex) < mesh_.num_owned_vertices)
        field.num_owned_slots = field.slot_ids.size();
    }
  }

  void spread_over_vertices(Field& field) const {
    add_vertex_slots(field, selected_vertices(*field.spec));
    field.slot_of_cell.assign(mesh_.cells.size(), -1);
    for (std::size_t cell = 0; cell < mesh_.cells.size(); ++cell)
      if (selects(*field.spec, cell)) field.slot_of_cell[cell] = 0;
  }

  /// Flags of the local vertices on boundary facets of selected cells.
  std::vector<char> boundary_vertices(const ParameterSpec& spec) const;

  void build_shape(Field& field) const;
  void build_box(Field& field, const std::vector<char>& selected) const;
  std::vector<double> read_modes(const ParameterSpec& spec, const std::vector<char>& selected) const;

  /// Corners of the rest vertices of the selected bodies over all ranks.
  Eigen::AlignedBox<double, dim> box_of(const std::vector<char>& flags) const {
    Eigen::AlignedBox<double, dim> box;
    for (std::size_t vertex = 0; vertex < flags.size(); ++vertex)
      if (flags[vertex] != 0) box.extend(mesh_.vertices[vertex]);
    Eigen::Matrix<double, dim, 1> low = box.min(), high = box.max();
    for (int i = 0; i < dim; ++i) {
      low[i] = mesh_.comm->min(low[i]);
      high[i] = mesh_.comm->max(high[i]);
    }
    return {low, high};
  }

  const Scene& scene_;
  const mesh::DistributedMesh<dim>& mesh_;
  const mesh::DistributedObstacles<dim>& obstacles_;
};

template <int dim>
std::vector<char> FieldBuilder<dim>::boundary_vertices(const ParameterSpec& spec) const {
  const fem::FunctionSpace<dim> linear(mesh_, std::vector<int>(mesh_.body_names.size(), 1));
  linalg::Vector marks(linear.layout());
  auto values = marks.write_local();
  for (const fem::BoundaryFacet& facet : linear.boundary_facets()) {
    if (!selects(spec, static_cast<std::size_t>(facet.cell))) continue;
    const auto nodes = linear.cell_nodes(facet.cell);
    for (const int node : linear.basis(1).facet_nodes(facet.facet))
      values[static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)]) * dim] = 1;
  }
  // Facets of a ghost vertex may lie on cells that only its owner holds.
  marks.update_ghosts();
  std::vector<char> flags(mesh_.vertices.size(), 0);
  for (std::size_t vertex = 0; vertex < flags.size(); ++vertex)
    flags[vertex] =
        marks.local()[static_cast<std::size_t>(linear.node_of_vertex(static_cast<LocalIndex>(vertex))) *
                      dim] != 0;
  return flags;
}

template <int dim>
void FieldBuilder<dim>::build_shape(Field& field) const {
  const ParameterSpec& spec = *field.spec;
  const ShapeBasis& basis = *spec.basis;
  const std::vector<char> selected = selected_vertices(spec);
  field.components = dim;
  field.shape_weights.resize(mesh_.vertices.size());
  const auto for_selected = [&](auto act) {
    for (std::size_t vertex = 0; vertex < selected.size(); ++vertex)
      if (selected[vertex] != 0) act(vertex);
  };
  switch (basis.kind) {
  case ShapeBasis::Kind::vertices:
    add_vertex_slots(field, selected);
    for_selected([&](std::size_t v) { field.shape_weights[v] = {{field.slot_of_vertex[v], 1.0}}; });
    return;
  case ShapeBasis::Kind::boundary_vertices:
    add_vertex_slots(field, boundary_vertices(spec));
    for_selected([&](std::size_t v) {
      if (field.slot_of_vertex[v] >= 0) field.shape_weights[v] = {{field.slot_of_vertex[v], 1.0}};
    });
    return;
  case ShapeBasis::Kind::affine: {
    // X' = X + sum_j q_j (X - c)_j / L_j + q_dim, about the centre c of the box of sizes L.
    const auto box = box_of(selected);
    replicate(field, dim + 1);
    for_selected([&](std::size_t v) {
      const Eigen::Matrix<double, dim, 1> offset =
          (mesh_.vertices[v] - box.center()).cwiseQuotient(box.sizes());
      for (int j = 0; j < dim; ++j) field.shape_weights[v].emplace_back(j, offset[j]);
      field.shape_weights[v].emplace_back(dim, 1.0);
    });
    return;
  }
  case ShapeBasis::Kind::box:
    build_box(field, selected);
    return;
  case ShapeBasis::Kind::modes:
    field.components = 1;
    field.shape_modes = read_modes(spec, selected);
    replicate(field, field.shape_modes.size() / (mesh_.vertices.size() * dim));
  }
}

/// Products of linear hat functions of a grid of control points over the box around the selected vertices.
template <int dim>
void FieldBuilder<dim>::build_box(Field& field, const std::vector<char>& selected) const {
  const auto box = box_of(selected);
  std::array<int, dim> count;
  std::copy_n(field.spec->basis->box.begin(), dim, count.begin());
  std::size_t num_slots = 1;
  for (const int n : count) num_slots *= static_cast<std::size_t>(n);
  replicate(field, num_slots);
  for (std::size_t v = 0; v < selected.size(); ++v) {
    if (selected[v] == 0) continue;
    for (int corner = 0; corner < 1 << dim; ++corner) {
      double weight = 1;
      LocalIndex slot = 0;
      for (int i = dim; i-- > 0;) {
        const double s =
            (mesh_.vertices[v][i] - box.min()[i]) / box.sizes()[i] * (count[static_cast<std::size_t>(i)] - 1);
        const int cell = std::clamp(static_cast<int>(s), 0, count[static_cast<std::size_t>(i)] - 2);
        const bool upper = (corner >> i & 1) != 0;
        weight *= upper ? s - cell : 1 - (s - cell);
        slot = slot * count[static_cast<std::size_t>(i)] + cell + (upper ? 1 : 0);
      }
      if (weight != 0) field.shape_weights[v].emplace_back(slot, weight);
    }
  }
}

/// Modes of the file: the datasets of its root in alphabetical order, a row of dim numbers per vertex of all
/// bodies in the order of the mesh files. Bodies that are not selected stay where they are.
template <int dim>
std::vector<double> FieldBuilder<dim>::read_modes(const ParameterSpec& spec,
                                                  const std::vector<char>& selected) const {
  const fem::FunctionSpace<dim> linear(mesh_, std::vector<int>(mesh_.body_names.size(), 1));
  const io::BlockLayout rows = node_layout(linear);
  const auto [names, blocks] = parallel::collectively(*mesh_.comm, [&] {
    const io::Hdf5Reader file(spec.basis->modes);
    std::pair<std::vector<std::string>, std::vector<std::vector<double>>> read;
    read.first = file.children("/");
    if (read.first.empty()) refuse(spec, "basis", spec.basis->modes.string() + " holds no mode");
    for (const std::string& name : read.first) {
      const io::ArrayShape shape = file.shape(name);
      if (shape.rows != mesh_.num_vertices_global || shape.columns != dim ||
          shape.type != io::ElementType::float64)
        refuse(spec, "basis",
               "mode '" + name + "' of " + spec.basis->modes.string() + " is " + std::to_string(shape.rows) +
                   " x " + std::to_string(shape.columns) +
                   (shape.type == io::ElementType::float64 ? "" : " integers") + ", the mesh has " +
                   std::to_string(mesh_.num_vertices_global) + " vertices in " + std::to_string(dim) +
                   "D; write one row of doubles per vertex of all bodies");
      read.second.push_back(file.read_rows<double>(name, rows.block_begin(), rows.block_end()));
      require_finite_rows(read.second.back(), dim, rows.block_begin(), spec.where.of("basis"),
                          spec.basis->modes, name);
    }
    return read;
  });
  const std::size_t count = blocks.size();
  std::vector<double> modes(mesh_.vertices.size() * count * dim, 0.0);
  for (std::size_t mode = 0; mode < count; ++mode) {
    const linalg::Vector field(linear.layout(), rows.from_blocks<double>(blocks[mode], dim));
    for (std::size_t v = 0; v < selected.size(); ++v) {
      const auto node = static_cast<std::size_t>(linear.node_of_vertex(static_cast<LocalIndex>(v)));
      if (selected[v] != 0)
        std::copy_n(field.local().begin() + static_cast<std::ptrdiff_t>(node * dim), dim,
                    modes.begin() + static_cast<std::ptrdiff_t>((v * count + mode) * dim));
    }
  }
  return modes;
}

} // namespace

template <int dim>
std::vector<double> ParameterField<dim>::start_values() const {
  std::vector<double> values;
  for (std::size_t slot = 0; slot < slot_ids.size(); ++slot)
    for (int i = 0; i < components; ++i)
      values.push_back(spec->initial.empty() ? 0 : spec->initial[static_cast<std::size_t>(i)]);
  return values;
}

template <int dim>
std::vector<ParameterField<dim>> make_parameter_fields(const Study& study, int experiment, const Scene& scene,
                                                       const DistributedGeometry<dim>& geometry) {
  const FieldBuilder<dim> builder(scene, geometry);
  parallel::collectively(*geometry.mesh.comm, [&] {
    for (const ParameterSpec& spec : study.parameters)
      if (spec.acts_in(experiment)) builder.check_materials(spec);
  });
  std::vector<ParameterField<dim>> fields;
  for (std::size_t i = 0; i < study.parameters.size(); ++i)
    if (study.parameters[i].acts_in(experiment))
      fields.push_back(builder.build(study.parameters[i], static_cast<int>(i)));
  return fields;
}

template struct ParameterField<2>;
template struct ParameterField<3>;
template std::vector<ParameterField<2>> make_parameter_fields(const Study&, int, const Scene&,
                                                              const DistributedGeometry<2>&);
template std::vector<ParameterField<3>> make_parameter_fields(const Study&, int, const Scene&,
                                                              const DistributedGeometry<3>&);

} // namespace recoil::app
