#include <map>

#include "app/study/parameters/boundary_shape.hpp"
#include "app/study/parameters/parameter_values.hpp"
#include "app/study/scene_checks.hpp"
#include "app/study/scene_draft.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/simulation/node_layout.hpp"
#include "recoil/app/simulation/scene_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/mesh_motion/boundary_extension.hpp"

namespace recoil::app {
namespace {

void refuse_spins(const ExperimentScene& at, const ParameterSpec& parameter,
                  const std::vector<std::string>& moved) {
  if (at.scene.time.kind == TimeKind::statics) return;
  const auto fail = [&](const std::string& what) {
    at.fail(parameter, "a shape moves what " + what +
                           " turns, and that has no derivative; drop one of the two, or move "
                           "other bodies (`body`)");
  };
  for (const AngularVelocity& spin : at.scene.initial_conditions.angular_velocity)
    if (may_overlap(spin.region, at.scene, moved, {})) fail("the spin at " + spin.region.where);
  for (const ParameterSpec& other : at.study.parameters)
    for (const std::string& body : moved)
      if (may_turn(at, other, body)) fail("'" + other.name + "' (initial_angular_velocity)");
}

void check_shape(const ExperimentScene& at, const ParameterSpec& parameter) {
  for (const std::string& name : parameter.bodies) {
    if (is_plane(at.scene, name))
      at.fail(parameter.where, "body", "'" + name + "' is a plane, which has no vertices; use a mesh");
    if (const auto* body = find_geometry(at.scene, name); body && body->is_obstacle)
      at.fail(parameter.where, "body",
              "'" + name +
                  "' is an obstacle, and the shape of obstacles has no derivative; obstacle_motion moves it "
                  "as a whole");
  }
  require_deformable(at, parameter.bodies, parameter.where.of("body"));
  const auto moved = parameter.bodies.empty() ? deformable_names(at.scene) : parameter.bodies;
  if (const auto varying = position_dependence(at.scene, moved); !varying.empty())
    at.fail(parameter, "a shape moves the points where " + quoted(varying.front()) +
                           " is evaluated, and that has no derivative; write numbers there");
  refuse_spins(at, parameter, moved);
  if (at.scene.contact.enabled && at.scene.contact.dhat_relative)
    at.fail(parameter,
            "a shape changes the bounding box that contact/dhat_relative refers to; write contact/dhat in " +
                at.scene.file.string());
}

/// Products of linear hat functions of a grid of control points over the box around the selected vertices.
template <int dim>
void make_box_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                    const std::vector<char>& selected) {
  const auto& mesh = builder.geometry.mesh;
  const auto box = box_of(builder, selected);
  std::array<int, dim> count;
  std::copy_n(field.spec->basis->box.begin(), dim, count.begin());
  std::size_t num_slots = 1;
  for (const int n : count) num_slots *= n;
  builder.replicate(field, num_slots);
  for (std::size_t v = 0; v < selected.size(); ++v) {
    if (selected[v] == 0) continue;
    for (int corner = 0; corner < 1 << dim; ++corner) {
      double weight = 1;
      LocalIndex slot = 0;
      for (int i = dim; i-- > 0;) {
        const double s = (mesh.vertices[v][i] - box.min()[i]) / box.sizes()[i] * (count[i] - 1);
        const int cell = std::clamp(static_cast<int>(s), 0, count[i] - 2);
        const bool upper = (corner >> i & 1) != 0;
        weight *= upper ? s - cell : 1 - (s - cell);
        slot = slot * count[i] + cell + (upper ? 1 : 0);
      }
      if (weight != 0) field.shape_weights[v].emplace_back(slot, weight);
    }
  }
}

/// Modes of the file: the datasets of its root in alphabetical order, a row of dim numbers per vertex of all
/// bodies in the order of the mesh files. Bodies that are not selected stay where they are.
template <int dim>
std::vector<double> read_modes(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                               const std::vector<char>& selected) {
  const auto& mesh = builder.geometry.mesh;
  const fem::FunctionSpace<dim> linear(mesh, std::vector<int>(mesh.body_names.size(), 1));
  const io::BlockLayout rows = node_layout(linear);
  const auto [names, blocks] = parallel::collectively(*mesh.comm, [&] {
    const io::Hdf5Reader file(spec.basis->modes);
    std::pair<std::vector<std::string>, std::vector<std::vector<double>>> read;
    read.first = file.children("/");
    if (read.first.empty()) builder.refuse(spec, "basis", spec.basis->modes.string() + " holds no mode");
    for (const std::string& name : read.first) {
      const io::ArrayShape shape = file.shape(name);
      if (shape.rows != mesh.num_vertices_global || shape.columns != dim ||
          shape.type != io::ElementType::float64)
        builder.refuse(spec, "basis",
                       "mode '" + name + "' of " + spec.basis->modes.string() + " is " +
                           std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                           (shape.type == io::ElementType::float64 ? "" : " integers") + ", the mesh has " +
                           std::to_string(mesh.num_vertices_global) + " vertices in " + std::to_string(dim) +
                           "D; write one row of doubles per vertex of all bodies");
      read.second.push_back(file.read_rows<double>(name, rows.block_begin(), rows.block_end()));
      require_finite_rows(read.second.back(), dim, rows.block_begin(), spec.where.of("basis"),
                          spec.basis->modes, name);
    }
    return read;
  });
  const std::size_t count = blocks.size();
  std::vector<double> modes(mesh.vertices.size() * count * dim, 0.0);
  for (std::size_t mode = 0; mode < count; ++mode) {
    const linalg::Vector field(linear.layout(), rows.from_blocks<double>(blocks[mode], dim));
    for (LocalIndex v = 0; v < std::ssize(selected); ++v) {
      const std::size_t node = linear.node_of_vertex(v);
      if (selected[v] != 0)
        std::copy_n(field.local().begin() + node * dim, dim, modes.begin() + (v * count + mode) * dim);
    }
  }
  return modes;
}

/// X' = X + sum_j q_j (X - c)_j / L_j + q_dim, about the centre c of the box of sizes L.
template <int dim>
void make_affine_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                       const std::vector<char>& selected) {
  const auto& mesh = builder.geometry.mesh;
  const auto box = box_of(builder, selected);
  builder.replicate(field, dim + 1);
  for (std::size_t v = 0; v < selected.size(); ++v) {
    if (selected[v] == 0) continue;
    const Eigen::Matrix<double, dim, 1> offset = (mesh.vertices[v] - box.center()).cwiseQuotient(box.sizes());
    for (int j = 0; j < dim; ++j) field.shape_weights[v].emplace_back(j, offset[j]);
    field.shape_weights[v].emplace_back(dim, 1.0);
  }
}

