#include "app/study/apply_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "app/study/initial_parameters.hpp"
#include "recoil/app/simulation/build_contact.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

std::vector<Expression> constants(std::span<const double> values) {
  std::vector<Expression> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

/// Value of one component at the ends of the steps, linear between, zero at the start.
TimeFactor step_table(const TimeSpec& time, std::span<const double> values, int components, int component) {
  TimeFactor table;
  table.kind = TimeFactor::Kind::piecewise_linear;
  table.points = {time.t0};
  table.values = {0.0};
  for (int n = 1; n <= time.steps; ++n) {
    table.points.push_back(time.time_of_step(n));
    table.values.push_back(values[static_cast<std::size_t>((n - 1) * components + component)]);
  }
  return table;
}

void set_prescribed(DirichletEntry& entry, const ParameterSpec& spec, std::span<const double> values, int dim,
                    const TimeSpec& time) {
  if (spec.per_step) entry.interpolation.clear();
  for (int c = 0; c < dim; ++c) {
    ComponentValue& component = entry.value[static_cast<std::size_t>(c)];
    component.per_time.clear();
    component.value = Expression(spec.per_step ? 1.0 : values[static_cast<std::size_t>(c)]);
    if (spec.per_step) entry.interpolation.push_back(step_table(time, values, dim, c));
  }
}

/// What a scene can say itself: values without a place of their own.
template <int dim>
void apply_to_scene(const ParameterField<dim>& field, std::span<const double> values, Scene& scene) {
  const ParameterSpec& spec = *field.spec;
  BoundaryConditions& conditions = scene.boundary_conditions;
  switch (spec.quantity) {
  case Quantity::friction:
    scene.contact.friction_pairs.push_back({{spec.bodies[0], spec.bodies[1]}, values[0]});
    break;
  case Quantity::dirichlet_value:
    for (DirichletEntry& entry : conditions.dirichlet)
      if (!spec.boundary || acts_on(entry, *spec.boundary))
        set_prescribed(entry, spec, values, dim, scene.time);
    break;
  case Quantity::traction:
    for (TractionEntry& entry : conditions.neumann)
      if (!spec.boundary || acts_on(entry, *spec.boundary)) entry.value = constants(values);
    break;
  case Quantity::pressure:
    for (PressureEntry& entry : conditions.pressure)
      if (!spec.boundary || acts_on(entry, *spec.boundary)) {
        entry.per_time.clear();
        entry.value = Expression(values[0]);
      }
    break;
  default:
    break;
  }
}

template <int dim>
void apply_to_cells(const ParameterField<dim>& field, std::span<const double> values,
                    const mesh::DistributedMesh<dim>& mesh, CellOverrides& overrides) {
  const auto width = static_cast<std::size_t>(field.components);
  for (std::size_t i = 0; i < width; ++i) {
    const std::string& constant = info(field.spec->quantity).constant;
    auto& cells =
        overrides.of_cells(constant.empty() ? acceleration(static_cast<int>(i)) : constant, mesh.num_cells());
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      if (field.slot_of_cell[cell] < 0) continue;
      cells[cell] = 0;
      field.for_slots_of_cell(mesh, cell, [&](std::size_t slot, double weight) {
        cells[cell] += weight * values[slot * width + i];
      });
    }
  }
}

template <int dim>
void apply_to_shape(const ParameterField<dim>& field, std::span<const double> values,
                    mesh::DistributedMesh<dim>& mesh) {
  for (std::size_t i = 0; i < field.shape_modes.size(); ++i)
    mesh.vertices[i / (values.size() * dim)][static_cast<Eigen::Index>(i % dim)] +=
        field.shape_modes[i] * values[i / dim % values.size()];
  for (std::size_t vertex = 0; vertex < field.shape_weights.size(); ++vertex)
    for (const auto& [slot, weight] : field.shape_weights[vertex])
      for (int i = 0; i < dim; ++i)
        mesh.vertices[vertex][i] += weight * values[static_cast<std::size_t>(slot * dim + i)];
}

