#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/study/fields/parameter_values.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
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
  if (at.scene.contact.enabled && at.scene.contact.periodic)
    at.fail(parameter, "a shape moves what touches the next cell (contact/periodic in " +
                           at.scene.file.string() + "), and that has no derivative; drop one of the two");
  if (at.scene.contact.enabled && at.scene.contact.dhat_relative)
    at.fail(parameter,
            "a shape changes the bounding box that contact/dhat_relative refers to; write contact/dhat in " +
                at.scene.file.string());
}

template <int dim>
void make_shape_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  const std::vector<char> selected = builder.selected_vertices(*field.spec);
  field.components = dim;
  field.shape_weights.resize(builder.geometry.mesh.vertices.size());
  field.spec->basis->make_slots(builder, field, selected);
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