/// A slot for each selected vertex, which moves it.
template <int dim>
void make_vertex_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                       const std::vector<char>& selected) {
  builder.add_vertex_slots(field, selected);
  for (std::size_t v = 0; v < selected.size(); ++v)
    if (selected[v] != 0) field.shape_weights[v] = {{field.slot_of_vertex[v], 1.0}};
}

template <int dim>
void make_mode_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                     const std::vector<char>& selected) {
  const auto& mesh = builder.geometry.mesh;
  field.components = 1;
  field.shape_modes = read_modes(builder, *field.spec, selected);
  builder.replicate(field, field.shape_modes.size() / (mesh.vertices.size() * dim));
}

template <int dim>
void make_shape_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  const auto& mesh = builder.geometry.mesh;
  using Kind = ShapeBasis::Kind;
  using MakeSlots = void (*)(const SlotBuilder<dim>&, ParameterField<dim>&, const std::vector<char>&);
  static const std::map<Kind, MakeSlots> makers{{Kind::vertices, make_vertex_slots<dim>},
                                                {Kind::boundary_vertices, make_boundary_slots<dim>},
                                                {Kind::affine, make_affine_slots<dim>},
                                                {Kind::box, make_box_slots<dim>},
                                                {Kind::modes, make_mode_slots<dim>}};
  const std::vector<char> selected = builder.selected_vertices(*field.spec);
  field.components = dim;
  field.shape_weights.resize(mesh.vertices.size());
  makers.at(field.spec->basis->kind)(builder, field, selected);
  field.shape_origin.assign(field.size(), 0.0);
  if (field.spec->basis->starts_at_meshes)
    field.shape_origin = read_start_values(field, *builder.geometry.mesh.comm);
}

/// take(value, entry, weight) for the coordinates of all local vertices.
template <int dim, class Take>
void for_shape_weights(const ParameterField<dim>& field, Take take) {
  const std::size_t num_modes = field.shape_modes.empty() ? 0 : field.size();
  for (std::size_t i = 0; i < field.shape_modes.size(); ++i)
    take(i / dim % num_modes, i / (num_modes * dim) * dim + i % dim, field.shape_modes[i]);
  for (std::size_t vertex = 0; vertex < field.shape_weights.size(); ++vertex)
    for (const auto& [slot, weight] : field.shape_weights[vertex])
      for (std::size_t i = 0; i < dim; ++i) take(slot * dim + i, vertex * dim + i, weight);
}

template <int dim>
void apply_shape(const ParameterField<dim>& field, FieldValues values, const VariantInputs<dim>& to) {
  auto& vertices = to.geometry.mesh.vertices;
  std::vector<double> displacement(vertices.size() * dim, 0.0);
  for_shape_weights(field, [&](std::size_t value, std::size_t entry, double weight) {
    displacement[entry] += weight * (values[value] - field.shape_origin[value]);
  });
  if (field.extension) field.extension->extend(displacement);
  for (std::size_t entry = 0; entry < displacement.size(); ++entry)
    vertices[entry / dim][entry % dim] += displacement[entry];
}

template <int dim>
void shape_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  for_shape_weights(of.fields.front(), take);
}

template <int dim>
ParameterActions<dim> shape_actions() {
  return {.make_slots = make_shape_slots<dim>,
          .apply = apply_shape<dim>,
          .write = [](const auto& field, std::span<const double>,
                      auto& to) { write_meshes(field.spec->bodies, to); },
          .weights = shape_weights<dim>};
}

} // namespace

std::vector<ParameterKind> shape_parameters() {
  return {{.name = "shape",
           .unit = "m",
           .components = Components::basis,
           .takes = {"body", "basis"},
           .needs = {"basis"},
           .doc = "Displacement of the rest vertices of deformable bodies from the meshes of the scene.",
           .quantities = {parameters::quantities::vertices},
           .check = check_shape,
           .by_dimension = {shape_actions<2>(), shape_actions<3>()}}};
}

} // namespace recoil::app