/// Gives the obstacles that move surface ids of their own, and these their motion.
template <int dim>
void apply_to_obstacles(const ParameterField<dim>& field, std::span<const double> values, Scene& scene,
                        mesh::DistributedObstacles<dim>& obstacles) {
  auto& motions = scene.boundary_conditions.obstacle_displacements;
  for (std::size_t k = 0; k < obstacles.names.size(); ++k) {
    if (field.slot_of_obstacle[k] < 0) continue;
    DirichletEntry entry;
    entry.where = field.spec->where.entry;
    entry.start_time = scene.time.t0;
    entry.value.resize(dim);
    if (const DirichletEntry* before =
            find_obstacle_motion(scene.boundary_conditions, obstacles.surface_ids[k]))
      entry.interpolation = before->interpolation;
    const auto own = static_cast<std::size_t>(field.slot_of_obstacle[k]) * dim;
    set_prescribed(entry, *field.spec, field.spec->per_step ? values : values.subspan(own, dim), dim,
                   scene.time);
    constexpr std::int32_t first_free_id = 1 << 30;
    obstacles.surface_ids[k] = first_free_id + static_cast<std::int32_t>(k);
    entry.ids = {obstacles.surface_ids[k]};
    motions.insert(motions.begin(), std::move(entry));
  }
}

/// Replaces the spins of the bodies that the parameter acts on; a body keeps the centre of the one it has.
template <int dim>
void apply_to_spins(const ParameterField<dim>& field, std::span<const double> values,
                    const std::vector<std::string>& bodies, Scene& scene) {
  auto& spins = scene.initial_conditions.angular_velocity;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    if (field.slot_of_body[k] < 0) continue;
    AngularVelocity spin;
    spin.region = {{}, {bodies[k]}, field.spec->where.entry};
    const auto own = values.subspan(static_cast<std::size_t>(field.slot_of_body[k] * field.components),
                                    static_cast<std::size_t>(field.components));
    spin.value.assign(own.begin(), own.end());
    const auto turns_it = [&](const AngularVelocity& before) {
      return before.region.bodies == spin.region.bodies;
    };
    for (const AngularVelocity& before : spins)
      if (turns_it(before)) spin.center = before.center;
    std::erase_if(spins, turns_it);
    spins.push_back(std::move(spin));
  }
}

} // namespace

std::vector<std::pair<std::size_t, double>> step_weights(const TimeSpec& time, double now) {
  if (time.kind == TimeKind::statics) return {{0, 1.0}};
  const double position = (now - time.t0) / time.dt;
  const auto before = static_cast<int>(std::floor(position + 1e-9));
  const double share = std::max(position - before, 0.0);
  std::vector<std::pair<std::size_t, double>> weights;
  if (before > 0) weights.emplace_back(before - 1, share > 1e-9 ? 1 - share : 1);
  if (share > 1e-9) weights.emplace_back(before, share);
  return weights;
}

template <int dim>
Variant<dim> make_variant(const Scene& scene, const DistributedGeometry<dim>& geometry,
                          const std::vector<ParameterField<dim>>& fields, const ParameterValues& values) {
  Variant<dim> variant;
  variant.scene = std::make_unique<Scene>(scene);
  DistributedGeometry<dim> shape = geometry;
  CellOverrides overrides;
  for (std::size_t k = 0; k < fields.size(); ++k) switch (info(fields[k].spec->quantity).group) {
    case QuantityGroup::material:
    case QuantityGroup::density:
    case QuantityGroup::damping:
      apply_to_cells(fields[k], values[k], shape.mesh, overrides);
      break;
    case QuantityGroup::shape:
      apply_to_shape(fields[k], values[k], shape.mesh);
      break;
    default:
      if (fields[k].spec->quantity == Quantity::obstacle_motion)
        apply_to_obstacles(fields[k], values[k], *variant.scene, shape.obstacles);
      else if (fields[k].spec->quantity == Quantity::initial_angular_velocity)
        apply_to_spins(fields[k], values[k], shape.mesh.body_names, *variant.scene);
      else if (fields[k].spec->quantity == Quantity::body_force)
        apply_to_cells(fields[k], values[k], shape.mesh, overrides);
      else
        apply_to_scene<dim>(fields[k], values[k], *variant.scene);
    }
  variant.discrete =
      std::make_unique<DiscreteScene<dim>>(*variant.scene, std::move(shape), std::move(overrides));
  const auto set_initial = [&](stepping::State& state) {
    for (std::size_t k = 0; k < fields.size(); ++k)
      apply_to_initial_state(fields[k], values[k], variant.discrete->space(), state);
  };
  variant.discrete->start(set_initial);
  return variant;
}

template Variant<2> make_variant(const Scene&, const DistributedGeometry<2>&,
                                 const std::vector<ParameterField<2>>&, const ParameterValues&);
template Variant<3> make_variant(const Scene&, const DistributedGeometry<3>&,
                                 const std::vector<ParameterField<3>>&, const ParameterValues&);

} // namespace recoil::app
